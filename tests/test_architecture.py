"""The folders: imports go down only, and each foreign library is imported in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.support.sources import inner_orders, parsed, rooms

DOCS = Path(__file__).parent.parent / "docs"

ROOMS = (
    "__main__",
    "faces",
    "",  # the package itself: the names it exports
    "adapters",
    "learn",
    "notes",
    "store",
    "file",
    "graph",
    "importing",
    "sync",
    "transfer",
    "telling",
    "episodes",
    "facts",
    "search",
    "history",
    "prompting",
    "embedding",
    "providers",
    "database",
    "text",
    "projects",
    "repositories",
    "vectors",
    "domain",
    "plain_http",
    "settings",
    "errors",
    "frozen",
    "named",
    "coroutines",
    "lazy",
)
"""From the top down: a module imports from its own folder and from those after it."""

DOORS = {
    "anthropic": {"adapters.anthropic"},
    "apsw": {
        f"database.sqlite.{name}"
        for name in (
            "copying",
            "disk",
            "engine",
            "locks",
            "marked",
            "memory",
            "objects",
            "recovery",
            "together",
            "transaction",
            "writer",
        )
    },
    "claude_agent_sdk": {"adapters.claude_agent"},
    "cryptography": {"sync.sealing"},
    "duckdb": {"database.foreign.duckdb_file"},
    "google": {"adapters.adk"},
    "fastembed": {"providers.fetched"},
    "httpx": {"providers.http"},
    "markdown_it": {"text.notes"},
    "langchain_core": {"adapters.langchain"},
    "mcp": {"faces.http.endpoint"},
    "mcp_types": {"faces.http.endpoint"},
    "memstore._kernel.PanicException": {"search.index.index"},
    "memstore._kernel.chain": {"database.acts", "database.journal", "history.chain"},
    "memstore._kernel.codes": {"search.index.contents"},
    "memstore._kernel.columns": {"search.index.contents", "search.index.visibility"},
    "memstore._kernel.features": {"search.index.contents"},
    "memstore._kernel.ids": {
        "database.tables.graph_reads",
        "database.tables.mention_blocks",
        "search.index.visibility",
        "search.lookups.base",
        "search.past",
    },
    "memstore._kernel.json": {"database.tables.facts", "domain.metadata"},
    "memstore._kernel.language": {
        "search.lookups.dates",
        "text.lexicon",
        "text.stop_words",
        "text.times",
        "text.words",
    },
    "memstore._kernel.locks": {"database.sqlite.disk", "database.sqlite.locks"},
    "memstore._kernel.mentions": {"database.tables.graph_reads", "database.tables.mention_blocks"},
    "memstore._kernel.model": {"providers.local"},
    "memstore._kernel.ranking": {
        "search.lookups.base",
        "search.lookups.indexed",
        "search.ranking",
        "telling.bearing",
    },
    "memstore._kernel.vectors": {
        "database.carrying",
        "database.sqlite.transaction",
        "database.tables.vectors",
        "embedding.vectors",
        "vectors",
    },
    "memstore._kernel.words": {
        "search.index.contents",
        "search.lookups.base",
        "search.lookups.database",
        "search.spelling",
    },
    "jwt": {"faces.http.provider_tokens"},
    "os.environ": {"settings"},
    "jinja2": {"faces.web.templating"},
    "prometheus_client": {"faces.http.metrics"},
    "psycopg": {
        f"database.postgres.{name}"
        for name in (
            "address",
            "administration",
            "arrays",
            "checks",
            "connection",
            "engine",
            "failures",
            "pools",
            "structure",
        )
    },
    "psycopg_pool": {"database.postgres.pools"},
    "yaml": {"text.notes"},
    "starlette": {
        *(
            f"faces.http.{name}"
            for name in (
                "device_files",
                "endpoint",
                "gate",
                "hooks",
                "metrics",
                "pages",
                "server",
            )
        ),
        "faces.serving.bodies",
        "faces.serving.loop",
        "faces.web.server.gate",
    },
    "uvicorn": {"faces.serving.loop"},
    "langgraph": {"adapters.langgraph"},
    "datetime.now": {"domain.clock"},
    "time": {
        "database.sqlite.disk",
        "database.sqlite.engine",
        "database.sqlite.foreign_log",
        "database.sqlite.memory",
        "database.sqlite.writer",
        "domain.clock",
    },
}

SQL = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA|WITH \w+ AS)\s")


def imported(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield every name a module imports, for types too: `from a import b` as `a.b`."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def lazily_imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the name and the module of each import on first use."""
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value
            if ast.unparse(call.func) == "lazy_import":
                yield ast.unparse(node.targets[0]), ast.literal_eval(call.args[0])


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module imports."""
    return {name_of(file): set(imported(nodes)) for file, nodes in parsed().items()}


def name_of(file: Path) -> str:
    return ".".join(part for part in file.with_suffix("").parts if part != "__init__")


def module_of(name: str) -> str | None:
    """Return the module of ours that an imported name belongs to."""
    if name.startswith("memstore._kernel") or name.split(".")[0] != "memstore":
        return None
    parts = name.split(".")[1:]
    while parts and ".".join(parts) not in imports():
        parts.pop()
    return ".".join(parts)


def below(module: str) -> set[str]:
    return {m for name in imports()[module] if (m := module_of(name)) is not None} - {module}


def room(module: str) -> int:
    return ROOMS.index(module.split(".")[0])


def test_imports_go_down_only() -> None:
    up = [
        (module, other)
        for module in imports()
        for other in below(module)
        if room(other) < room(module)
    ]
    assert up == []


def test_the_picture_of_the_folders_is_the_order_of_imports() -> None:
    assert [name.removesuffix("*") for name in rooms()] == [name or "memstore" for name in ROOMS]


def places(outer: str) -> dict[str, str]:
    """Return where each module inside a folder is: in which folder there, or in none (``.``)."""
    return {
        name_of(file): file.relative_to(outer).parts[0] if file.parent.as_posix() != outer else "."
        for file in parsed()
        if file.is_relative_to(outer)
    }


def test_imports_between_the_folders_inside_a_folder_go_down_only() -> None:
    up = [
        (module, other)
        for outer, pictured in inner_orders().items()
        for order in [[name.removesuffix("*") for name in pictured]]
        for place in [places(outer)]
        for module in place
        for other in below(module) & place.keys()
        if order.index(place[other]) < order.index(place[module])
    ]
    assert up == []


def test_the_picture_shows_every_folder_inside_a_folder() -> None:
    inside = {file.parent for file in parsed() if file.stem != "__init__"}
    outer = {folder.parent.as_posix() for folder in inside} - {"."}
    orders = inner_orders()
    assert orders.keys() == outer
    for folder, order in orders.items():
        assert {name.removesuffix("*") for name in order} == {*places(folder).values()}, folder


def test_the_files_and_names_on_the_architecture_page_exist() -> None:
    files = [
        file
        for folder in ("python", "rust", "tests")
        for file in (DOCS.parent / folder).rglob("*.*")
        if file.suffix in {".py", ".rs", ".sql", ".json"}
    ]
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    for path, named in re.findall(r"`([\w/]+\.(?:py|rs|sql|json))(?:: ([^`]+))?`", page):
        texts = [
            file.read_text(encoding="utf-8")
            for file in files
            if file.as_posix().endswith(f"/{path}")
        ]
        names = re.findall(r"\w+", named)
        assert any(all(name in text for name in names) for text in texts), (path, named)
    every = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for name in re.findall(r"`(?:\w+\.)*(\w+)`", page):
        assert re.search(rf"\b{name}\b", every), name


def test_there_are_no_circular_imports() -> None:
    rest = {module: below(module) for module in imports()}
    while ready := {module for module, needs in rest.items() if not needs & rest.keys()}:
        rest = {module: needs for module, needs in rest.items() if module not in ready}
    assert rest == {}


@pytest.mark.parametrize("library", DOORS)
def test_each_library_is_imported_in_one_place(library: str) -> None:
    users = {
        module
        for module, names in imports().items()
        if any(name == library or name.startswith(library + ".") for name in names)
    }
    users |= {
        name_of(file)
        for file, nodes in parsed().items()
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if f"{node.value.id}.{node.attr}" == library
    }
    assert users == DOORS[library]


def test_lazy_imports_match_those_for_type_checkers() -> None:
    for file, nodes in parsed().items():
        eager = {}
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                room = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                eager |= {alias.asname or alias.name: room + alias.name for alias in node.names}
        lazy = dict(lazily_imported(nodes))
        assert lazy == {name: eager.get(name) for name in lazy}, file


def test_imports_are_declared_at_the_top() -> None:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    users = {
        name_of(file)
        for file, nodes in parsed().items()
        for function in nodes
        if isinstance(function, functions)
        and any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(function))
    }
    assert users == set()


def test_only_the_database_and_its_opener_import_an_engine() -> None:
    users = {
        module
        for module in imports()
        if any(other.startswith("database.sqlite") for other in below(module))
        and not module.startswith("database.sqlite")
    }
    # PostgreSQL has the words of texts cut by the same tokenizer, so that they are found alike.
    words = {"database.postgres.full_text", "database.postgres.transaction"}
    assert users == {"database.foreign.sqlite_file", "store.opening", "store.recovery", *words}
    users = {
        module
        for module in imports()
        if any(other.startswith("database.postgres") for other in below(module))
        and not module.startswith("database.postgres")
    }
    assert users == {"store.opening", "store.servers"}


def test_only_learning_works_in_transactions_of_its_own_on_a_stores_facts() -> None:
    users = {
        module for module, names in imports().items() if "memstore.store.store.facts_of" in names
    }
    assert users == {"learn.extraction"}
    private = {
        name_of(file)
        for file, nodes in parsed().items()
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith("store._facts")
    }
    assert private == {"store.store"}


def test_sql_is_only_in_the_database_folder() -> None:
    texts = [
        (str(file), node.value)
        for file, nodes in parsed().items()
        if file.parts[0] != "database"
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert [(file, text) for file, text in texts if SQL.match(text)] == []
