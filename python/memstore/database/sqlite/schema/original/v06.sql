-- V6: use counts.
ALTER TABLE memstore_facts ADD COLUMN use_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memstore_facts ADD COLUMN last_used_at TEXT;
