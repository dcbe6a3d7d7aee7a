---
writes: SqliteStore in which nothing was put yet
---
CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP);
