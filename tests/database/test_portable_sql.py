"""The SQL for every engine has no construct that only SQLite understands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sources import SOURCE

DATABASE = SOURCE / "database"
SHARED = sorted(
    [
        *DATABASE.glob("tables/*.py"),
        *(
            DATABASE / f"{name}.py"
            for name in ("changes", "derivations", "dialect", "filters", "journal", "writes")
        ),
    ]
)

STATEMENT = re.compile(
    r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|JOIN|AND|VALUES|SET)\b"
)
ONLY_SQLITE = {
    "a parameter without a name": r"\?",
    "iif": r"\biif\s*\(",
    "JSON functions": r"\bjson\w*\s*\(|->>?",
    "type names": r"\btypeof\s*\(",
    "index hints": r"\b(NOT )?INDEXED\b",
    "instr": r"\binstr\s*\(",
    "group_concat": r"\bgroup_concat\s*\(",
    "INSERT OR": r"\bINSERT OR\b",
    "full text": r"\b(MATCH|bm25|fts)\b",
    "row ids": r"\browid\b",
    "pragmas": r"\bPRAGMA\b",
    "SQLite's own tables": r"\bsqlite_",
    "IS as a comparison": r"\bIS (NOT )?(?!(NOT )?(NULL|TRUE|FALSE|DISTINCT FROM)\b)[:\w.]",
    "ON after CROSS JOIN": r"\bCROSS JOIN\s+\w+(\s+\w+)?\s+ON\b",
    "DO UPDATE for any conflict": r"\bON CONFLICT DO UPDATE\b",
    "a limit in a recursion": r"\bWITH RECURSIVE\b[^)]*\bLIMIT\b",
}


def texts(file: Path) -> Iterator[str]:
    """Yield the texts of a module that are not docstrings, with {} where they are completed."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docs | parts
        ):
            yield node.value


def only_sqlite(text: str) -> list[str]:
    """Return the names of the constructs in an SQL text that only SQLite understands."""
    if not STATEMENT.search(text):
        return []
    return [name for name, pattern in ONLY_SQLITE.items() if re.search(pattern, text)]


@pytest.mark.parametrize("file", SHARED, ids=lambda file: file.stem)
def test_shared_sql_is_read_by_every_engine(file: Path) -> None:
    assert {text: found for text in texts(file) if (found := only_sqlite(text))} == {}


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT 1 WHERE id = ?", "a parameter without a name"),
        ("SELECT 1 WHERE id = ?1", "a parameter without a name"),
        ("SELECT iif(a, 1, 2) FROM b", "iif"),
        ("SELECT value FROM json_each(:ids)", "JSON functions"),
        ("SELECT 1 FROM a WHERE a.metadata ->> 'kind' = 'task'", "JSON functions"),
        ("SELECT 1 FROM a WHERE typeof(b) = 'blob'", "type names"),
        ("SELECT 1 FROM a INDEXED BY idx_a", "index hints"),
        ("SELECT 1 FROM a NOT INDEXED", "index hints"),
        ("SELECT 1 FROM a WHERE instr(b, :c) > 0", "instr"),
        ("SELECT group_concat(id) FROM a", "group_concat"),
        ("INSERT OR IGNORE INTO a VALUES (1)", "INSERT OR"),
        ("SELECT rowid FROM a", "row ids"),
        ("SELECT 1 FROM sqlite_schema", "SQLite's own tables"),
        ("SELECT 1 FROM a WHERE a.user_id IS :user_id", "IS as a comparison"),
        ("SELECT 1 FROM a WHERE a.b IS NOT c.d", "IS as a comparison"),
        ("SELECT 1 FROM a CROSS JOIN b ON b.id = a.id", "ON after CROSS JOIN"),
        ("INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1", "DO UPDATE for any conflict"),
    ],
)
def test_sqlite_only_constructs_are_found(sql: str, name: str) -> None:
    assert name in only_sqlite(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM a WHERE a.b IS NULL AND a.c IS NOT NULL AND (a.d = 1) IS NOT TRUE",
        "SELECT 1 FROM a WHERE a.b IS NOT DISTINCT FROM :b AND a.c IS DISTINCT FROM a.d",
        "INSERT INTO a VALUES (:b) ON CONFLICT (b) DO UPDATE SET c = excluded.c",
    ],
)
def test_portable_sql_passes(sql: str) -> None:
    assert only_sqlite(sql) == []
