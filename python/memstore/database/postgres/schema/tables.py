"""The text of the schema, and what it says about tables."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from memstore.database import derivations
from memstore.domain.records import SCOPE_FIELDS

if TYPE_CHECKING:
    from memstore.database.derivations import Counting

GROUPS: Final = (
    *("facts", "episodes", "vectors", "journal", "derived", "graph", "searches"),
    "statistics",
)
"""The files, in the order in which they are run."""

TENANT: Final = "memstore_tenant"
"""The parameter that names the tenant."""

SHARED: Final = frozenset({"memstore_tenants", "memstore_namespaces"})
"""The tables that are no tenant's own."""

RARE: Final = frozenset({"memstore_generations", "memstore_meta", "memstore_version"})
"""Tables with few rows, which are rarely written. A write of them changes the tenant's ``epoch``
too."""

OFTEN: Final = frozenset(
    {
        "memstore_fact_changes",
        "memstore_episode_changes",
        "memstore_derived_files",
        "memstore_compared",
    }
)
"""Tables whose small answers are remembered as long as nothing at all is written."""

REMEMBERED: Final = RARE | OFTEN
"""The tables whose answers are remembered."""

SUPPORT: Final = "memstore_support"
"""A view in files; here a query that statements contain."""

RELATION: Final = re.compile(
    r"CREATE (TABLE|VIEW) (memstore_\w+)\s*\((.*?)\n?\)(?:;| AS\b)", re.DOTALL
)
COLUMN: Final = re.compile(
    r"^\s+(\w+)\s+(TEXT|bigint|bytea|double precision|varbit)\b", re.MULTILINE
)

FOLDED: Final = re.compile(r"FOLDED\((.*?)\)(?=\)\) STORED)", re.DOTALL)
"""The text of a column ``words``, in the files as they are written."""


@cache
def text() -> str:
    """Return the statements that create the schema."""
    folder = files("memstore.database.postgres.schema")
    written = "\n".join(folder.joinpath(f"{group}.sql").read_text("utf-8") for group in GROUPS)
    written = re.sub(FOLDED, lambda found: folded(found[1]), written)
    counted = (counting(one, one.table, 1) for one in derivations.COUNTED)
    written = written.replace("COUNTED", " UNION ALL ".join(counted))
    return re.sub(r"\bTEXT\b", 'text COLLATE "C"', written)


def folded(text: str) -> str:
    """Return the SQL of a text without accents on Latin letters, as FTS5's tokenizer reads it."""
    plain = rf"regexp_replace(normalize({text}, NFD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g')"
    return (
        f"CASE WHEN octet_length({text}) = length({text}) THEN {text}"
        f" ELSE replace(normalize({plain}, NFC), 'ς', 'σ') END"
    )


def counting(described: Counting, rows: str, number: int) -> str:
    """Return a query for what each of some rows counts as, with a number for each."""
    counted = ", ".join(
        f"('{count.kind}', {count.key}, {count.test or 'TRUE'})" for count in described.counts
    ).replace("{row}", "r")
    owners = ", ".join(f"coalesce(r.{name}, '') AS {name}" for name in SCOPE_FIELDS)
    return (
        f"SELECT r.tenant, r.namespace, c.kind, {owners}, c.key, {number} AS number"
        f" FROM {rows} r CROSS JOIN LATERAL (VALUES {counted}) AS c (kind, key, counts)"
        " WHERE c.counts"
    )


@cache
def columns() -> dict[str, dict[str, str]]:
    """Return the type of each column of each table; views have no columns here."""
    folder = files("memstore.database.postgres.schema")
    written = "\n".join(folder.joinpath(f"{group}.sql").read_text("utf-8") for group in GROUPS)
    return {
        name: {column: type_.lower() for column, type_ in COLUMN.findall(body)}
        for _, name, body in RELATION.findall(written)
    }


@cache
def rows() -> tuple[str, ...]:
    """Return the names of the tables, in order."""
    return tuple(sorted(name for name, known in columns().items() if known))


@cache
def numbered() -> tuple[str, ...]:
    """Return the names of the tables whose ids the server gives."""
    found = re.findall(r"CREATE TABLE (memstore_\w+) \(([^;]*)\);", text())
    return tuple(name for name, body in found if re.search(r"\bid\s+bigint GENERATED", body))


@cache
def views() -> tuple[str, ...]:
    return tuple(sorted(name for name, known in columns().items() if not known))


@cache
def scoped() -> frozenset[str]:
    """Return the tables and views whose rows belong to a tenant."""
    return frozenset(columns()) - SHARED | {SUPPORT}


@cache
def support() -> str:
    """Return the query that is read as the view ``memstore_support``, of one tenant."""
    text = files("memstore.database.postgres.schema").joinpath("support.sql").read_text("utf-8")
    return re.sub(r"^--.*\n", "", text, flags=re.MULTILINE).strip()
