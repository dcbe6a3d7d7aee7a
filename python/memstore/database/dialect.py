"""What SQL engines do not have in common. Every other statement is written once, for all of them.

Statements name their parameters, ``:like_this``. A list parameter is read with :meth:`listed`, so
that a statement has the same text however many ids it is about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME_OWNERS: Final = (
    "user_id IS NOT DISTINCT FROM :user_id AND agent_id IS NOT DISTINCT FROM :agent_id"
    " AND run_id IS NOT DISTINCT FROM :run_id"
)
"""A condition on rows of just these owners; one that is not set is NULL on both sides."""


class Dialect(ABC):
    """How one engine writes what SQL engines write differently. Every member returns SQL."""

    @property
    @abstractmethod
    def tables(self) -> str:
        """A query for the ``name`` of every table and view."""

    @abstractmethod
    def listed(self, parameter: str) -> str:
        """Return a subquery for the values of a list parameter, as column ``value``."""

    @abstractmethod
    def elements(self, column: str) -> str:
        """Return what FROM reads a column's JSON array from, as ``value`` of ``element``."""

    @abstractmethod
    def member(self, column: str, key: str) -> str:
        """Return the text of a JSON object's member; NULL without one, or without an object."""

    @abstractmethod
    def has_member(self, column: str, key: str, test: str = "TRUE") -> str:
        """Return whether a JSON object has a member that passes a test; not without an object.

        Args:
            column: a column of text that should hold the object.
            key: the member's name, as a literal or a parameter.
            test: a condition on ``member.text``, ``member.number`` and ``member.truth`` (0 or 1),
                each NULL where the value is of another kind, and on ``member.is_null``.
        """

    @abstractmethod
    def contains(self, text: str, part: str) -> str:
        """Return whether one text contains another, letter by letter."""

    @abstractmethod
    def indexed_by(self, index: str | None) -> str:
        """Return a hint to read a table by this index (``None``: by its ids); maybe nothing."""


def within(dialect: Dialect, column: str, namespaces: Sequence[str] | None) -> str:
    """Return a WHERE clause for rows of these ``:namespaces``; nothing for ``None``, for all."""
    return "" if namespaces is None else f" WHERE {column} IN {dialect.listed('namespaces')}"
