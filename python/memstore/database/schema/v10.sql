-- V10: episodes (what was said, word for word), proposals, and the evidence behind a change.
CREATE TABLE memstore_episodes (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid         TEXT NOT NULL,
    namespace    TEXT NOT NULL,
    content      TEXT NOT NULL,
    source       TEXT,
    name         TEXT,
    metadata     TEXT,
    valid_at     TEXT,
    created_at   TEXT NOT NULL,
    user_id      TEXT,
    agent_id     TEXT,
    run_id       TEXT,
    -- SHA-256 of the content, so that a text recorded again is found without reading any.
    content_hash TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_episode_uuid ON memstore_episodes (namespace, uuid);
-- Not unique: the same words said twice are two episodes where the caller says so.
CREATE INDEX idx_memstore_episode_hash ON memstore_episodes (namespace, content_hash);
-- Append-only. Erasing blanks the text and what describes it; the place itself stays.
CREATE TRIGGER memstore_episodes_keep BEFORE DELETE ON memstore_episodes BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
CREATE TRIGGER memstore_episodes_fixed
BEFORE UPDATE OF id, uuid, namespace, content, source, created_at, content_hash
ON memstore_episodes WHEN new.content <> '' OR new.source IS NOT NULL
    OR (new.id, new.uuid, new.namespace, new.created_at)
        IS NOT (old.id, old.uuid, old.namespace, old.created_at)
BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;

CREATE TABLE memstore_proposals (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    old_id     INTEGER NOT NULL REFERENCES memstore_facts(id),
    new_id     INTEGER NOT NULL REFERENCES memstore_facts(id),
    similarity REAL NOT NULL,
    evidence   TEXT,
    state      TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected')),
    decided_at TEXT
);
-- One pair is put forward once; and what is known of a fact is found from its older side.
CREATE UNIQUE INDEX idx_memstore_proposal_pair ON memstore_proposals (old_id, new_id);
CREATE INDEX idx_memstore_proposal_new ON memstore_proposals (new_id);
-- Decided ones are read by id only; the open ones are the list.
CREATE INDEX idx_memstore_proposal_open ON memstore_proposals (id) WHERE state = 'open';

-- Why a change was made by itself: a column of its own, so that replaying `after` stays plain.
ALTER TABLE memstore_journal ADD COLUMN evidence TEXT;
CREATE INDEX idx_memstore_journal_episode ON memstore_journal (episode_id)
    WHERE episode_id IS NOT NULL;

-- What belongs to one user. Partial, so that facts without owners cost nothing here; an agent's
-- or a run's own facts are found through the index of the active ones.
CREATE INDEX idx_memstore_user ON memstore_facts (namespace, user_id, agent_id, run_id, id)
    WHERE user_id IS NOT NULL;
-- The facts drawn from one episode.
CREATE INDEX idx_memstore_fact_episode ON memstore_facts (episode_id)
    WHERE episode_id IS NOT NULL;
