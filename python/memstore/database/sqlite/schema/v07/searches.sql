-- What agents asked and were given: the newest 10,000 searches of servers, at most 30 days old. They
-- are no part of the memories: no journal, export or chain has them.
CREATE TABLE memstore_searches (
    -- AUTOINCREMENT: a search that was removed does not give its id to another.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    at           TEXT NOT NULL,
    namespace    TEXT NOT NULL,
    -- Whose memories were asked for; NULL means "not set".
    user_id      TEXT,
    agent_id     TEXT,
    run_id       TEXT,
    actor        TEXT NOT NULL,
    client       TEXT NOT NULL,
    -- The opening of the file, or the session of a server, as in the journal.
    run          BLOB,
    tool         TEXT NOT NULL,
    -- NULL after something was erased that was given, or whose words it has.
    query        TEXT,
    -- The ids that were given, best first, as JSON arrays.
    facts        TEXT NOT NULL,
    episodes     TEXT NOT NULL,
    tokens       INTEGER,
    milliseconds REAL
);
CREATE INDEX idx_memstore_search_namespace ON memstore_searches (namespace, id);
-- The same ids, to find the searches that were given a row.
CREATE TABLE memstore_given (
    kind      TEXT NOT NULL CHECK (kind IN ('fact', 'episode')),
    row_id    INTEGER NOT NULL,
    search_id INTEGER NOT NULL,
    PRIMARY KEY (kind, row_id, search_id)
) WITHOUT ROWID;
CREATE INDEX idx_memstore_given_search ON memstore_given (search_id);
