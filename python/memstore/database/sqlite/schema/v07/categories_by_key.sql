-- What used the categories as they are written, in a development build.
DROP INDEX idx_memstore_category;
CREATE INDEX idx_memstore_category ON memstore_facts (namespace, category_key,
    user_id, agent_id, run_id, id, superseded_by, deleted_at, expired_at);
DROP INDEX IF EXISTS idx_memstore_pinned;
DROP INDEX IF EXISTS idx_memstore_used;
DROP INDEX idx_memstore_expiring;
DROP TRIGGER memstore_facts_changed;
DROP TRIGGER memstore_facts_foreign_bi;
DROP TRIGGER memstore_facts_foreign_ai;
DROP VIEW memstore_foreign_facts;
DROP VIEW memstore_foreign_times;
DROP INDEX idx_memstore_foreign;
DROP TRIGGER memstore_facts_counted_ai;
DROP TRIGGER memstore_facts_counted_bd;
DROP TRIGGER memstore_facts_counted_bu;
DROP TRIGGER memstore_facts_counted_au;
DROP TRIGGER memstore_episodes_counted_ai;
DROP TRIGGER memstore_episodes_counted_bu;
DROP TRIGGER memstore_episodes_counted_au;
DROP VIEW memstore_count_changes;
DROP VIEW memstore_counts_read;
DROP VIEW memstore_facts_counted;
DROP VIEW memstore_episodes_counted;
DROP TABLE memstore_counts;
-- The indexes beside the database hold them, too; they are built anew.
DELETE FROM memstore_derived_files;
