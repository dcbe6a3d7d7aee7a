-- Only metadata, tags and expired_at of an episode may change. An episode that the journal records as
-- erased may be blanked; its row stays. An idempotency key that several devices used is moved to the
-- episode that was recorded first, if the journal says so.
DROP TRIGGER IF EXISTS memstore_episodes_fixed;
CREATE TRIGGER memstore_episodes_lasting
BEFORE UPDATE OF id, uuid, namespace, content, source, source_model, source_description, name,
    valid_at, created_at, user_id, agent_id, run_id, idempotency_key, content_hash, salt, thread,
    seq, speaker
ON memstore_episodes WHEN
    ((new.id, new.uuid, new.namespace, new.created_at)
         IS NOT (old.id, old.uuid, old.namespace, old.created_at)
     OR new.content <> '' OR new.content_hash <> ''
     OR coalesce(new.source, new.source_model, new.source_description, new.name, new.valid_at,
                 new.user_id, new.agent_id, new.run_id, new.idempotency_key, new.salt, new.thread,
                 new.seq, new.speaker) IS NOT NULL
     OR NOT EXISTS (SELECT 1 FROM memstore_journal
                    WHERE episode_id = old.id AND kind = 'erase_episode'))
    AND ((new.id, new.uuid, new.namespace, new.created_at, new.content, new.content_hash,
          new.source, new.source_model, new.source_description, new.name, new.valid_at,
          new.user_id, new.agent_id, new.run_id, new.salt, new.thread, new.seq, new.speaker)
             IS NOT
         (old.id, old.uuid, old.namespace, old.created_at, old.content, old.content_hash,
          old.source, old.source_model, old.source_description, old.name, old.valid_at,
          old.user_id, old.agent_id, old.run_id, old.salt, old.thread, old.seq, old.speaker)
     OR NOT EXISTS (SELECT 1 FROM memstore_journal
                    WHERE episode_id = old.id AND kind = 'update_episode'
                    AND after LIKE '%"idempotency_key"%'))
BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
