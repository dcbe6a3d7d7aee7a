"""The number of examples of a property test."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100
"""Hypothesis's own number, for a property that names none."""

QUICK = 25
"""Of a hundred: what a quick run tries."""


def examples(number: int) -> int:
    """Return a property's number of examples, or the quick run's share of it."""
    return max(10, number * settings().max_examples // USUAL)
