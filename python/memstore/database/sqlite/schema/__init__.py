"""The schema: the original's versions 1 to 6, and version 7, a file for each group of tables."""
