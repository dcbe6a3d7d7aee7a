"""The database: a small interface, the schema, and one module for each table."""
