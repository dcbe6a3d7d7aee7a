-- An index of the facts' metadata for filters, derived from the column `metadata`.
CREATE TABLE memstore_fact_members (
    key     TEXT NOT NULL,
    -- The kind of value, because a comparison never mixes kinds: 'text', 'number', 'truth', 'null',
    -- or 'other' for an array or an object.
    kind    TEXT NOT NULL,
    -- The value to compare, in a column without type affinity; empty for 'null' and 'other'.
    value   NOT NULL,
    fact_id INTEGER NOT NULL,
    PRIMARY KEY (key, kind, value, fact_id)
) WITHOUT ROWID;
-- The rows that the table should hold. Other programs may have stored metadata that is not a JSON
-- object; it has no members.
CREATE VIEW memstore_fact_members_read (key, kind, value, fact_id) AS
SELECT member.key,
    CASE WHEN member.type IN ('text', 'null') THEN member.type
         WHEN member.type IN ('integer', 'real') THEN 'number'
         WHEN member.type IN ('true', 'false') THEN 'truth' ELSE 'other' END,
    coalesce(member.atom, ''), f.id
FROM memstore_facts f
    JOIN json_each(CASE WHEN json_valid(f.metadata) THEN f.metadata ELSE '{}' END) AS member
WHERE typeof(member.key) = 'text';
-- In an upgrade, the original's facts already exist. OR IGNORE: JSON may contain a key twice.
INSERT OR IGNORE INTO memstore_fact_members SELECT * FROM memstore_fact_members_read;
CREATE TRIGGER memstore_fact_members_ai AFTER INSERT ON memstore_facts
WHEN new.metadata IS NOT NULL BEGIN
    INSERT OR IGNORE INTO memstore_fact_members
    SELECT * FROM memstore_fact_members_read WHERE fact_id = new.id;
END;
CREATE TRIGGER memstore_fact_members_bd BEFORE DELETE ON memstore_facts
WHEN old.metadata IS NOT NULL BEGIN
    DELETE FROM memstore_fact_members WHERE (key, kind, value, fact_id) IN
        (SELECT * FROM memstore_fact_members_read WHERE fact_id = old.id);
END;
CREATE TRIGGER memstore_fact_members_bu BEFORE UPDATE OF metadata ON memstore_facts
WHEN old.metadata IS NOT NULL BEGIN
    DELETE FROM memstore_fact_members WHERE (key, kind, value, fact_id) IN
        (SELECT * FROM memstore_fact_members_read WHERE fact_id = old.id);
END;
CREATE TRIGGER memstore_fact_members_au AFTER UPDATE OF metadata ON memstore_facts
WHEN new.metadata IS NOT NULL BEGIN
    INSERT OR IGNORE INTO memstore_fact_members
    SELECT * FROM memstore_fact_members_read WHERE fact_id = new.id;
END;
