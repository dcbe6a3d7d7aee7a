-- The members of the facts' metadata, by which filters find facts. The metadata is the truth.
CREATE TABLE memstore_fact_members (
    key     TEXT NOT NULL,
    -- The kind of value, because a comparison never mixes kinds: 'text', 'number', 'truth', 'null',
    -- or 'other' for an array or an object.
    kind    TEXT NOT NULL,
    -- As it is compared, without a type of the column's own; empty for 'null' and 'other'.
    value   NOT NULL,
    fact_id INTEGER NOT NULL,
    PRIMARY KEY (key, kind, value, fact_id)
) WITHOUT ROWID;
-- What the table should hold. A row of another program may hold anything: what is not a JSON object
-- has no members.
CREATE VIEW memstore_fact_members_read (key, kind, value, fact_id) AS
SELECT member.key,
    CASE WHEN member.type IN ('text', 'null') THEN member.type
         WHEN member.type IN ('integer', 'real') THEN 'number'
         WHEN member.type IN ('true', 'false') THEN 'truth' ELSE 'other' END,
    coalesce(member.atom, ''), f.id
FROM memstore_facts f
    JOIN json_each(CASE WHEN json_valid(f.metadata) THEN f.metadata ELSE '{}' END) AS member
WHERE typeof(member.key) = 'text';
-- The original's facts are there already. OR IGNORE: JSON may hold a key twice.
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
