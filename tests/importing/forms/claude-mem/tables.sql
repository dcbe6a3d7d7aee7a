---
writes: its SQLite file, 4 to 35, a title alone in the second row
facts: [Prices are in euros]
episodes: [We decided on prices., Fixed the prices]
---
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, created_at_epoch INTEGER);
INSERT INTO observations VALUES (1, 's1', 'shop', 'decision', 'Prices', NULL, '["Prices are in euros"]', 'We decided on prices.', 1700000000000);
INSERT INTO observations VALUES (2, 's1', 'shop', 'change', 'Fixed the prices', NULL, '[]', '', 1700000001000);
