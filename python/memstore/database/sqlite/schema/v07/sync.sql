-- The devices that share their memories with this file through a place, itself among them.
CREATE TABLE memstore_devices (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    device   TEXT NOT NULL UNIQUE,
    name     TEXT NOT NULL,
    -- 'here' is this file, 'former' an id that it had, 'dismissed' one that a person gave up.
    state    TEXT NOT NULL CHECK (state IN ('here', 'former', 'other', 'dismissed')),
    -- Its lines after the first number, up to the second, are known here; the hash of the last one.
    begins   INTEGER NOT NULL,
    known    INTEGER NOT NULL,
    hash     TEXT NOT NULL,
    -- What it said last, as JSON.
    said     TEXT NOT NULL
);
-- What lines of the journal come from: another device's line, or what follows from the lines of all.
CREATE TABLE memstore_taken (
    line     INTEGER PRIMARY KEY,
    -- The device; 0 for this file, and NULL for what follows.
    device   INTEGER,
    -- The line there, and the first one of its act.
    position INTEGER NOT NULL,
    act      INTEGER NOT NULL,
    -- The moment, in microseconds, by which changes of one thing are ordered.
    rank     INTEGER NOT NULL,
    -- What it said where the line does not, as JSON; blanked when the fact or episode is erased.
    value    TEXT
);
CREATE INDEX idx_memstore_taken ON memstore_taken (device, position);
