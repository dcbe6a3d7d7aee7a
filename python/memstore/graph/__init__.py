"""Entities and relations, derived from facts on request; the core does not import this package."""
