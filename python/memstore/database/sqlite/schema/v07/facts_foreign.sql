-- Facts that other programs insert, with the columns of the original memstore: what they leave out
-- is filled here, as far as SQL can. They are known by their missing claim_hash, which each insertion
-- of ours has. The next write of ours journals them and completes the rest (facts/adoption.py).
CREATE INDEX idx_memstore_foreign ON memstore_facts (id) WHERE claim_hash IS NULL AND content <> '';
-- Their times in the form of ours, in which text order is time order; NULL for what is not a time.
CREATE VIEW memstore_foreign_times (fact_id, name, moment) AS
SELECT id, name, CASE
    WHEN strftime('%Y-%m-%dT%H:%M:%S', given) = substr(given, 1, 19) AND length(given) = 27
        AND substr(given, 20) GLOB '.[0-9][0-9][0-9][0-9][0-9][0-9]Z' THEN given
    -- Not a time of day or a number, which strftime() takes, too; years as Python has them.
    WHEN given GLOB '[0-9][0-9][0-9][0-9]-*' AND strftime('%Y', given) BETWEEN '0001' AND '9999'
        AND length(strftime('%Y', given)) = 4 THEN strftime('%Y-%m-%dT%H:%M:%f000Z', given)
    END
FROM (
    SELECT id, 'created_at' AS name, created_at AS given FROM memstore_facts
    UNION ALL SELECT id, 'superseded_at', superseded_at FROM memstore_facts
    UNION ALL SELECT id, 'last_confirmed_at', last_confirmed_at FROM memstore_facts
    UNION ALL SELECT id, 'last_used_at', last_used_at FROM memstore_facts
);
-- Without a text, there is nothing to remember. Upgraded files may have such facts, even without a
-- subject, and imports bring these: with times in our form.
CREATE TRIGGER memstore_facts_foreign_bi BEFORE INSERT ON memstore_facts
WHEN typeof(new.content) = 'blob' OR (new.content = '' AND new.subject_key = '' AND (
    new.subject <> '' OR new.created_at NOT GLOB '????-??-??T??:??:??.??????Z'
    OR new.superseded_at NOT GLOB '????-??-??T??:??:??.??????Z'
    OR new.last_confirmed_at NOT GLOB '????-??-??T??:??:??.??????Z'
    OR new.last_used_at NOT GLOB '????-??-??T??:??:??.??????Z')) BEGIN
    SELECT RAISE(ABORT, 'a fact needs a text');
END;
-- What a row of another program changes. In a trigger of its own, because SQLite sets up the whole
-- body of a trigger before it tests the condition, which would slow down every insertion.
CREATE VIEW memstore_foreign_facts (id) AS
SELECT id FROM memstore_facts WHERE claim_hash IS NULL AND content <> '';
-- Counting comes first, because the change that follows is counted as one (counts.sql).
CREATE TRIGGER memstore_foreign_facts_ii INSTEAD OF INSERT ON memstore_foreign_facts BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, 1 FROM memstore_facts_counted
    WHERE fact_id = new.id;
    UPDATE memstore_facts SET
        subject_key = CASE subject_key WHEN '' THEN lower(trim(subject)) ELSE subject_key END,
        category_key = CASE category_key WHEN '' THEN lower(trim(category)) ELSE category_key END,
        -- As in an upgrade: the original's default namespace has no name.
        namespace = CASE namespace WHEN '' THEN 'default' ELSE namespace END,
        created_at = coalesce(
            (SELECT moment FROM memstore_foreign_times WHERE fact_id = new.id AND name = 'created_at'),
            strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
        superseded_at =
            (SELECT moment FROM memstore_foreign_times WHERE fact_id = new.id AND name = 'superseded_at'),
        last_confirmed_at = (SELECT moment FROM memstore_foreign_times
            WHERE fact_id = new.id AND name = 'last_confirmed_at'),
        last_used_at =
            (SELECT moment FROM memstore_foreign_times WHERE fact_id = new.id AND name = 'last_used_at')
    WHERE id = new.id;
    INSERT OR IGNORE INTO memstore_fact_vectors (generation_id, fact_id)
    SELECT id, new.id FROM memstore_generations;
END;
CREATE TRIGGER memstore_facts_foreign_ai AFTER INSERT ON memstore_facts
WHEN new.claim_hash IS NULL AND new.content <> '' BEGIN
    INSERT INTO memstore_foreign_facts VALUES (new.id);
END;
-- An earlier build of ours completes what it inserts, but knows no key of the category.
CREATE VIEW memstore_unkeyed_facts (id) AS
SELECT id FROM memstore_facts WHERE claim_hash IS NOT NULL AND category_key = '' AND content <> '';
CREATE TRIGGER memstore_unkeyed_facts_ii INSTEAD OF INSERT ON memstore_unkeyed_facts BEGIN
    INSERT INTO memstore_count_changes
    SELECT namespace, kind, user_id, agent_id, run_id, key, 1 FROM memstore_facts_counted
    WHERE fact_id = new.id;
    UPDATE memstore_facts SET category_key = lower(trim(category)) WHERE id = new.id;
END;
CREATE TRIGGER memstore_facts_unkeyed_ai AFTER INSERT ON memstore_facts
WHEN new.claim_hash IS NOT NULL AND new.category_key = '' AND new.content <> '' BEGIN
    INSERT INTO memstore_unkeyed_facts VALUES (new.id);
END;
