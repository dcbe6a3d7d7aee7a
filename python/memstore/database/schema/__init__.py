"""The schema, one file for each version that changes it with SQL."""
