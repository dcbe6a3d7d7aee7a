-- The mentions of a graph in blocks, so that counting them for whoever sees some of the facts reads few
-- rows. Derived from memstore_mentions by the build; erasing a fact removes it here, too.
CREATE TABLE memstore_mention_blocks (
    -- The id of the block's first name; it is about all names up to that of the next block.
    first_id INTEGER PRIMARY KEY,
    -- For each name how many facts mention it, and their ids as distances from one to the next; in
    -- base 128, the lowest digit first, and all digits but the last of a number with the highest bit.
    facts    BLOB NOT NULL
);
-- The names that may mean the same as another one of their graph: only these are compared to find
-- entities that may be the same.
CREATE TABLE memstore_alike_names (
    name_id INTEGER PRIMARY KEY
);
