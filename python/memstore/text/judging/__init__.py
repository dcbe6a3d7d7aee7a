"""Judging claims: what two of them look like side by side, proofs of a change, and signs of one."""
