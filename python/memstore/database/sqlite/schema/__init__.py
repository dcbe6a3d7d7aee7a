"""The schema: the original's steps V1 to V6, and V7 with one file for each group of tables."""
