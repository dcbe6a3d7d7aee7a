"""SQLite's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMBERS: Final = (
    "{0}.key, {0}.type = 'null' AS is_null, CASE {0}.type WHEN 'text' THEN {0}.atom END AS text,"
    " CASE WHEN {0}.type IN ('integer', 'real') THEN {0}.atom END AS number,"
    " CASE WHEN {0}.type IN ('true', 'false') THEN {0}.atom END AS truth"
)


class SqliteDialect(Dialect):
    """A list parameter is bound as a JSON array."""

    tables = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"

    columns = "SELECT name FROM pragma_table_info(:table)"

    def listed(self, parameter: str) -> str:
        return f"(SELECT value FROM json_each(:{parameter}))"

    def among(self, query: str) -> str:
        return f"IN ({query})"

    def elements(self, column: str) -> str:
        return f"json_each({column}) AS element"

    def member(self, column: str, key: str) -> str:
        return f"CASE WHEN json_valid({column}) THEN CAST({column} ->> {key} AS TEXT) END"

    def has_member(self, column: str, key: str, test: str = "TRUE") -> str:
        # Other programs may have stored invalid JSON; it counts as an empty object.
        valid = f"CASE WHEN json_valid({column}) THEN {column} ELSE '{{}}' END"
        held = f"SELECT {MEMBERS.format('e')} FROM json_each({valid}) AS e"
        return f"EXISTS (SELECT 1 FROM ({held}) AS member WHERE member.key = {key} AND {test})"

    def at_path(self, column: str, keys: Sequence[str], test: str = "TRUE") -> str:
        sources = f"json_each(CASE WHEN json_valid({column}) THEN {column} ELSE '{{}}' END) AS m0"
        for place in range(1, len(keys)):
            outer = f"m{place - 1}"
            inner = f"CASE {outer}.type WHEN 'object' THEN {outer}.value ELSE '{{}}' END"
            sources += f", json_each({inner}) AS m{place}"
        # A path through a list would be one of numbers; keys are texts.
        where = " AND ".join(f"m{place}.key = {key}" for place, key in enumerate(keys))
        last = f"m{len(keys) - 1}"
        members = MEMBERS.format(last)
        held = f"SELECT {members}, CASE {last}.type WHEN 'array' THEN {last}.value END AS list"
        return (
            f"EXISTS (SELECT 1 FROM ({held} FROM {sources} WHERE {where}) AS member WHERE {test})"
        )

    def has_element(self, test: str) -> str:
        members = MEMBERS.format("e")
        source = "json_each(coalesce(member.list, '[]')) AS e"
        return f"EXISTS (SELECT 1 FROM (SELECT {members} FROM {source}) AS element WHERE {test})"

    def filed(self, kind: str) -> str:
        return "value"

    def contains(self, text: str, part: str) -> str:
        return f"instr({text}, {part}) > 0"

    def position(self, text: str, part: str) -> str:
        return f"instr({text}, {part})"

    def indexed_by(self, index: str | None) -> str:
        return f"INDEXED BY {index}" if index else "NOT INDEXED"

    def unclaimed(self, alias: str, order: str = "") -> str:
        return order and f"ORDER BY {order}"


DIALECT: Final = SqliteDialect()
