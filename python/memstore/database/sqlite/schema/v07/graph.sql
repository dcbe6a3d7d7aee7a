-- A graph of entities and relations. It is derived from facts and may be dropped at any time, except
-- for people's decisions about entities.

-- One row for each build. A build is written in small transactions beside the current one, then made
-- current in one transaction, and later removed in small ones.
CREATE TABLE memstore_graphs (
    -- AUTOINCREMENT: ids must not be reused, because a discarded build may still be writing.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace    TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('building', 'current', 'discarded')),
    built_at     TEXT NOT NULL,
    -- The newest journal line that the build includes.
    operation_id INTEGER NOT NULL,
    facts        INTEGER NOT NULL,
    -- The language model used in addition to the rules, if any.
    model        TEXT
);
CREATE UNIQUE INDEX idx_memstore_graph_current
    ON memstore_graphs (namespace) WHERE state = 'current';
-- Every name that a fact mentions. The names of one entity share an entity_id, the smallest of their
-- ids. Relations refer to names, so that merging entities and undoing that changes only this table.
-- An id is graph_id * 2^32 + the name's place in the graph, so that the rows of one build are
-- adjacent. There are hundreds of thousands, so links are checked by the doctor, not by foreign keys.
CREATE TABLE memstore_entity_names (
    id        INTEGER PRIMARY KEY,
    graph_id  INTEGER AS (id >> 32) VIRTUAL,
    entity_id INTEGER NOT NULL,
    -- The name for comparisons, with case, width and spaces folded.
    key       TEXT NOT NULL,
    name      TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_entity_key ON memstore_entity_names (graph_id, key);
CREATE INDEX idx_memstore_entity_name ON memstore_entity_names (entity_id);
-- The facts that mention a name.
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
-- What a model extracted from a fact. A fact's text never changes, so the next build asks only about
-- new facts.
CREATE TABLE memstore_fact_readings (
    fact_id INTEGER NOT NULL REFERENCES memstore_facts(id),
    -- The model, and a hash of the prompt.
    reader  TEXT NOT NULL,
    -- JSON: [[source, label, target], …]
    triples TEXT NOT NULL,
    PRIMARY KEY (fact_id, reader)
) WITHOUT ROWID;
-- People's decisions about which two names are one entity, and which are not. Every build follows
-- them.
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
