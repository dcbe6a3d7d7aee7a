-- Which facts replace an older one on their subject, or may: what the judge says of their texts, which
-- never change. Derived from the facts; pairs of which it says nothing have no row.
CREATE TABLE memstore_newer (
    older  INTEGER NOT NULL,
    newer  INTEGER NOT NULL,
    -- 1 if the words prove that the newer one replaces the older one; 0 if a person would be asked.
    proves INTEGER NOT NULL,
    PRIMARY KEY (older, newer)
) WITHOUT ROWID;
CREATE INDEX idx_memstore_newer ON memstore_newer (newer);
-- How far the facts have been compared; one row, or none before the first time.
CREATE TABLE memstore_compared (
    -- The facts up to this id, as they were at this position of the feed.
    last_id  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    -- The version of the rules that they were compared by.
    rules    INTEGER NOT NULL,
    -- 1 if later facts wait that the feed does not tell after that position.
    is_begun INTEGER NOT NULL
);
