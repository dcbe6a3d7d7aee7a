"""The schema for PostgreSQL, a file for each group of tables."""
