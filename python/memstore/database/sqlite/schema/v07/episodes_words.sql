-- The full-text index of episodes; what was erased is not in it.
CREATE VIEW memstore_episodes_words (id, content, name, source_description, segments) AS
SELECT id, content, name, source_description, segments
FROM memstore_episodes WHERE content_hash <> '';
CREATE VIRTUAL TABLE memstore_episodes_fts USING fts5(
    content, name, source_description, segments,
    content='memstore_episodes_words', content_rowid='id',
    tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO memstore_episodes_fts (memstore_episodes_fts) VALUES ('rebuild');
CREATE TRIGGER memstore_episodes_ai AFTER INSERT ON memstore_episodes BEGIN
    INSERT INTO memstore_episodes_fts (rowid, content, name, source_description, segments)
    SELECT new.id, new.content, new.name, new.source_description, new.segments
    WHERE new.content_hash <> '';
    INSERT INTO memstore_episode_tags (tag, episode_id)
    SELECT DISTINCT value, new.id FROM json_each(new.tags);
END;
-- Only erasing changes an indexed column.
CREATE TRIGGER memstore_episodes_au
AFTER UPDATE OF content, name, source_description, segments, content_hash ON memstore_episodes BEGIN
    INSERT INTO memstore_episodes_fts
        (memstore_episodes_fts, rowid, content, name, source_description, segments)
    SELECT 'delete', old.id, old.content, old.name, old.source_description, old.segments
    WHERE old.content_hash <> '';
    INSERT INTO memstore_episodes_fts (rowid, content, name, source_description, segments)
    SELECT new.id, new.content, new.name, new.source_description, new.segments
    WHERE new.content_hash <> '';
END;
