"""Learning from conversation: what was said becomes facts, and every step is on record."""
