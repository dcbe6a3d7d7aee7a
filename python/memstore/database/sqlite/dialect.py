"""SQLite's dialect."""

from __future__ import annotations

from typing import Final

from memstore.database.dialect import Dialect

MEMBERS: Final = (
    "SELECT key, type = 'null' AS is_null, CASE type WHEN 'text' THEN atom END AS text,"
    " CASE WHEN type IN ('integer', 'real') THEN atom END AS number,"
    " CASE WHEN type IN ('true', 'false') THEN atom END AS truth"
)


class SqliteDialect(Dialect):
    """A list parameter is bound as a JSON array."""

    tables = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"

    columns = "SELECT name FROM pragma_table_info(:table)"

    def listed(self, parameter: str) -> str:
        return f"(SELECT value FROM json_each(:{parameter}))"

    def elements(self, column: str) -> str:
        return f"json_each({column}) AS element"

    def member(self, column: str, key: str) -> str:
        return f"CASE WHEN json_valid({column}) THEN CAST({column} ->> {key} AS TEXT) END"

    def has_member(self, column: str, key: str, test: str = "TRUE") -> str:
        # Other programs may have stored invalid JSON; it counts as an empty object.
        valid = f"CASE WHEN json_valid({column}) THEN {column} ELSE '{{}}' END"
        return (
            f"EXISTS (SELECT 1 FROM ({MEMBERS} FROM json_each({valid})) AS member"
            f" WHERE member.key = {key} AND {test})"
        )

    def filed(self, kind: str) -> str:
        return "value"

    def contains(self, text: str, part: str) -> str:
        return f"instr({text}, {part}) > 0"

    def indexed_by(self, index: str | None) -> str:
        return f"INDEXED BY {index}" if index else "NOT INDEXED"


DIALECT: Final = SqliteDialect()
