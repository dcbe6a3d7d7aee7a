-- The files of devices that meet at this server, which it keeps without reading them.
CREATE TABLE memstore_device_files (
    -- The namespace of the tokens that reach them, and the owners that these are bound to, as JSON.
    place TEXT NOT NULL,
    name  TEXT NOT NULL,
    -- The name of the token that began the device.
    token TEXT NOT NULL,
    size  INTEGER NOT NULL,
    -- The hash of the data, by which an ETag says whether it changed.
    tag   TEXT NOT NULL,
    data  BLOB NOT NULL,
    PRIMARY KEY (place, name)
);
