"""The marks in the text of a query or a condition: its parameters, and the tables that it names.

Nothing else in such a text is read. A parameter is ``:like_this``; a table of ours has a name that
begins with ``memstore_``, wherever it stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MARK: Final = re.compile(r"'[^']*'|::\w+|:(\w+)|\b(memstore_\w+)")
"""A parameter or a table; literals and casts are passed over."""


@lru_cache(maxsize=2048)
def names(text: str) -> tuple[str, ...]:
    """Return the names of a text's parameters, in the order in which each first appears."""
    return tuple(dict.fromkeys(name for name, _ in MARK.findall(text) if name))


def tables(text: str) -> frozenset[str]:
    """Return the words of a text that begin like the name of a table."""
    return frozenset(name for _, name in MARK.findall(text) if name)


def replaced(text: str, write: Callable[[str], str]) -> str:
    """Return a text in which each parameter is what a function makes of its name."""
    return MARK.sub(lambda found: write(found[1]) if found[1] else found[0], text)
