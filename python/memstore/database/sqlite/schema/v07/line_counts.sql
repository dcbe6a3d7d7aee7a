-- How many lines of each kind the journal has, by stretches of 256 lines: those whose ids are the
-- same when divided by 256. Derived; a row is written with the last line of its stretch. After the
-- numbers come the authors of the lines: {"by": [[actor, source], …]}.
CREATE TABLE memstore_line_counts (
    stretch INTEGER PRIMARY KEY,
    -- JSON: [[namespace, kind, lines, those about what has no owner], …]. Empty for a stretch whose
    -- lines have to be read: they are of too many namespaces, or what they are about lost its owner.
    counts  TEXT NOT NULL
);
