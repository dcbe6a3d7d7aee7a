---
writes: another program with SQLite
from: claude-mem
refused: 'no observations of claude-mem'
---
CREATE TABLE notes (a);
