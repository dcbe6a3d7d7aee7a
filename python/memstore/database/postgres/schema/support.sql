-- The supports of facts, as the file's view memstore_support has them. Statements read this in the place of
-- the view (statements.py), so that the tenant reaches each table in it.
WITH heard AS NOT MATERIALIZED (
    SELECT j.id AS line, j.fact_id, j.kind, j.actor, j.source,
        coalesce(j.said_at, j.at) AS at, f.derivation, f.episode_id, f.source AS cited,
        f.namespace, j.episode_id AS heard_in,
        CASE WHEN j.kind NOT IN ('add', 'adopt') AND j.evidence IS JSON OBJECT
            THEN j.evidence ELSE '{}' END::json AS evidence,
        CASE WHEN j.kind = 'propose' AND j.after IS JSON OBJECT
            THEN (j.after::json ->> 'superseded_by')::bigint END AS newer_id,
        CASE WHEN j.kind = 'confirm' AND j.evidence IS JSON OBJECT
            THEN json_typeof(j.evidence::json -> 'episode') IS NOT DISTINCT FROM 'null'
            ELSE FALSE END AS forgotten
    FROM memstore_journal j JOIN memstore_facts f ON f.id = j.fact_id
    WHERE j.tenant = :memstore_tenant AND f.tenant = :memstore_tenant
        AND j.kind IN ('add', 'adopt', 'confirm', 'propose', 'unconfirm', 'reject', 'distrust',
            'reopen', 'support', 'unsupport', 'delete', 'restore')
        AND f.content <> ''
), supports (line, fact_id, at, actor, through, namespace, kind, episode_id, cited) AS (
    SELECT line, fact_id, at, actor, source, namespace,
        CASE WHEN derivation IS NULL THEN 'said' ELSE 'extracted' END, episode_id, cited
    FROM heard h
    WHERE kind IN ('add', 'adopt')
        AND (kind = 'add' OR NOT EXISTS (
            SELECT 1 FROM memstore_journal b WHERE b.tenant = :memstore_tenant
            AND b.fact_id = h.fact_id AND b.id < h.line AND b.kind IN ('add', 'adopt')))
    UNION ALL
    SELECT line, fact_id, at, actor, source, namespace,
        CASE WHEN heard_in IS NULL AND evidence ->> 'restated' IS NULL
            THEN 'confirmed' ELSE 'restated' END,
        heard_in, evidence ->> 'restated'
    FROM heard WHERE kind = 'confirm' AND NOT forgotten AND evidence ->> 'reverts' IS NULL
    UNION ALL
    SELECT line, fact_id, at, actor, source, namespace, 'reverted', NULL,
        evidence ->> 'reverts'
    FROM heard WHERE evidence ->> 'reverts' IS NOT NULL
    UNION ALL
    SELECT line, fact_id, at, actor, source, namespace, 'orphaned', NULL,
        evidence ->> 'sources'
    FROM heard WHERE kind = 'distrust'
    UNION ALL
    SELECT h.line, h.fact_id, h.at, h.actor, h.source, h.namespace, 'denied',
        n.episode_id, n.source
    FROM heard h JOIN memstore_facts n ON n.tenant = :memstore_tenant AND n.id = h.newer_id
    WHERE h.kind = 'propose' AND n.content <> '' AND NOT EXISTS (
        SELECT 1 FROM memstore_journal b WHERE b.tenant = :memstore_tenant
        AND b.fact_id = h.fact_id AND b.id < h.line AND b.kind = 'propose'
            AND CASE WHEN b.after IS JSON OBJECT
                THEN (b.after::json ->> 'superseded_by')::bigint END = h.newer_id)
)
SELECT line, fact_id, kind, episode_id, at, actor, through, nullif(cited, '') AS cited, namespace
FROM supports
WHERE episode_id IS NULL OR EXISTS (
    SELECT 1 FROM memstore_episodes e
    WHERE e.tenant = :memstore_tenant AND e.id = supports.episode_id AND e.content_hash <> '')
