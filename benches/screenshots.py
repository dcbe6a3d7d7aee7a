"""Pictures of every page with 0, 1 and 100,000 facts, light and dark, narrow and wide.

    python -m benches.screenshots OUTPUT [--folder FOLDER] [--facts 0 1 100000]
    python -m benches.screenshots docs --team

The large file is that of :mod:`benches.page_times`. Needs Chromium and playwright. Each picture is
of the whole page, at most 6,000 pixels of it. Pages that fail, that write to the console or that
are wider than the window are named, and end the program with 1. With ``--team`` they are instead
the four of ``docs/web.md``, of the memory that ``memstore demo --web`` shows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.chromium import Watch, chromium
from tests.support.web_server import WebServer

import memstore
from benches import page_times
from benches.page_times import Visitor
from memstore import Store
from memstore.faces.cli import demo_team

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
HEIGHT = 900
MOST = 6_000
"""The most pixels of a picture's height."""

TRIED = "which port does staging of berths use?"
"""The prompt that the picture of Home shows the answer to."""

PLAIN = (
    "search", "sessions", "subjects", "inbox", "timeline", "log", "answers", "answers/given",
    "tasks", "owners", "owners/empty", "state", "erase", "nothing",
)  # fmt: skip


def fresh(path: Path) -> Path:
    """Remove a file, and what a server that was killed left beside it."""
    for end in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    return path


def memory(folder: Path, facts: int) -> Path:
    """Return a file with so many facts."""
    if facts > 1:
        return page_times.file_of(folder, facts)
    path = fresh(folder / f"screens-{facts}.db")
    with memstore.open(path, embedder="local") as store:
        if facts:
            said = store.episodes.add("Ana: the kettle is blue", source="chat", speaker="ana")
            store.add("The kettle is blue", subject="kettle", episode_id=said.id)
    return path


def addresses(visitor: Visitor, store: Store, facts: int) -> Iterator[tuple[str, str]]:
    """Yield the addresses of pages by name."""
    if facts > 1:
        every = page_times.addresses(visitor, store)
        yield from ((name, path) for name, path in every if not path.startswith("pulse"))
        return
    answer = visitor.post("search", {"query": "which colour is the kettle?"})
    yield "home", ""
    yield "search", answer.location.removeprefix(visitor.base)
    yield from ((path.replace("/", " "), path) for path in PLAIN)
    if facts:
        paths = ("subject/1", "subject/1/removed", "fact/1", "fact/1/correct", "fact/1/metadata")
        more = (
            "session/1",
            "episode/1",
            "erase/fact/1",
            "erase/subject/1",
            "erase/episode/1",
            "undo/1",
        )
        yield from ((path.replace("/", " "), path) for path in (*paths, *more))


def pictured(browser: Any, folder: Path, output: Path, facts: int) -> list[str]:
    """Make the pictures over one memory; return what is wrong."""
    path = memory(folder, facts)
    server = WebServer(path, folder / "user", "--embedder", "local", "--no-browser")
    wrong: list[str] = []
    try:
        visitor = Visitor(server)
        with memstore.open(path, embedder="local", read_only=True) as store:
            pages = [*addresses(visitor, store, facts)]
        name, _, value = visitor.cookie.partition("=")
        cookie = {"name": name, "value": value, "url": server.url + visitor.base}
        for scheme in SCHEMES:
            context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
            context.add_cookies([cookie])
            page = context.new_page()
            watch = Watch(page, server.url)
            for title, address in pages:
                page.goto(server.url + visitor.base + address)
                for width in WIDTHS:
                    page.set_viewport_size({"width": width, "height": HEIGHT})
                    size = page.evaluate(
                        "[document.documentElement.scrollWidth, document.body.scrollHeight]"
                    )
                    where = f"{facts}-{re.sub('[^a-z0-9]+', '-', title)}-{scheme}-{width}"
                    if size[0] > width:
                        wrong.append(f"{where}: {size[0]} pixels wide")
                    clip = {"x": 0, "y": 0, "width": width, "height": min(size[1], MOST)}
                    page.screenshot(path=output / f"{where}.png", clip=clip, full_page=True)
                if title != "nothing":
                    wrong += [f"{title}: {line}" for line in watch.complaints]
                watch.complaints.clear()
            context.close()
    finally:
        server.close()
    return wrong


def of_team(browser: Any, folder: Path, output: Path) -> list[str]:
    """Make the pictures of the documentation; return what is wrong."""
    path = fresh(folder / "memory.db")
    with memstore.open(path, embedder="local") as store:
        team = demo_team.fill(store)
        shown = max(team.list(limit=None), key=lambda fact: len(team.history(fact.id)))
        session = next(one for one in team.episodes.sessions() if one.learnt).last_id
    home = folder / "home"  # the folder of the project decides the namespace, as on a machine
    (home / "work" / "harbour" / ".git").mkdir(parents=True, exist_ok=True)
    variables = {"HOME": str(home), "MEMSTORE_PROJECT": str(home / "work" / "harbour")}
    flags = ("--embedder", "local", "--namespace", "auto", "--no-browser")
    server = WebServer(path, folder / "user", *flags, **variables)
    try:
        visitor = Visitor(server)
        name, _, value = visitor.cookie.partition("=")
        context = browser.new_context(reduced_motion="reduce")
        context.add_cookies([{"name": name, "value": value, "url": server.url + visitor.base}])
        page = context.new_page()
        page.set_viewport_size({"width": WIDTHS[1], "height": HEIGHT})
        watch = Watch(page, server.url)
        addresses = {
            "home": "",
            "session": f"session/{session}",
            "fact": f"fact/{shown.id}",
            "inbox": "inbox",
        }
        for title, address in addresses.items():
            page.goto(server.url + visitor.base + address)
            if title == "home":
                page.fill("#field-prompt", TRIED)
                page.press("#field-prompt", "Enter")
                page.wait_for_selector("#told-prompt")
                page.evaluate("document.activeElement.blur()")
            page.screenshot(path=output / f"{title}.png")
        context.close()
        return watch.complaints
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    parser.add_argument("--team", action="store_true")
    parser.add_argument("--facts", type=int, nargs="+", default=[0, 1, 100_000])
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    wrong: list[str] = []
    with chromium() as browser:
        if chosen.team:
            wrong += of_team(browser, chosen.folder, chosen.output)
        for facts in () if chosen.team else chosen.facts:
            wrong += pictured(browser, chosen.folder, chosen.output, facts)
    print("\n".join(wrong) or "nothing is wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
