"""Writes into ``docs/cli.md`` what the command line says of itself: ``python docs/commands.py``.

The page has a section for each command, in the order of ``memstore --help``. Its summary, its usage
and the table of its options are made here; what stands below the line ``<!-- written by hand -->``
is kept.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from memstore import settings
from memstore.faces.cli import main as face

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("cli.md")
BY_HAND = "<!-- written by hand -->"
LIST = re.compile(r"(<!-- commands -->\n).*?(<!-- end -->)", re.DOTALL)
SHARED = re.compile(r"(<!-- options of every command -->\n).*?(<!-- end -->)", re.DOTALL)
NARROWING = re.compile(r"(<!-- conditions -->\n).*?(<!-- end -->)", re.DOTALL)
FIRST, LAST = "\n## Store and correct\n", "\n## Output\n"
"""Between these headings are the commands."""
CONDITIONS = (
    "--subject", "--category", "--filter", "--after", "--before", "--valid-after",
    "--valid-before", "--valid-on",
)  # fmt: skip
TOGETHER = {
    "[what they are about, and when](#conditions)": (8, CONDITIONS),
    "[whose](#owners)": (3, ("--user", "--agent", "--run", "--scope")),
    "[the language model](learning.md#generators) that reads the text": (
        3,
        ("--generator", "--generator-model", "--generator-url"),
    ),
}
"""What stands in one row, if a command has that many of the options."""
DEFAULT_FILE = "~/.local/share/memstore/memory.db"
"""Where the file is on Linux; the page is the same on every system."""


def page(text: str) -> str:
    """Return the page with what the catalogue of commands says now."""
    head, _, rest = text.partition(FIRST)
    commands, _, foot = f"{FIRST}{rest}".partition(LAST)
    written = {name: _by_hand(name, body) for name, body in _sections(commands)}
    head = LIST.sub(lambda found: f"{found[1]}{_contents()}{found[2]}", head)
    head = SHARED.sub(lambda found: f"{found[1]}{_shared()}{found[2]}", head)
    head = NARROWING.sub(lambda found: f"{found[1]}{_conditions()}{found[2]}", head)
    return "\n".join([head.rstrip("\n"), *_groups(written), f"{LAST}{foot}".lstrip("\n")])


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each section; signs in blocks of code begin none."""
    name, lines, is_code = "", [], False
    for line in text.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        if not is_code and line.startswith(("## ", "### ")):
            yield name, "\n".join(lines)
            name, lines = line.lstrip("#").strip().strip("`"), []
        else:
            lines.append(line)
    yield name, "\n".join(lines)


def _by_hand(name: str, body: str) -> str:
    if name not in face.COMMANDS:
        return body.strip()  # what stands below the heading of a group
    return body.partition(BY_HAND)[2].strip()


def _groups(written: dict[str, str]) -> Iterator[str]:
    parsers = _parsers()
    for title, group in face.GROUPS.items():
        yield f"\n## {_heading(title)}\n"
        if introduction := written.get(_heading(title)):
            yield f"{introduction}\n"
        for name, entry in group.items():
            yield f"### `{name}`\n"
            yield entry.summary
            yield f"\n    {parsers[name].usage}\n"
            if rows := [*_rows(parsers[name])]:
                yield "\n".join(["| option | |", "|---|---|", *rows, ""])
            if below := written.get(name):
                yield f"{BY_HAND}\n\n{below}\n"


def _heading(title: str) -> str:
    return title[0].upper() + title[1:].partition(" (")[0]


def _contents() -> str:
    return "".join(
        f"- [{_heading(title)}](#{_anchor(_heading(title))}): "
        + ", ".join(f"[`{name}`](#{_anchor(name)})" for name in group)
        + "\n"
        for title, group in face.GROUPS.items()
    )


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _parsers() -> dict[str, argparse.ArgumentParser]:
    found = {}
    for parser in _all_parsers(face.parser()):
        if command := parser.get_default("command"):
            found[command.name] = parser
    return found


def _all_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from _all_parsers(one)


def _common(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [
        action
        for group in parser._action_groups
        if group.title == "options of every command"
        for action in group._group_actions
    ]


def _shared() -> str:
    top = face.parser([])
    rows = [_row(top, action) for action in _common(top)]
    return "\n".join(["| option | |", "|---|---|", *rows, ""])


def _conditions() -> str:
    parser = _parsers()["search"]
    rows = [_row(parser, one) for one in parser._actions if {*one.option_strings} & {*CONDITIONS}]
    return "\n".join(["| option | |", "|---|---|", *rows, ""])


def _rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a row for each argument and option, but for those of every command."""
    shown = [
        action
        for action in parser._actions
        if action not in _common(parser) and action.help not in (None, argparse.SUPPRESS)
        if not isinstance(action, argparse._HelpAction)
    ]
    taken: list[argparse.Action] = []
    rows = []
    for meaning, (least, names) in TOGETHER.items():
        some = [action for action in shown if {*action.option_strings} & {*names}]
        if len(some) >= least:
            some = [action for action in some if action.metavar != "WHO"]  # the scope of a task
            rows.append(f"| {', '.join(_named(action) for action in some)} | {meaning} |")
            taken += some
    yield from (_row(parser, action) for action in shown if action not in taken)
    yield from rows


def _row(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    meaning = (action.help or "") % {**vars(action), "prog": parser.prog}
    meaning = meaning.replace(str(settings.default_path()), DEFAULT_FILE)
    return f"| {_named(action)} | {meaning.replace('|', chr(92) + '|').replace('<', '&lt;')} |"


def _named(action: argparse.Action) -> str:
    value = action.metavar
    if value is None and action.choices:
        value = f"{{{','.join(map(str, action.choices))}}}"
    elif isinstance(value, tuple):
        value = " ".join(value)
    if action.option_strings:
        names = ", ".join(action.option_strings)
        value = f"{names} {value}" if action.nargs != 0 and value else names
    return f"`{str(value).replace('|', chr(92) + '|')}`"


def main() -> int:
    text = PAGE.read_text("utf-8")
    PAGE.write_text(page(text), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
