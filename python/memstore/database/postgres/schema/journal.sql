CREATE TABLE memstore_version (
    tenant  TEXT PRIMARY KEY,
    version bigint NOT NULL
);
CREATE TABLE memstore_meta (
    tenant TEXT NOT NULL,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE TABLE memstore_journal (
    tenant     TEXT NOT NULL,
    id         bigint NOT NULL,
    txn        bigint NOT NULL,
    at         TEXT NOT NULL,
    said_at    TEXT,
    run        bytea,
    actor      TEXT NOT NULL,
    source     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    fact_id    bigint,
    episode_id bigint,
    before     TEXT,
    after      TEXT,
    evidence   TEXT,
    salt       bytea,
    erased     bytea,
    hash       bytea NOT NULL,
    PRIMARY KEY (tenant, id)
);
-- How many lines of each kind there are, by stretches of 256 lines.
CREATE TABLE memstore_line_counts (
    tenant  TEXT NOT NULL,
    stretch bigint NOT NULL,
    counts  TEXT NOT NULL,
    PRIMARY KEY (tenant, stretch)
);
CREATE INDEX idx_memstore_journal_fact ON memstore_journal (tenant, fact_id, id)
    WHERE fact_id IS NOT NULL;
CREATE INDEX idx_memstore_journal_episode ON memstore_journal (tenant, episode_id, id)
    WHERE episode_id IS NOT NULL;
CREATE INDEX idx_memstore_journal_state ON memstore_journal (tenant, kind, id, fact_id, episode_id)
    WHERE kind IN ('supersede', 'unsupersede', 'delete', 'restore', 'metadata', 'pin', 'unpin',
        'adopt', 'update', 'update_episode');
CREATE INDEX idx_memstore_journal_confirmed ON memstore_journal (tenant, kind, id, fact_id)
    WHERE kind IN ('confirm', 'unconfirm', 'erase');
CREATE INDEX idx_memstore_journal_sources ON memstore_journal (tenant, id)
    WHERE kind IN ('trust', 'distrust') AND fact_id IS NULL;

-- The devices that share their memories with this one through a place.
CREATE TABLE memstore_devices (
    tenant TEXT NOT NULL,
    id     bigint NOT NULL,
    device TEXT NOT NULL,
    name   TEXT NOT NULL,
    state  TEXT NOT NULL CHECK (state IN ('here', 'former', 'other', 'dismissed')),
    begins bigint NOT NULL,
    known  bigint NOT NULL,
    hash   TEXT NOT NULL,
    said   TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX idx_memstore_device ON memstore_devices (tenant, device);
-- What lines of the journal come from: another device's line, or what follows from the lines of all.
CREATE TABLE memstore_taken (
    tenant   TEXT NOT NULL,
    line     bigint NOT NULL,
    device   bigint,
    position bigint NOT NULL,
    act      bigint NOT NULL,
    rank     bigint NOT NULL,
    value    TEXT,
    PRIMARY KEY (tenant, line)
);
CREATE INDEX idx_memstore_taken ON memstore_taken (tenant, device, position);
-- The files of devices that meet at this server, which it keeps without reading them.
CREATE TABLE memstore_device_files (
    tenant TEXT NOT NULL,
    place  TEXT NOT NULL,
    name   TEXT NOT NULL,
    token  TEXT NOT NULL,
    size   bigint NOT NULL,
    tag    TEXT NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (tenant, place, name)
);

CREATE TABLE memstore_proposals (
    tenant     TEXT NOT NULL,
    id         bigint NOT NULL,
    at         TEXT NOT NULL,
    old_id     bigint NOT NULL,
    new_id     bigint,
    similarity double precision,
    evidence   TEXT,
    state      TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected')),
    decided_at TEXT,
    sources    TEXT,
    content    TEXT,
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, old_id) REFERENCES memstore_facts (tenant, id),
    FOREIGN KEY (tenant, new_id) REFERENCES memstore_facts (tenant, id),
    CHECK ((sources IS NULL) = (content IS NULL)),
    CHECK (sources IS NOT NULL OR (new_id IS NOT NULL AND similarity IS NOT NULL))
);
CREATE UNIQUE INDEX idx_memstore_proposal_pair ON memstore_proposals (tenant, old_id, new_id);
CREATE INDEX idx_memstore_proposal_new ON memstore_proposals (tenant, new_id);
CREATE UNIQUE INDEX idx_memstore_proposal_sources ON memstore_proposals
    (tenant, md5(sources)) WHERE sources IS NOT NULL;
CREATE INDEX idx_memstore_proposal_open ON memstore_proposals (tenant, id) WHERE state = 'open';

CREATE TABLE memstore_tokens (
    tenant       TEXT NOT NULL,
    id           bigint NOT NULL,
    name         TEXT NOT NULL,
    hash         TEXT NOT NULL,
    namespace    TEXT NOT NULL,
    access       TEXT NOT NULL CHECK (access IN ('read', 'write')),
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    revoked_at   TEXT,
    last_used_at TEXT,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, hash)
);
CREATE UNIQUE INDEX idx_memstore_token_name ON memstore_tokens (tenant, name)
    WHERE revoked_at IS NULL;
