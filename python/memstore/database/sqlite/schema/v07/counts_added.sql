-- Counts a new fact. Its counts grow, so none has to be removed: one statement, and not three for each.
DROP TRIGGER IF EXISTS memstore_facts_counted_ai; -- of a development build
-- Those of other programs are counted by other triggers (facts_foreign.sql).
CREATE TRIGGER memstore_facts_counted_added AFTER INSERT ON memstore_facts
WHEN (new.claim_hash IS NOT NULL AND new.category_key <> '') OR new.content = '' BEGIN
    -- As in memstore_facts_counted, but without reading the row five times.
    INSERT INTO memstore_counts
    SELECT new.namespace, counted.kind, coalesce(new.user_id, ''), coalesce(new.agent_id, ''),
        coalesce(new.run_id, ''), counted.key, 1
    FROM (
        SELECT 'fact' AS kind, '' AS key
        UNION ALL SELECT 'fact_quarter', substr(new.created_at, 1, 14) || CASE
            WHEN substr(new.created_at, 15, 2) < '15' THEN '00'
            WHEN substr(new.created_at, 15, 2) < '30' THEN '15'
            WHEN substr(new.created_at, 15, 2) < '45' THEN '30' ELSE '45' END
        UNION ALL SELECT 'deleted', '' WHERE new.deleted_at IS NOT NULL
        UNION ALL SELECT 'subject', new.subject_key
            WHERE new.superseded_by IS NULL AND new.deleted_at IS NULL
        UNION ALL SELECT 'category', new.category_key
            WHERE new.superseded_by IS NULL AND new.deleted_at IS NULL
    ) AS counted
    WHERE TRUE -- or the ON below would be read as a join's
    ON CONFLICT (namespace, kind, user_id, agent_id, run_id, key) DO UPDATE SET number = number + 1;
END;
