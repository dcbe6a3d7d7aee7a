"""Entities and relations, derived from facts on request: a satellite the core does not import."""
