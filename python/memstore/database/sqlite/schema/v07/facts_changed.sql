-- What changes a fact in the indexes, into their feed (changes.sql).
-- Use counts are left out, because searches do not need them; a confirmation makes a fact fresh.
CREATE TRIGGER memstore_facts_changed AFTER UPDATE OF content, subject, category, segments, namespace,
    user_id, agent_id, run_id, superseded_by, deleted_at, expired_at, subject_key, category_key,
    thread, seq, valid_at, created_at, last_confirmed_at ON memstore_facts BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (new.id);
END;
