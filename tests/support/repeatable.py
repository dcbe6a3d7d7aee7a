"""Chance that is the same each time: ids, salts and keys follow from a seed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Let everything that is drawn at random follow from a seed."""
    drawn = random.Random(f"drawn {seed}").randbytes
    with mock.patch.object(os, "urandom", drawn), mock.patch.object(random, "_urandom", drawn):
        yield
