"""Writes as values: what is inserted into a table, updated in it or deleted from it.

A form says which rows and columns a write is about, and is the same for any number of rows;
:class:`memstore.database.engine.Write` is one with the values of its parameters. Each engine writes
a form as SQL in its own way: a file runs its text, and a server adds the tenant and what is
derived. They put the expressions and conditions of a form into place, and never look inside.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.database.dialect import parameters_of
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

BY_ID: Final = "id = :id"
"""The condition of a write to one row."""


class _Form:
    """What the three forms have in common.

    Expressions and conditions name the columns of the table, ``:parameters``, and tables of which
    they read rows. Two forms with the same text are the same.
    """

    table: str
    alias: str
    returning: str
    text: str
    """The form as SQL, for a database of one memory."""
    names: tuple[str, ...]
    """The names of its parameters, in the order of values that are given without names."""
    expressions: str
    """All of it that may read other rows: expressions, conditions, sources."""

    @property
    def called(self) -> str:
        """The name by which its expressions call the table."""
        return self.alias or self.table

    @property
    def named(self) -> str:
        """The table, and its alias."""
        return f"{self.table} AS {self.alias}" if self.alias else self.table

    def _is(self, text: str, *expressions: str) -> None:
        if self.returning:
            text = f"{text} RETURNING {self.returning}"
        names, all_of_it = parameters_of(text), " ".join(expressions)
        self.__dict__.update(text=text, names=names, expressions=all_of_it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Form) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


@frozen
class Insert(_Form):
    """Insert a row, or one for each row of a source."""

    table: str
    columns: tuple[str, ...]
    values: tuple[str, ...] = ()
    """The expression of each column; by default the parameter of its name."""
    source: str = ""
    """What the expressions read, as it follows FROM; empty for one row."""
    unique: tuple[str, ...] | None = None
    """The columns in which the row may equal one that is there: then nothing is inserted. ``()``
    for any columns that have to be unique; ``None`` if that is an error."""
    instead: str = ""
    """What is set in the row that is there, as it follows SET; ``excluded`` is the new row."""
    of_owners: str = ""
    """A table of which ``source`` reads the rows from ``:first`` to ``:last``. The last column is
    their id."""
    alias: str = ""
    returning: str = ""

    def __post_init__(self) -> None:
        if not self.values:
            self.__dict__["values"] = given(self.columns)
        listed = ", ".join(self.values)
        what = f"SELECT {listed} FROM {self.source}" if self.source else f"VALUES ({listed})"
        into = f"INSERT INTO {self.named} ({', '.join(self.columns)})"
        text = f"{into} {what}{self.conflict(self.unique)}"
        self._is(text, *self.values, self.source, self.instead)

    def conflict(self, unique: tuple[str, ...] | None) -> str:
        """Return what happens if a row equals one that is there in these columns."""
        if unique is None:
            return ""
        columns = f" ({', '.join(unique)})" if unique else ""
        does = f"DO UPDATE SET {self.instead}" if self.instead else "DO NOTHING"
        return f" ON CONFLICT{columns} {does}"


@frozen
class Update(_Form):
    """Set columns of the rows that meet a condition."""

    table: str
    settings: Mapping[str, str]
    """The expression that each column is set to."""
    where: str = ""
    """The condition; empty for all rows."""
    alias: str = ""
    returning: str = ""

    def __post_init__(self) -> None:
        self.__dict__["settings"] = MappingProxyType(dict(self.settings))
        where = f" WHERE {self.where}" if self.where else ""
        text = f"UPDATE {self.named} SET {self.assignments()}{where}"
        self._is(text, *self.settings.values(), self.where)

    def assignments(self) -> str:
        return ", ".join(f"{column} = {value}" for column, value in self.settings.items())


@frozen
class Delete(_Form):
    """Delete the rows that meet a condition."""

    table: str
    where: str = ""
    """The condition; empty for all rows."""
    alias: str = ""
    returning: str = ""

    def __post_init__(self) -> None:
        where = f" WHERE {self.where}" if self.where else ""
        self._is(f"DELETE FROM {self.named}{where}", self.where)


Form: TypeAlias = "Insert | Update | Delete"


def given(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters that are named like columns."""
    return tuple(f":{column}" for column in columns)


def settings(*columns: str) -> dict[str, str]:
    """Return the settings that give columns the values of the parameters of their names."""
    return dict(zip(columns, given(columns), strict=True))
