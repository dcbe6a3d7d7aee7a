-- The facts, in any state, that rest on distrusted sources alone, and the episodes of such sources.
-- Derived from the supports (support.sql) and the table of sources in memstore_meta; empty if no source
-- is distrusted.
CREATE TABLE memstore_distrusted (fact_id INTEGER PRIMARY KEY);
CREATE TABLE memstore_distrusted_episodes (episode_id INTEGER PRIMARY KEY);
CREATE TRIGGER memstore_distrusted_added AFTER INSERT ON memstore_distrusted BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (new.fact_id);
END;
CREATE TRIGGER memstore_distrusted_removed AFTER DELETE ON memstore_distrusted BEGIN
    INSERT INTO memstore_fact_changes (id) VALUES (old.fact_id);
END;
CREATE TRIGGER memstore_distrusted_episodes_added AFTER INSERT ON memstore_distrusted_episodes BEGIN
    INSERT INTO memstore_episode_changes (id) VALUES (new.episode_id);
END;
CREATE TRIGGER memstore_distrusted_episodes_removed AFTER DELETE ON memstore_distrusted_episodes BEGIN
    INSERT INTO memstore_episode_changes (id) VALUES (old.episode_id);
END;
