"""The cost of searches and starts, compared with a plain read, numpy, SQLite and other engines."""
