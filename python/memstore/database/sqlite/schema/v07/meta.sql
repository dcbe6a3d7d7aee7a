-- What the file knows of itself. A file of the original memstore has these tables already.
CREATE TABLE IF NOT EXISTS memstore_version (version INTEGER NOT NULL);
CREATE TABLE memstore_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
