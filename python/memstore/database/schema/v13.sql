-- V13: deriving again. How an episode was read and what the model answered are kept, so that facts
-- can be drawn from the log anew without asking it; and a derived fact says how it came to be.
CREATE TABLE memstore_readings (
    id         INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    -- 'closed': a fact of it was erased, and nothing is to be drawn from it again.
    kind       TEXT NOT NULL CHECK (kind IN ('extract', 'memory', 'closed')),
    -- JSON: with the episode all that the prompts follow from.
    asked      TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_reading ON memstore_readings (episode_id, kind, asked);
CREATE TABLE memstore_replies (
    id         INTEGER PRIMARY KEY,
    -- Whose words are in it: deleted with them. Episodes share no reply, for the same reason.
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    -- SHA-256 of the model, the prompt and the schema.
    key        TEXT NOT NULL,
    model      TEXT NOT NULL,
    -- JSON in ASCII as we write it, so that a text in it can be looked for.
    reply      TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_reply ON memstore_replies (episode_id, key);
-- 'extract', 'memory' or 'consolidate'; empty for what somebody stored by hand.
ALTER TABLE memstore_facts ADD COLUMN derivation TEXT;

-- A consolidation is a proposal too: several facts, and one text that says what they say. It is no
-- fact before it is accepted, so `new_id` may be empty.
CREATE TABLE memstore_proposals_v13 (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    -- Of a consolidation the first of its sources.
    old_id     INTEGER NOT NULL REFERENCES memstore_facts(id),
    new_id     INTEGER REFERENCES memstore_facts(id),
    similarity REAL,
    evidence   TEXT,
    state      TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected')),
    decided_at TEXT,
    -- Of a consolidation: the ids of the facts it sums up, a JSON array in order; and its text,
    -- which is blanked once a fact holds it, or one of the facts was erased.
    sources    TEXT,
    content    TEXT,
    CHECK ((sources IS NULL) = (content IS NULL)),
    CHECK (sources IS NOT NULL OR (new_id IS NOT NULL AND similarity IS NOT NULL))
);
INSERT INTO memstore_proposals_v13
    (id, at, old_id, new_id, similarity, evidence, state, decided_at)
SELECT id, at, old_id, new_id, similarity, evidence, state, decided_at
FROM memstore_proposals ORDER BY id;
DROP TABLE memstore_proposals;
ALTER TABLE memstore_proposals_v13 RENAME TO memstore_proposals;
-- One pair is put forward once; and what is known of a fact is found from its older side.
CREATE UNIQUE INDEX idx_memstore_proposal_pair ON memstore_proposals (old_id, new_id);
CREATE INDEX idx_memstore_proposal_new ON memstore_proposals (new_id);
-- So are the same facts to be consolidated.
CREATE UNIQUE INDEX idx_memstore_proposal_sources ON memstore_proposals (sources)
    WHERE sources IS NOT NULL;
-- Decided ones are read by id only; the open ones are the list.
CREATE INDEX idx_memstore_proposal_open ON memstore_proposals (id) WHERE state = 'open';
