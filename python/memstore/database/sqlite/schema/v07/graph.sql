-- A graph of entities and relations. It is derived from facts and may be dropped at any time, except
-- for what people decided about entities.

-- One row for each build, and what it was made from. A build is written in small transactions beside
-- the current one, becomes current in another one, and is later removed in small ones.
CREATE TABLE memstore_graphs (
    -- AUTOINCREMENT: a build that was given up may still be writing, and its id must not be reused.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace    TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('building', 'current', 'discarded')),
    built_at     TEXT NOT NULL,
    -- The newest line of the journal that the build takes into account.
    operation_id INTEGER NOT NULL,
    facts        INTEGER NOT NULL,
    -- The model that read the facts beside the rules, if one did.
    model        TEXT
);
CREATE UNIQUE INDEX idx_memstore_graph_current
    ON memstore_graphs (namespace) WHERE state = 'current';
-- Every name that a fact gives. The names of one entity share an entity_id, the smallest of their
-- ids. Relations refer to names, so that a merge and its undoing change nothing else.
-- An id is graph_id * 2^32 + the name's place in the graph, so that the rows of one build lie
-- together. There are hundreds of thousands, so the doctor checks the links, not a foreign key.
CREATE TABLE memstore_entity_names (
    id        INTEGER PRIMARY KEY,
    graph_id  INTEGER AS (id >> 32) VIRTUAL,
    entity_id INTEGER NOT NULL,
    -- The name as it is compared: case, width and spaces folded.
    key       TEXT NOT NULL,
    name      TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_entity_key ON memstore_entity_names (graph_id, key);
CREATE INDEX idx_memstore_entity_name ON memstore_entity_names (entity_id);
-- Which facts give a name.
CREATE TABLE memstore_mentions (
    name_id INTEGER NOT NULL,
    fact_id INTEGER NOT NULL,
    PRIMARY KEY (name_id, fact_id)
) WITHOUT ROWID;
CREATE TABLE memstore_relations (
    source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    fact_id   INTEGER NOT NULL,
    label     TEXT NOT NULL,
    PRIMARY KEY (source_id, target_id, fact_id, label)
) WITHOUT ROWID;
CREATE INDEX idx_memstore_relation_back ON memstore_relations (target_id, source_id);
-- What a model read in a fact. A fact's text never changes, so the next build asks only about new
-- facts.
CREATE TABLE memstore_fact_readings (
    fact_id INTEGER NOT NULL REFERENCES memstore_facts(id),
    -- The model, and a hash of how it was asked.
    reader  TEXT NOT NULL,
    -- JSON: [[source, label, target], …]
    triples TEXT NOT NULL,
    PRIMARY KEY (fact_id, reader)
) WITHOUT ROWID;
-- Which two names are one entity, and which are not. People decide that; every build keeps to it.
CREATE TABLE memstore_entity_decisions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace  TEXT NOT NULL,
    left_key   TEXT NOT NULL,
    right_key  TEXT NOT NULL,
    same       INTEGER NOT NULL CHECK (same IN (0, 1)),
    left_name  TEXT NOT NULL,
    right_name TEXT NOT NULL,
    actor      TEXT NOT NULL,
    at         TEXT NOT NULL,
    CHECK (left_key < right_key)
);
CREATE UNIQUE INDEX idx_memstore_entity_decision
    ON memstore_entity_decisions (namespace, left_key, right_key);
CREATE INDEX idx_memstore_entity_decision_right ON memstore_entity_decisions (namespace, right_key);
