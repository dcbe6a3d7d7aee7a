-- V4: when a fact was superseded.
ALTER TABLE memstore_facts ADD COLUMN superseded_at TEXT;
