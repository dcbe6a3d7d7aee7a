-- How an episode was read and what the model answered, so that facts can be derived from the log
-- again without asking the model again.
CREATE TABLE memstore_readings (
    id         INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    -- 'closed': a fact of this episode was erased, and nothing may be derived from it again.
    -- 'unlearnt': a conversation that was recorded, and that nothing was learnt from yet.
    kind       TEXT NOT NULL CHECK (kind IN ('extract', 'memory', 'closed', 'unlearnt')),
    -- JSON: together with the episode, everything that the prompts are made from.
    asked      TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_reading ON memstore_readings (episode_id, kind, asked);
CREATE INDEX idx_memstore_unlearnt ON memstore_readings (episode_id) WHERE kind = 'unlearnt';
CREATE TABLE memstore_replies (
    id         INTEGER PRIMARY KEY,
    -- The episode whose words the reply repeats: it is deleted with them. Episodes share no reply,
    -- for the same reason.
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    -- SHA-256 of the model, the prompt and the schema.
    key        TEXT NOT NULL,
    model      TEXT NOT NULL,
    -- JSON in ASCII, as we write it, so that a text can be searched for in it.
    reply      TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_reply ON memstore_replies (episode_id, key);
