-- What the column needs in a file that lacked it: the words anew (facts_words.sql), of a view.
DROP TRIGGER memstore_facts_ai;
DROP TRIGGER memstore_facts_ad;
DROP TRIGGER memstore_facts_au;
DROP TABLE memstore_facts_fts;
-- The kinds of lines that a moment's filters read are one more (journal.STATE_KINDS).
DROP INDEX idx_memstore_journal_state;
CREATE INDEX idx_memstore_journal_state ON memstore_journal
    (kind, id, fact_id, episode_id)
    WHERE kind IN ('supersede', 'unsupersede', 'delete', 'restore', 'metadata', 'pin', 'unpin',
        'adopt', 'update', 'update_episode');
