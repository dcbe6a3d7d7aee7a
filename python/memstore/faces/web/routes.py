"""Routes: which function answers which address.

An address holds numbers and our own words, never a stored text: the pattern has no other parts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.faces.web.menu import MenuItem
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

    Answer: TypeAlias = Callable[[Visit], Reply]

NUMBER: Final = r"(?P<\1>[0-9]{1,18})"


class Route(NamedTuple):
    """One address below the path of the pages.

    Attributes:
        method: ``GET`` or ``POST``.
        pattern: such as ``fact/{id}/delete``; the parts in braces are numbers.
        answer: takes the visit and returns the reply; runs in a thread.
        writes: whether it changes the memory: refused with read-only access.
    """

    method: str
    pattern: str
    answer: Answer
    writes: bool

    def match(self, method: str, path: str) -> Mapping[str, int] | None:
        """Return the numbers in the path, by name; ``None`` if it is another address."""
        if method != self.method:
            return None
        found = re.fullmatch(re.sub(r"\{(\w+)\}", NUMBER, self.pattern), path)
        return None if found is None else {key: int(one) for key, one in found.groupdict().items()}


def shows(pattern: str, answer: Answer) -> Route:
    """A page that shows something, with GET."""
    return Route("GET", pattern, answer, writes=False)


def asks(pattern: str, answer: Answer) -> Route:
    """A posted question, such as a search: it changes nothing."""
    return Route("POST", pattern, answer, writes=False)


def changes(pattern: str, answer: Answer) -> Route:
    """A posted change of the memory."""
    return Route("POST", pattern, answer, writes=True)


class Section(NamedTuple):
    """An entry of the menu, and the routes of its pages."""

    entry: MenuItem
    routes: tuple[Route, ...]
