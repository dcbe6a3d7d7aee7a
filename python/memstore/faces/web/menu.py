"""The menu: what its entries are called and where they lead."""

from __future__ import annotations

from memstore.named import NamedTuple


class MenuItem(NamedTuple):
    name: str
    path: str
    """Where it leads, relative to the path of the pages."""
    is_listed: bool = True
    """Whether the menu shows it."""
    is_rare: bool = False
    """Whether it stands below the others, which people open often."""
    key: str = ""
    """The key that leads there after ``g``."""
