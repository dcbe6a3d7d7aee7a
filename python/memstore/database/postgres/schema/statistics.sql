-- Of how many tenants the server counts the rows (decision 139): if it has counted those of every
-- tenant, it expects none of one that is new. Of others it expects as many as these have on average.
ALTER TABLE memstore_facts ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_fact_vectors ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_fact_members ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_episodes ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_episode_tags ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_pieces ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_piece_vectors ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_journal ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_fact_changes ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_episode_changes ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_mentions ALTER tenant SET STATISTICS 5;
ALTER TABLE memstore_relations ALTER tenant SET STATISTICS 5;
