"""Half a year of a developer's sessions, and what is told of it to a later one."""
