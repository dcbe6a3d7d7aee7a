"""The argument parser, its messages about wrong usage, and the exit codes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final, NoReturn

from memstore.faces.options import HelpFormatter
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import difflib
    from collections.abc import Sequence

    from memstore.text import addresses
else:
    addresses = lazy_import("memstore.text.addresses")
    difflib = lazy_import("difflib")

REFUSED: Final = 1
WRONG_USAGE: Final = 2
STORAGE_TROUBLE: Final = 3
EMBEDDER_TROUBLE: Final = 4

EXIT_CODES: Final = """\
exit codes:
  0    success, also if a search or list found nothing
  1    refused: no such fact, a conflict, a damaged export, something that
       nobody confirmed, or the doctor found faults
  2    wrong usage: an unknown option or an invalid argument
  3    the database or a file could not be read or written
  4    the embedder or the language model failed, or the file's vectors are
       from another model
  130  interrupted; 141: the output was closed early"""


SERVES: Final = "memstore-mcp serves, over pipes or with --http HOST:PORT"
ELSEWHERE: Final = {
    "serve": SERVES,
    "server": SERVES,
    "mcp": SERVES,
    "install": "memstore setup registers the server with hosts",
    "init": "memstore add creates the file, and memstore setup registers the server with hosts",
    "store": "memstore add stores a fact",
    "find": "memstore search finds facts",
    "config": "memstore status shows what is in use, memstore --help the flags and variables, and "
    "memstore setup registers with hosts",
    "settings": "memstore status shows what is in use, memstore --help the flags and variables",
    "fix": "memstore doctor finds faults, and memstore doctor --rebuild repairs them",
    "repair": "memstore doctor finds faults, and memstore doctor --rebuild repairs them",
    "remove": "memstore delete deletes a fact, memstore erase also removes its text from the file",
    "rm": "memstore delete deletes a fact, memstore erase also removes its text from the file",
}
"""Names that other programs use, and the command for each."""


SAME: Final = (
    ("add", "create", "new", "store", "save", "record", "insert"),
    ("list", "ls", "all", "show"),
    ("get", "show", "view", "read", "cat"),
    ("search", "find", "query", "grep"),
    ("update", "edit", "change", "modify", "set", "done", "complete", "close", "start"),
    ("erase", "revoke", "drop", "remove", "delete", "rm", "del"),
    ("build", "create", "make"),
    ("accept", "approve", "confirm", "yes"),
    ("reject", "decline", "refuse", "deny", "no"),
    ("neighbours", "neighbors", "related"),
    ("apart", "separate", "split", "distinct"),
    ("merge", "join", "same", "combine"),
    ("forget", "undo"),
)
"""Names of commands, each with words that are typed for it."""


ALIKE: Final = 0.7
"""How similar an option must be to be suggested."""


class UsageError(ValueError):
    """The command line is invalid."""


class Unconfirmed(UsageError):
    """What has to be confirmed was not, and there is no terminal to ask at."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises its errors and suggests a fix."""

    commands: Sequence[str] = ()
    """All command names, if the parser has only some of them."""

    _given: Sequence[str] = ()

    def __init__(self, **details: Any) -> None:
        details.setdefault("formatter_class", HelpFormatter)
        super().__init__(allow_abbrev=False, **details)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and report unknown arguments with this command's usage, not its parent's."""
        self._given = list(args or ())
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            guess = self._near_option(unknown[0])
            self.error(f"unrecognized arguments: {' '.join(unknown)}{guess}")
        return known, []

    def error(self, message: str) -> NoReturn:
        dashed = self._dashed()
        guess = self._near_option(dashed) if dashed else ""
        if guess and message.startswith("the following"):
            message += f", and {dashed!r} is no option{guess}"
        elif dashed and not guess and message.startswith(("unrecognized", "the following")):
            message += f" (if {dashed!r} is text, put -- before it)"
        elif dashed and message.endswith("expected one argument"):
            message += f" (if {dashed!r} is its value, join the two with =)"
        raise UsageError(f"{addresses.masked(message)}; see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            if self.commands and value in ELSEWHERE:
                self.error(f"there is no command {value!r}: {ELSEWHERE[value]}")
            meant = _meant(value, self.commands or [*action.choices])
            guess = f" (did you mean {meant}?)" if meant else ""
            self.error(f"there is no command {value!r}{guess}")
        super()._check_value(action, value)

    def _near_option(self, word: str) -> str:
        """Return a question that names the option most like this one, if any is."""
        given = word.partition("=")[0].removeprefix("--")
        named = [one[2:] for one in self._option_string_actions if one.startswith("--")]
        near = difflib.get_close_matches(given, named, n=1, cutoff=ALIKE)
        is_typo = word.startswith("--") and near and near[0] != given
        return f" (did you mean --{near[0]}?)" if is_typo else ""

    def _dashed(self) -> str | None:
        """Return a word that starts with a dash but is not an option and may be meant as text."""
        if not self._get_positional_actions():
            return None
        for word in self._given:
            if word == "--":
                break
            if word[:1] == "-" and len(word) > 1:
                names = {word.partition("=")[0], word[:2]}  # a short one may be joined to its value
                if names.isdisjoint(self._option_string_actions):
                    return word
        return None


def _meant(word: str, commands: Sequence[str]) -> str | None:
    """Return the command of this meaning, or of the most similar spelling."""
    words = {name: name for name in commands}
    for group in SAME:
        if (command := next((one for one in group if one in commands), None)) is not None:
            words |= {other: command for other in group if other not in words}
    near = difflib.get_close_matches(word, words, n=1)
    return words[near[0]] if near else None
