-- How a model read an episode and what it answered, so that facts can be extracted again without
-- asking the model.
CREATE TABLE memstore_readings (
    id         INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    -- 'closed': a fact of this episode was erased, so facts must not be extracted from it again.
    -- 'unlearnt': a conversation was recorded, but nothing was learnt from it yet; if `asked` has
    -- options, a text from which no facts were extracted yet.
    kind       TEXT NOT NULL CHECK (kind IN ('extract', 'memory', 'closed', 'unlearnt')),
    -- JSON: together with the episode, everything that determines the prompts.
    asked      TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_reading ON memstore_readings (episode_id, kind, asked);
CREATE INDEX idx_memstore_unlearnt ON memstore_readings (episode_id) WHERE kind = 'unlearnt';
CREATE TABLE memstore_replies (
    id         INTEGER PRIMARY KEY,
    -- The episode that the reply quotes. The reply is deleted with it, so episodes share no replies.
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    -- SHA-256 of the model, the prompt and the schema.
    key        TEXT NOT NULL,
    model      TEXT NOT NULL,
    -- JSON in ASCII, written in one form, so that texts can be searched for in it.
    reply      TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_reply ON memstore_replies (episode_id, key);
