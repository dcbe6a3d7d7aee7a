"""The engine for PostgreSQL: its statements, schema and connections."""
