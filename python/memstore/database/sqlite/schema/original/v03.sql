-- V3: namespaces.
ALTER TABLE memstore_facts ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
CREATE INDEX idx_memstore_namespace ON memstore_facts (namespace);
