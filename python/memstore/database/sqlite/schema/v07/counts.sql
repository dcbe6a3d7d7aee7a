-- How many facts and episodes there are, so that a status reads no rows. Triggers keep the counts, so
-- rows that other programs write count too.
CREATE TABLE memstore_counts (
    namespace TEXT NOT NULL,
    -- What is counted: facts and episodes in any state ('fact' and 'episode'), and by the quarter of
    -- an hour in which they were stored ('fact_quarter' and 'episode_quarter'), of which the days of
    -- every time zone consist; deleted facts; and facts that are neither superseded nor deleted by
    -- 'subject' and by 'category'.
    kind      TEXT NOT NULL,
    -- Empty means "not set".
    user_id   TEXT NOT NULL,
    agent_id  TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    -- The quarter, such as 2026-11-20T20:45, or the key of the subject or the category; else empty.
    key       TEXT NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (namespace, kind, user_id, agent_id, run_id, key)
) WITHOUT ROWID;
-- The same key of several owners. Only the first fact of a key and the last one change it.
CREATE INDEX idx_memstore_count_key ON memstore_counts (namespace, kind, key);
-- Facts that expire: how many of them have expired depends on the time.
CREATE INDEX idx_memstore_expiring ON memstore_facts
    (namespace, user_id, agent_id, run_id, expired_at, subject_key, category_key)
    WHERE expired_at IS NOT NULL AND superseded_by IS NULL AND deleted_at IS NULL;

-- What each row counts as; the sums are the rows that the table should hold.
CREATE VIEW memstore_facts_counted (namespace, kind, user_id, agent_id, run_id, key, fact_id) AS
SELECT namespace, 'fact', coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(run_id, ''),
    '', id
FROM memstore_facts
UNION ALL
SELECT namespace, 'fact_quarter', coalesce(user_id, ''), coalesce(agent_id, ''),
    coalesce(run_id, ''), substr(created_at, 1, 14) || CASE
        WHEN substr(created_at, 15, 2) < '15' THEN '00'
        WHEN substr(created_at, 15, 2) < '30' THEN '15'
        WHEN substr(created_at, 15, 2) < '45' THEN '30' ELSE '45' END, id
FROM memstore_facts
UNION ALL
SELECT namespace, 'deleted', coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(run_id, ''),
    '', id
FROM memstore_facts WHERE deleted_at IS NOT NULL
UNION ALL
SELECT namespace, 'subject', coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(run_id, ''),
    subject_key, id
FROM memstore_facts WHERE superseded_by IS NULL AND deleted_at IS NULL
UNION ALL
SELECT namespace, 'category', coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(run_id, ''),
    category_key, id
FROM memstore_facts WHERE superseded_by IS NULL AND deleted_at IS NULL;
CREATE VIEW memstore_episodes_counted (namespace, kind, user_id, agent_id, run_id, key, episode_id) AS
SELECT namespace, 'episode', coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(run_id, ''),
    '', id
FROM memstore_episodes WHERE content_hash <> ''
UNION ALL
SELECT namespace, 'episode_quarter', coalesce(user_id, ''), coalesce(agent_id, ''),
    coalesce(run_id, ''), substr(created_at, 1, 14) || CASE
        WHEN substr(created_at, 15, 2) < '15' THEN '00'
        WHEN substr(created_at, 15, 2) < '30' THEN '15'
        WHEN substr(created_at, 15, 2) < '45' THEN '30' ELSE '45' END, id
FROM memstore_episodes WHERE content_hash <> '';
CREATE VIEW memstore_counts_read (namespace, kind, user_id, agent_id, run_id, key, number) AS
SELECT namespace, kind, user_id, agent_id, run_id, key, count(*) FROM (
    SELECT namespace, kind, user_id, agent_id, run_id, key FROM memstore_facts_counted
    UNION ALL
    SELECT namespace, kind, user_id, agent_id, run_id, key FROM memstore_episodes_counted
) GROUP BY namespace, kind, user_id, agent_id, run_id, key;

-- Takes a change of one count. One of zero is removed, so that no name of erased facts stays.
CREATE VIEW memstore_count_changes AS SELECT * FROM memstore_counts;
CREATE TRIGGER memstore_counts_change INSTEAD OF INSERT ON memstore_count_changes BEGIN
    UPDATE memstore_counts SET number = number + new.number
    WHERE namespace = new.namespace AND kind = new.kind AND user_id = new.user_id
        AND agent_id = new.agent_id AND run_id = new.run_id AND key = new.key;
    INSERT INTO memstore_counts
    SELECT new.namespace, new.kind, new.user_id, new.agent_id, new.run_id, new.key, new.number
    WHERE changes() = 0;
    DELETE FROM memstore_counts
    WHERE new.number < 0 AND number = 0 AND namespace = new.namespace AND kind = new.kind
        AND user_id = new.user_id AND agent_id = new.agent_id AND run_id = new.run_id
        AND key = new.key;
END;
CREATE TRIGGER memstore_facts_counted_bd BEFORE DELETE ON memstore_facts BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, -1 FROM memstore_facts_counted
    WHERE fact_id = old.id;
END;
CREATE TRIGGER memstore_facts_counted_bu BEFORE UPDATE OF id, namespace, user_id, agent_id, run_id,
    subject_key, category_key, superseded_by, deleted_at, created_at ON memstore_facts BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, -1 FROM memstore_facts_counted
    WHERE fact_id = old.id;
END;
CREATE TRIGGER memstore_facts_counted_au AFTER UPDATE OF id, namespace, user_id, agent_id, run_id,
    subject_key, category_key, superseded_by, deleted_at, created_at ON memstore_facts BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, 1 FROM memstore_facts_counted
    WHERE fact_id = new.id;
END;
-- Episodes are append-only; only erasing one changes the counts.
CREATE TRIGGER memstore_episodes_counted_ai AFTER INSERT ON memstore_episodes BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, 1 FROM memstore_episodes_counted
    WHERE episode_id = new.id;
END;
CREATE TRIGGER memstore_episodes_counted_bu BEFORE UPDATE OF content_hash, user_id, agent_id, run_id
ON memstore_episodes BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, -1 FROM memstore_episodes_counted
    WHERE episode_id = old.id;
END;
CREATE TRIGGER memstore_episodes_counted_au AFTER UPDATE OF content_hash, user_id, agent_id, run_id
ON memstore_episodes BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, 1 FROM memstore_episodes_counted
    WHERE episode_id = new.id;
END;
INSERT INTO memstore_counts SELECT * FROM memstore_counts_read;
