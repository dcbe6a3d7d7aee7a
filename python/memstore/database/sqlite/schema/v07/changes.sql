-- The feeds: one line for each change of a row. Indexes in memory and in derived files follow them:
-- they remember the last `seq` they have read, and read the rows of later lines again. Triggers
-- write the feeds, so that changes by other programs are seen too. Only the newest 200,000 lines are
-- kept; an index that is further behind is rebuilt.
CREATE TABLE memstore_fact_changes (seq INTEGER PRIMARY KEY, id INTEGER NOT NULL);
CREATE TRIGGER memstore_fact_changes_kept AFTER INSERT ON memstore_fact_changes
WHEN new.seq % 1000 = 0 BEGIN
    DELETE FROM memstore_fact_changes WHERE seq <= new.seq - 200000;
END;
CREATE TRIGGER memstore_facts_added AFTER INSERT ON memstore_facts BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (new.id);
END;
CREATE TRIGGER memstore_facts_removed AFTER DELETE ON memstore_facts BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (old.id);
END;
-- Open tasks do not age, so their status matters to searches.
CREATE TRIGGER memstore_tasks_changed AFTER UPDATE OF metadata ON memstore_facts
WHEN new.subject_key = 'todo' BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (new.id);
END;
-- Vectors of the active generation. After a switch, indexes read all vectors again.
CREATE TRIGGER memstore_fact_vectors_added AFTER INSERT ON memstore_fact_vectors
WHEN new.embedding IS NOT NULL
    AND new.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active') BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (new.fact_id);
END;
CREATE TRIGGER memstore_fact_vectors_removed AFTER DELETE ON memstore_fact_vectors
WHEN old.embedding IS NOT NULL
    AND old.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active') BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (old.fact_id);
END;
CREATE TRIGGER memstore_fact_vectors_changed AFTER UPDATE OF embedding ON memstore_fact_vectors
WHEN new.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active') BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (new.fact_id);
END;

-- The same for episodes. A line with a piece_id is about that piece or its vector.
CREATE TABLE memstore_episode_changes (seq INTEGER PRIMARY KEY, id INTEGER NOT NULL, piece_id INTEGER);
CREATE TRIGGER memstore_episode_changes_kept AFTER INSERT ON memstore_episode_changes
WHEN new.seq % 1000 = 0 BEGIN
    DELETE FROM memstore_episode_changes WHERE seq <= new.seq - 200000;
END;
CREATE TRIGGER memstore_episodes_added AFTER INSERT ON memstore_episodes BEGIN
    INSERT INTO memstore_episode_changes (id) VALUES (new.id);
END;
CREATE TRIGGER memstore_episodes_changed AFTER UPDATE OF content, content_hash, name,
    source_description, segments, source, valid_at, expired_at, user_id, agent_id, run_id, thread,
    seq, speaker, created_at
ON memstore_episodes BEGIN
    INSERT INTO memstore_episode_changes (id) VALUES (new.id);
END;
CREATE TRIGGER memstore_pieces_removed AFTER DELETE ON memstore_pieces BEGIN
    INSERT INTO memstore_episode_changes (id, piece_id) VALUES (old.episode_id, old.id);
END;
CREATE TRIGGER memstore_pieces_changed AFTER UPDATE OF start, stop, episode_id ON memstore_pieces BEGIN
    INSERT INTO memstore_episode_changes (id, piece_id) VALUES (new.episode_id, new.id);
END;
CREATE TRIGGER memstore_piece_vectors_added AFTER INSERT ON memstore_piece_vectors
WHEN new.embedding IS NOT NULL
    AND new.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active') BEGIN
    INSERT INTO memstore_episode_changes (id, piece_id)
    SELECT coalesce((SELECT episode_id FROM memstore_pieces WHERE id = new.piece_id), 0), new.piece_id;
END;
CREATE TRIGGER memstore_piece_vectors_removed AFTER DELETE ON memstore_piece_vectors
WHEN old.embedding IS NOT NULL
    AND old.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active') BEGIN
    INSERT INTO memstore_episode_changes (id, piece_id)
    SELECT coalesce((SELECT episode_id FROM memstore_pieces WHERE id = old.piece_id), 0), old.piece_id;
END;
CREATE TRIGGER memstore_piece_vectors_changed AFTER UPDATE OF embedding ON memstore_piece_vectors
WHEN new.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active') BEGIN
    INSERT INTO memstore_episode_changes (id, piece_id)
    SELECT coalesce((SELECT episode_id FROM memstore_pieces WHERE id = new.piece_id), 0), new.piece_id;
END;

-- The derived files beside the database that searches use: which files are valid, and the position
-- in the feed that they have reached.
CREATE TABLE memstore_derived_files (
    rows          TEXT PRIMARY KEY,
    -- Part of their names and headers; 32 hexadecimal digits.
    identity      TEXT NOT NULL,
    position      INTEGER NOT NULL,
    -- The generation of their vectors; NULL if they have none.
    generation_id INTEGER
) WITHOUT ROWID;
