"""The parts of SQL that differ between engines. Everything else is written once for all of them.

Texts name their parameters, ``:like_this``, and tables of ours by names that begin with
``memstore_``: these are their marks, and nothing else in a text is ever read. A list parameter is
read with :meth:`Dialect.listed`, so that a text does not depend on the number of ids.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.domain.records import AtLeast, Scope

OWNERS: Final = ("user_id", "agent_id", "run_id")

SAME_OWNERS: Final = " AND ".join(f"{name} IS NOT DISTINCT FROM :{name}" for name in OWNERS)
"""A condition on rows of exactly these owners; an owner that is not set is NULL on both sides."""

MARK: Final = re.compile(r"'[^']*'|::\w+|:(\w+)|\b(memstore_\w+)")
"""A parameter or a table; literals and casts are passed over."""


@lru_cache(maxsize=2048)
def parameters_of(text: str) -> tuple[str, ...]:
    """Return the names of a text's parameters, in the order in which each first appears."""
    return tuple(dict.fromkeys(name for name, _ in MARK.findall(text) if name))


def tables_of(text: str) -> frozenset[str]:
    """Return the words of a text that begin like the name of a table."""
    return frozenset(name for _, name in MARK.findall(text) if name)


def with_parameters(text: str, write: Callable[[str], str]) -> str:
    """Return a text in which each parameter is what a function makes of its name."""
    return MARK.sub(lambda found: write(found[1]) if found[1] else found[0], text)


def owned_by(owners: Scope | AtLeast | None) -> str:
    """Return a condition on rows of exactly these owners, or at least these; ``None`` for any.

    Its parameters are the ids of the owners, by name.
    """
    if owners is None:
        return "TRUE"
    return " AND ".join(f"{name} IS NOT DISTINCT FROM :{name}" for name in owners.ids)


def same_owners(one: str, other: str) -> str:
    """Return a condition: the rows of two tables or aliases have the same owners."""
    return " AND ".join(f"{one}.{name} IS NOT DISTINCT FROM {other}.{name}" for name in OWNERS)


class Dialect(ABC):
    """The SQL that one engine writes in its own way. Every member returns SQL."""

    @property
    @abstractmethod
    def tables(self) -> str:
        """A query for the ``name`` of every table and view."""

    @property
    @abstractmethod
    def columns(self) -> str:
        """A query for the ``name`` of every column of ``:table`` that is stored, not computed."""

    @property
    def code(self) -> str:
        """An expression for a vector's code, as ``Transaction.code`` returns it; NULL if none."""
        return "NULL"

    @abstractmethod
    def listed(self, parameter: str) -> str:
        """Return a subquery for the values of a list parameter, as column ``value``."""

    @abstractmethod
    def among(self, query: str) -> str:
        """Return a test of an id, for one of the few that a query returns."""

    @abstractmethod
    def elements(self, column: str) -> str:
        """Return a FROM item for a column's JSON array, which yields ``element.value``."""

    @abstractmethod
    def member(self, column: str, key: str) -> str:
        """Return an expression for the text of a JSON object's member, or NULL."""

    @abstractmethod
    def has_member(self, column: str, key: str, test: str = "TRUE") -> str:
        """Return a condition: the column is a JSON object with a member that passes a test.

        Args:
            column: a column of text that should hold the object.
            key: the member's name, as a literal or a parameter.
            test: a condition on ``member.text``, ``member.number`` and ``member.truth`` (0 or 1),
                each NULL if the value is of another type, and on ``member.is_null``.
        """

    @abstractmethod
    def at_path(self, column: str, keys: Sequence[str], test: str = "TRUE") -> str:
        """Return a condition: the object in a column holds, along keys, what passes a test.

        Args:
            column: as for :meth:`has_member`.
            keys: the parameters of the keys, outermost first.
            test: as for :meth:`has_member`; :meth:`has_element` makes another.
        """

    @abstractmethod
    def has_element(self, test: str) -> str:
        """Return a test of :meth:`at_path`: the member is a list with an element that passes.

        Args:
            test: as for :meth:`has_member`, on ``element`` instead of ``member``.
        """

    def json_text(self, text: str) -> str:
        """Return a key or a text of a JSON column as statements read it."""
        return text

    @abstractmethod
    def filed(self, kind: str) -> str:
        """Return the value of a row of ``memstore_fact_members`` of this kind, to compare."""

    @abstractmethod
    def contains(self, text: str, part: str) -> str:
        """Return a condition: one text contains another, case-sensitively."""

    @abstractmethod
    def position(self, text: str, part: str) -> str:
        """Return an expression for where one text first stands in another, from 1; 0: nowhere."""

    @abstractmethod
    def indexed_by(self, index: str | None) -> str:
        """Return a hint to read a table by this index (``None``: by its ids); may be empty."""

    @abstractmethod
    def unordered(self, column: str) -> str:
        """Return a column so that no index is read for the order that it has."""

    @abstractmethod
    def unclaimed(self, alias: str, order: str = "") -> str:
        """Return the end of a query that locks rows of its table, without locked ones.

        Where a write locks all rows, it is only the order.

        Args:
            alias: the name of the table, the only one in the query.
            order: what the rows are ordered by.
        """

    def difference(self, code: str, other: str) -> str:
        """Return an expression for how many bits of two codes of vectors differ.

        ``NULL`` if the vectors are not equally long; only where a transaction gives such codes.
        """
        raise NotImplementedError


def within(dialect: Dialect, column: str, namespaces: Sequence[str] | None) -> str:
    """Return a WHERE clause for rows of these ``:namespaces``; ``None`` (all) needs none."""
    return "" if namespaces is None else f" WHERE {column} IN {dialect.listed('namespaces')}"
