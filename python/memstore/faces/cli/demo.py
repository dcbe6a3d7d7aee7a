"""``memstore demo``: a short example in a temporary file."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.faces.cli import command as cli
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse
    import shlex
    import shutil
    import tempfile
    from collections.abc import Iterator

    from rich import console

    from memstore.domain.records import Fact
    from memstore.faces.cli import demo_team, render_terminal
    from memstore.faces.cli.render_terminal import TerminalShow
    from memstore.faces.hosts import registration
    from memstore.faces.serving import opening
    from memstore.faces.web.server import run as server
    from memstore.store.store import Store
else:
    console = lazy_import("rich.console")
    demo_team = lazy_import("memstore.faces.cli.demo_team")
    registration = lazy_import("memstore.faces.hosts.registration")
    opening = lazy_import("memstore.faces.serving.opening")
    render_terminal = lazy_import("memstore.faces.cli.render_terminal")
    server = lazy_import("memstore.faces.web.server.run")
    shlex = lazy_import("shlex")
    shutil = lazy_import("shutil")
    tempfile = lazy_import("tempfile")

PIPED_WIDTH: Final = 80

FACTS: Final = (
    ("mira", "identity", "Mira Tanaka leads the Lighthouse project from Lisbon"),
    ("mira", "preference", "Mira is vegetarian and allergic to peanuts"),
    ("mira", "preference", "ミラさんは毎朝、緑茶を飲みます"),
    ("lighthouse", "project", "Lighthouse is deployed every Tuesday at 10:00 from main"),
    ("servers", "project", "The web servers run Debian 12 behind nginx"),
    ("servers", "project", "Nightly backups of the database go to a vault in Frankfurt"),
)
DEPLOYED: Final = 3
"""The one that is superseded."""

BY_WORDS: Final = ("when is Lighthouse deployed?", "緑茶")
BY_MEANING: Final = ("vegan food", "Portugal")
"""Queries that share no words with the facts they find."""

CORRECTION: Final = "Lighthouse is deployed on every merge, behind feature flags"

TASKS: Final = (
    ("Move the web servers to Debian 13", "agent", "normal", None),
    ("Renew the TLS certificate of lighthouse.example", "user", "high", "2026-12-01"),
)


@contextmanager
def temporary_file() -> Iterator[str]:
    """Yield the path of a file that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="memstore-demo-") as folder:
        yield str(Path(folder) / "demo.db")


@cli.command(
    "demo",
    "memstore demo\nmemstore demo --web",
    cli.option("--web", "show the memory of a made-up team in the browser, until Ctrl-C"),
    usage="[--web]",
    file="temporary",
    embedder="required",
)
def _tell(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    started = clock.monotonic()
    stage = _stage(show)
    if arguments.web:
        show_team(store, stage)
        return
    stage.panel(
        "memstore demo", "A small memory in a temporary file: no server, no key, no network."
    )
    stored = _store_facts(store, stage)
    _find(store, stage, "Find by words", BY_WORDS)
    _find(store, stage, "Find by meaning: not one word in common", BY_MEANING)
    _correct(store, stage, stored[DEPLOYED])
    _to_do(store, stage)
    _end(store, stage, clock.monotonic() - started)


def show_team(store: Store, stage: TerminalShow) -> None:
    """Fill the file with 300 sessions of a made-up team, and show them in the browser."""
    started = clock.monotonic()
    team = demo_team.fill(store)
    seconds = clock.monotonic() - started
    stage.panel("memstore demo", f"300 sessions of a made-up team, written in {seconds:.1f} s.")
    show_pages(team)


def show_pages(store: Store) -> None:
    try:
        serve = server.show
    except ImportError as error:
        raise cli.UsageError(cli.NO_PAGES.format(error=error)) from error
    serve(opening.Opening(lambda: store), None, opens_browser=True)


def _stage(show: cli.Show) -> TerminalShow:
    """Return a console, without colours unless it is a terminal."""
    if isinstance(show, render_terminal.TerminalShow):
        return show
    return render_terminal.TerminalShow(
        console.Console(width=PIPED_WIDTH, force_terminal=False, highlight=False)
    )


def _store_facts(store: Store, stage: TerminalShow) -> list[Fact]:
    stage.heading("Store what is worth keeping", "one claim, one subject")
    stored = []
    for subject, category, content in FACTS:
        fact = store.add(content, subject=subject, category=category)
        stage.line(
            (f"#{fact.id}  ", "bold cyan"),
            (f"{subject:<12}", "bold"),
            (content, ""),
            indent=4,
            hang=16,
        )
        stored.append(fact)
    return stored


def _find(store: Store, stage: TerminalShow, title: str, queries: tuple[str, ...]) -> None:
    stage.heading(title)
    for query in queries:
        hits = store.search(query, limit=1)
        why = ""
        if hits:
            why = f"   words {hits[0].word_score:.2f} · meaning {hits[0].vector_score:.2f}"
        stage.line(("? ", "bold yellow"), (query, "italic"), (why, "dim"), indent=4)
        for hit in hits:
            stage.line((f"#{hit.fact.id}  ", "bold cyan"), (hit.fact.content, ""), indent=6, hang=4)
        if hits.words_only:
            stage.note(f"searched by words only: {hits.words_only.reason}")


def _correct(store: Store, stage: TerminalShow, old: Fact) -> None:
    stage.heading("Correct it", "superseded, never overwritten")
    new = store.add(CORRECTION, subject=old.subject, category=old.category, supersedes=old.id)
    stage.line((f"$ memstore history {old.id}", "dim"), indent=4)
    stage.links(store.history(new.id), indent=4)


def _to_do(store: Store, stage: TerminalShow) -> None:
    stage.heading("Keep track of what is to be done")
    for content, scope, priority, due in TASKS:
        store.tasks.create(content, scope=scope, priority=priority, due=due, project="lighthouse")
    stage.tasks(store.tasks.list(), indent=4)


def _end(store: Store, stage: TerminalShow, seconds: float) -> None:
    status = store.status()
    counts = f"{status.active} active, {status.superseded} superseded, {status.pending} pending"
    embedded = f"{status.dimension} numbers per vector" if status.dimension else "words only"
    stage.line()
    stage.line(
        ("✓ ", "green"),
        (counts, "bold"),
        (f" · {embedded} · {seconds:.2f} s", "dim"),
    )
    stage.line()
    stage.line(
        ("Next: ", "bold"),
        (f"{_program()} setup", "cyan"),
        ("  registers memstore with your agents; --dry-run shows what it would change", "dim"),
    )


def _program() -> str:
    """Return how to call this program: as it was, if it is not on the PATH."""
    if any(registration.UV_CACHE.fullmatch(part) for part in Path(sys.prefix).parts):
        return "uvx --from pymemstore memstore"
    called = Path(sys.argv[0])
    is_known = shutil.which("memstore") or called.stem != "memstore"
    return "memstore" if is_known else shlex.quote(str(called))
