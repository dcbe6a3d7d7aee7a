-- The supports of facts: what was said for a fact, or against it, where and by whom. A support is read from
-- the line of the journal that recorded it, so nothing else has to be written, checked or rebuilt.
-- A row of the kind 'reverted' is no support: it names the lines that were taken back, as JSON in `cited`.
-- Nor is one of the kind 'orphaned': there, the sources of a distrusted episode that was erased and
-- was the fact's only support.
CREATE VIEW memstore_support
    (line, fact_id, kind, episode_id, at, actor, through, cited, namespace) AS
WITH heard AS (
    SELECT j.id AS line, j.fact_id, j.kind, j.actor, j.source, coalesce(j.said_at, j.at) AS at,
        f.derivation, f.episode_id, f.source AS cited, f.namespace, j.episode_id AS heard_in,
        CASE WHEN j.kind NOT IN ('add', 'adopt') AND json_valid(j.evidence)
            THEN j.evidence ELSE '{}' END AS evidence,
        CASE WHEN j.kind = 'propose' AND json_valid(j.after)
            THEN CAST(j.after ->> 'superseded_by' AS INTEGER) END AS newer_id,
        -- The evidence of an imported line names an erased episode by null.
        CASE WHEN j.kind = 'confirm' AND json_valid(j.evidence)
            THEN json_type(j.evidence, '$.episode') IS 'null' ELSE FALSE END AS forgotten
    FROM memstore_journal j JOIN memstore_facts f ON f.id = j.fact_id
    WHERE j.kind IN ('add', 'adopt', 'confirm', 'propose', 'unconfirm', 'reject', 'distrust',
            'reopen', 'support', 'unsupport', 'delete', 'restore')
        AND f.content <> ''
), supports (line, fact_id, at, actor, through, namespace, kind, episode_id, cited) AS (
    SELECT line, fact_id, at, actor, source, namespace,
        CASE WHEN derivation IS NULL THEN 'said' ELSE 'extracted' END, episode_id, cited
    FROM heard h
    WHERE kind IN ('add', 'adopt')
        -- An imported fact may have a line for each; the first is its beginning.
        AND (kind = 'add' OR NOT EXISTS (
            SELECT 1 FROM memstore_journal b
            WHERE b.fact_id = h.fact_id AND b.id < h.line AND b.kind IN ('add', 'adopt')))
    UNION ALL
    SELECT line, fact_id, at, actor, source, namespace,
        CASE WHEN heard_in IS NULL AND evidence ->> 'restated' IS NULL
            THEN 'confirmed' ELSE 'restated' END,
        -- Not that of the evidence, which may have been erased because it quoted the episode.
        heard_in, CAST(evidence ->> 'restated' AS TEXT)
    FROM heard WHERE kind = 'confirm' AND NOT forgotten AND evidence ->> 'reverts' IS NULL
    UNION ALL
    SELECT line, fact_id, at, actor, source, namespace, 'reverted', NULL, evidence ->> 'reverts'
    FROM heard WHERE evidence ->> 'reverts' IS NOT NULL
    UNION ALL
    SELECT line, fact_id, at, actor, source, namespace, 'orphaned', NULL, evidence ->> 'sources'
    FROM heard WHERE kind = 'distrust'
    UNION ALL
    -- A fact that was proposed in its place; an import proposes it once more.
    SELECT h.line, h.fact_id, h.at, h.actor, h.source, h.namespace, 'denied', n.episode_id, n.source
    FROM heard h JOIN memstore_facts n ON n.id = h.newer_id
    -- The kind is tested first, so that not every line is compared with those before it.
    WHERE h.kind = 'propose' AND n.content <> '' AND NOT EXISTS (
        SELECT 1 FROM memstore_journal b
        WHERE b.fact_id = h.fact_id AND b.id < h.line AND b.kind = 'propose'
            AND CASE WHEN json_valid(b.after)
                THEN CAST(b.after ->> 'superseded_by' AS INTEGER) END = h.newer_id)
)
SELECT line, fact_id, kind, episode_id, at, actor, through, nullif(cited, ''), namespace
FROM supports
WHERE episode_id IS NULL OR EXISTS (
    SELECT 1 FROM memstore_episodes e WHERE e.id = supports.episode_id AND e.content_hash <> '');
