"""The database: a small seam, the schema, and one module for each table."""
