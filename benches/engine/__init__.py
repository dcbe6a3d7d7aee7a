"""What search and start cost, beside a plain read, numpy, SQLite's own search and other engines."""
