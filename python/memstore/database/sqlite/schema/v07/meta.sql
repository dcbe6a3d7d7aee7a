-- The schema version and other settings of the file. Files of the original memstore may already have
-- these tables.
CREATE TABLE IF NOT EXISTS memstore_version (version INTEGER NOT NULL);
CREATE TABLE memstore_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
