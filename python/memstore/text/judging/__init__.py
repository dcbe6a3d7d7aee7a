"""Judging claims: what two of them look like side by side, proofs of a change, and signs of one."""

from __future__ import annotations

from typing import Final

RULES: Final = 6
"""The version of the rules: one more with each change of a verdict, so that stored ones are made
anew."""
