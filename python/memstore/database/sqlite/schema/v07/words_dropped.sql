-- The full-text indexes of a development build, before facts_words.sql and episodes_words.sql.
DROP TRIGGER IF EXISTS memstore_facts_ai;
DROP TRIGGER IF EXISTS memstore_facts_ad;
DROP TRIGGER IF EXISTS memstore_facts_au;
DROP TRIGGER IF EXISTS memstore_episodes_ai;
DROP TRIGGER IF EXISTS memstore_episodes_au;
DROP TABLE IF EXISTS memstore_facts_fts;
DROP TABLE IF EXISTS memstore_episodes_fts;
DROP VIEW IF EXISTS memstore_facts_words;
DROP VIEW IF EXISTS memstore_episodes_words;
