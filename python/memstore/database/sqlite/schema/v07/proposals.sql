-- Proposals for a person to decide: supersessions without proof, and consolidations (one text that
-- replaces several facts).
CREATE TABLE memstore_proposals (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    -- For a consolidation, the first of its sources.
    old_id     INTEGER NOT NULL REFERENCES memstore_facts(id),
    -- NULL while a consolidation is open: its text becomes a fact when it is accepted.
    new_id     INTEGER REFERENCES memstore_facts(id),
    similarity REAL,
    evidence   TEXT,
    state      TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected')),
    decided_at TEXT,
    -- For a consolidation: the ids of the facts it replaces, as a sorted JSON array; and its text,
    -- which is blanked when it is accepted or one of the facts is erased.
    sources    TEXT,
    content    TEXT,
    CHECK ((sources IS NULL) = (content IS NULL)),
    CHECK (sources IS NOT NULL OR (new_id IS NOT NULL AND similarity IS NOT NULL))
);
-- A pair is proposed only once. The index also finds the proposals about an older fact.
CREATE UNIQUE INDEX idx_memstore_proposal_pair ON memstore_proposals (old_id, new_id);
CREATE INDEX idx_memstore_proposal_new ON memstore_proposals (new_id);
-- A consolidation of the same facts is proposed only once, too.
CREATE UNIQUE INDEX idx_memstore_proposal_sources ON memstore_proposals (sources)
    WHERE sources IS NOT NULL;
-- Only open proposals are listed; decided ones are read by id.
CREATE INDEX idx_memstore_proposal_open ON memstore_proposals (id) WHERE state = 'open';
