"""The rooms: imports go down only, and each foreign library comes in by one door."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "python" / "memstore"

ROOMS: tuple[tuple[str, ...], ...] = (
    ("arguments", "errors", "model", "entities", "protocols", "clock", "metadata", "settings"),
    (
        "vectors",
        "ranking",
        "cutting",
        "database.engine",
        "database.sqlite",
        "database.foreign_file",
        "database.duckdb_file",
        "database.filters",
        "database.episode_filter",
        "database.words",
        "database.schema",
        "database",
        "providers",
    ),
    (
        "database.meta_table",
        "database.original_tables",
        "database.generation_table",
        "database.vector_table",
        "database.stored_vectors",
        "database.piece_texts",
        "database.lease_table",
        "database.fact_table",
        "database.episode_table",
        "database.piece_table",
        "database.full_text",
        "database.episode_words",
        "database.proposal_table",
        "database.reading_table",
        "database.reply_table",
        "database.derivation_table",
        "database.graph_table",
        "database.graph_reads",
        "database.graph_integrity",
        "database.decision_table",
        "database.token_table",
        "database.journal",
        "database.word_index",
        "database.integrity",
        "database.migrations",
    ),
    (
        "admission",
        "background",
        "drain",
        "embedding",
        "following",
        "generations",
        "leases",
        "queues",
        "facts",
        "new_facts",
        "changes",
        "episode_changes",
        "episodes",
        "new_episodes",
        "episode_search",
        "episode_checks",
        "probing",
        "proposals",
        "derived",
        "readings",
        "tokens",
        "search",
        "resident",
        "touches",
        "tasks",
        "transfer",
        "doctor",
        "vector_repair",
        "learn",
        "memories",
        "clearing",
        "graph",
    ),
    ("importing",),
    ("binding", "upkeep", "store", "opening", "memory", "async_memory", ""),
    ("faces", "__main__"),
)

DOORS = {
    "apsw": {"database.sqlite"},
    "duckdb": {"database.duckdb_file"},
    "httpx": {"providers.http"},
    "memstore._kernel": {"vectors", "ranking"},
    "os.environ": {"settings"},
    "platformdirs": {"settings"},
    "tokenizers": {"providers.local"},
    "safetensors": {"providers.local"},
    "starlette": {"faces.http_gate"},
    "uvicorn": {"faces.http_server"},
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        yield name, ast.parse(file.read_text(encoding="utf-8"))


TREES = dict(modules())


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield every name a module imports, `from a import b` as `a.b`; types alone do not count."""
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(name: str) -> str | None:
    """Return the module of ours that an imported name belongs to."""
    if name != "memstore" and not name.startswith("memstore."):
        return None
    parts = name.split(".")[1:]
    while parts and ".".join(parts) not in TREES:
        parts.pop()
    return ".".join(parts)


def room(module: str) -> int:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        for number, names in enumerate(ROOMS):
            if prefix in names:
                return number
    pytest.fail(f"{module} stands in no room: add it to ROOMS, where it belongs")


@pytest.mark.parametrize("module", [name for name in TREES if name])
def test_imports_go_down_only(module: str) -> None:
    upward = [
        name
        for name in imported(TREES[module])
        if (target := module_of(name)) is not None
        and name != "memstore._kernel"
        and not name.startswith("memstore._kernel.")
        and room(target) > room(module)
    ]
    assert upward == []


@pytest.mark.parametrize("library", DOORS)
def test_each_library_has_one_door(library: str) -> None:
    users = {
        module
        for module, tree in TREES.items()
        if any(name == library or name.startswith(library + ".") for name in imported(tree))
        or any(
            isinstance(node, ast.Attribute) and ast.unparse(node) == library
            for node in ast.walk(tree)
        )
    }
    assert users == DOORS[library]


def test_mcp_is_imported_by_its_face_only() -> None:
    users = {
        module
        for module, tree in TREES.items()
        if any(name.split(".")[0] in ("mcp", "mcp_types") for name in imported(tree))
    }
    assert users
    assert all(module.startswith("faces.mcp") for module in users)


def test_only_the_clock_asks_for_the_time_of_day() -> None:
    asking = {
        module
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("datetime.now", "time.time")
    }
    assert asking == {"clock"}


def test_modules_import_each_other_in_no_circle() -> None:
    below = {
        module: {t for name in imported(tree) if (t := module_of(name)) is not None} - {module, ""}
        for module, tree in TREES.items()
    }
    while ready := {module for module, needs in below.items() if not needs & below.keys()}:
        below = {module: needs for module, needs in below.items() if module not in ready}
    assert below == {}


def test_policy_holds_no_sql() -> None:
    for module in ROOMS[3]:
        tree = TREES[module]
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ]
        sql = [
            t for t in texts if t.lstrip().startswith(("SELECT ", "INSERT ", "UPDATE ", "PRAGMA "))
        ]
        assert sql == [], module
