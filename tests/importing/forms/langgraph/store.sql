---
writes: SqliteStore of langgraph-checkpoint-sqlite 2 and 3, also with an empty key
facts: [Ann likes tea, '{"n": 1}', of a blank key]
---
CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
INSERT INTO store VALUES ('users.ann', 'm1', '{"kind": "Memory", "content": {"content": "Ann likes tea"}}', '2025-01-01 00:00:00', '2025-01-01 00:00:00', NULL, NULL);
INSERT INTO store VALUES ('users.ann', '', '{"n": 1}', '2025-01-01 00:00:00', '2025-01-01 00:00:00', NULL, NULL);
INSERT INTO store VALUES ('users.ann', ' ', '{"content": "of a blank key"}', '2025-01-01 00:00:00', '2025-01-01 00:00:00', NULL, NULL);
