-- V2: what the store knows of itself, first of all the embedding model and its dimension.
CREATE TABLE IF NOT EXISTS memstore_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
