-- V5: confirmations.
ALTER TABLE memstore_facts ADD COLUMN confirmed_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memstore_facts ADD COLUMN last_confirmed_at TEXT;
