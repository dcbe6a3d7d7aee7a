"""PostgreSQL's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.dialect import Dialect
from memstore.database.postgres.schema.tables import TENANT

if TYPE_CHECKING:
    from collections.abc import Sequence

WITHOUT_NUL: Final = (
    "replace(replace(replace({0}, '\\\\', chr(1)), '\\u0000', '\\ufffd'), chr(1), '\\\\')"
)
"""A JSON text in which each escaped U+0000 is U+FFFD: the server's JSON functions fail on U+0000.

Escaped backslashes are set aside, so that one before ``u0000`` remains. JSON contains no
``chr(1)``.
"""

OBJECT: Final = (
    WITHOUT_NUL.format("CASE WHEN {0} IS JSON OBJECT THEN {0} ELSE '{{}}' END") + "::json"
)
"""A column's JSON object; an empty one for any other text."""

ARRAY: Final = WITHOUT_NUL.format("CASE WHEN {0} IS JSON ARRAY THEN {0} ELSE '[]' END") + "::json"
"""A column's JSON array; an empty one for any other text."""

VALUE: Final = (
    "json_typeof({0}) = 'null' AS is_null,"
    " CASE json_typeof({0}) WHEN 'string' THEN {0} #>> '{{}}' END COLLATE \"C\" AS text,"
    " CASE json_typeof({0}) WHEN 'number' THEN ({0} #>> '{{}}')::numeric END AS number,"
    " CASE json_typeof({0}) WHEN 'boolean' THEN ({0} #>> '{{}}')::boolean::integer END AS truth"
)

MEMBERS: Final = f"SELECT key, {VALUE.format('value')}"


class PostgresDialect(Dialect):
    """A list parameter is bound as an array; ``statements.py`` reads the marks of lists."""

    tables = (
        "SELECT c.relname AS name FROM pg_catalog.pg_class c"
        " WHERE c.relkind IN ('r', 'p', 'v') AND pg_catalog.pg_table_is_visible(c.oid)"
        " AND c.relnamespace NOT IN ('pg_catalog'::regnamespace,"
        " 'information_schema'::regnamespace)"
    )

    columns = (
        "SELECT attname AS name FROM pg_catalog.pg_attribute"
        " WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped"
        " AND attgenerated = '' AND attname <> 'tenant'"
        # The codes of vectors are written with them.
        " AND NOT (attname = 'code' AND atttypid = 'varbit'::regtype) ORDER BY attnum"
    )

    code = "code"

    def listed(self, parameter: str) -> str:
        return f"(LISTED :{parameter})"

    def among(self, query: str) -> str:
        return f"= ANY (ARRAY({query}))"  # or the plan would be made for a third of the feed

    def elements(self, column: str) -> str:
        return f"json_array_elements_text({ARRAY.format(column)}) AS element (value)"

    def member(self, column: str, key: str) -> str:
        return f'({OBJECT.format(column)} ->> {key}) COLLATE "C"'

    def has_member(self, column: str, key: str, test: str = "TRUE") -> str:
        return (
            f"EXISTS (SELECT 1 FROM ({MEMBERS} FROM json_each({OBJECT.format(column)})) AS member"
            f" WHERE member.key = {key} AND {test})"
        )

    def at_path(self, column: str, keys: Sequence[str], test: str = "TRUE") -> str:
        sources = f"json_each({OBJECT.format(column)}) AS m0"
        for place in range(1, len(keys)):
            outer = f"m{place - 1}.value"
            inner = f"CASE json_typeof({outer}) WHEN 'object' THEN {outer} ELSE '{{}}'::json END"
            sources += f" CROSS JOIN LATERAL json_each({inner}) AS m{place}"
        where = " AND ".join(f"m{place}.key = {key}" for place, key in enumerate(keys))
        last = f"m{len(keys) - 1}.value"
        held = (
            f"SELECT {VALUE.format(last)},"
            f" CASE json_typeof({last}) WHEN 'array' THEN {last} END AS list"
        )
        return (
            f"EXISTS (SELECT 1 FROM ({held} FROM {sources} WHERE {where}) AS member WHERE {test})"
        )

    def has_element(self, test: str) -> str:
        source = "json_array_elements(coalesce(member.list, '[]'::json)) AS e (value)"
        held = f"SELECT {VALUE.format('e.value')} FROM {source}"
        return f"EXISTS (SELECT 1 FROM ({held}) AS element WHERE {test})"

    def json_text(self, text: str) -> str:
        return text.replace("\0", "\ufffd")  # as WITHOUT_NUL does

    def contains(self, text: str, part: str) -> str:
        return f"position({part} IN {text}) > 0"

    def position(self, text: str, part: str) -> str:
        return f"strpos({text}, {part})"

    def indexed_by(self, index: str | None) -> str:
        return ""

    def unordered(self, column: str) -> str:
        return column

    def unclaimed(self, alias: str, order: str = "") -> str:
        # Rows are locked in the table itself, so the tenant is named here.
        ordered = f" ORDER BY {order}" if order else ""
        return f"AND {alias}.tenant = :{TENANT}{ordered} FOR UPDATE OF {alias} SKIP LOCKED"

    def difference(self, code: str, other: str) -> str:
        same = f"CASE WHEN length({code}) = length({other}) THEN {code} END"
        return f"bit_count({same} # {other})"

    def filed(self, kind: str) -> str:
        if kind == "text":
            return "value"
        return f"CASE kind WHEN '{kind}' THEN CAST(value AS numeric) END"


DIALECT: Final = PostgresDialect()
