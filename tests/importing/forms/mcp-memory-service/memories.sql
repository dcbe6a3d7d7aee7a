---
writes: its SQLite file, 8 to 10
facts: [Ann likes tea]
---
CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, deleted_at REAL);
INSERT INTO memories VALUES (1, 'h1', 'Ann likes tea', 'food', 'preference', '{"a": 1}', 1700000000, NULL, NULL);
