"""What a command of the command line is, and how its arguments are read."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.metadata import DECODER, OPERATORS, MetadataFilter
from memstore.domain.records import EVERYBODY, Scope
from memstore.domain.results import RANKINGS
from memstore.faces.cli.usage import EMBEDDER_TROUBLE as EMBEDDER_TROUBLE
from memstore.faces.cli.usage import REFUSED as REFUSED
from memstore.faces.cli.usage import UsageError as UsageError
from memstore.faces.options import chosen_settings, open_generator
from memstore.settings import MIN_RELEVANCE

if TYPE_CHECKING:
    from memstore.domain.protocols import JSONGenerator
    from memstore.domain.records import AskedScope
    from memstore.domain.repairs import Repair
    from memstore.faces.cli.render import JsonShow, PlainShow
    from memstore.faces.cli.render_terminal import TerminalShow
    from memstore.store.store import Store

FILTER: Final = re.compile(
    r"(?P<key>[^=<>!]+?)\s*(?P<op>==|!=|<=|>=|=|<|>)\s*(?P<value>.*)", re.DOTALL
)

Show: TypeAlias = "JsonShow | PlainShow | TerminalShow"
"""The verbs a command answers with."""

Run: TypeAlias = Callable[[Any, argparse.Namespace, Show], int | None]
"""Takes the store, or ``None`` where the file stays closed."""
Option: TypeAlias = Callable[[argparse._ActionsContainer], object]
"""Adds one argument, or several that belong together, to a parser."""
File: TypeAlias = Literal["made", "there", "temporary", "closed"]
Need: TypeAlias = Literal["unused", "optional", "needed"]


class Command(NamedTuple):
    """One command: its arguments, and what it does; :mod:`.catalogue` says it in a sentence."""

    name: str
    example: str
    """How it is used; lines a shell would take."""
    options: Sequence[Option]
    usage: str | None
    """What follows the name, in short; its positional arguments by default."""
    file: File
    """Whether a file that is not there yet is made; one that only reads has nothing to read. The
    file stays closed for what replaces it."""
    embedder: Need
    """Without one a command opens any file; ``optional`` does so when the models do not fit."""
    run: Run
    """Answers; returns the exit code, ``None`` for 0."""


def command(
    name: str,
    example: str,
    *options: Option,
    usage: str | None = None,
    file: File = "there",
    embedder: Need = "unused",
) -> Callable[[Run], Command]:
    return partial(Command, name, example, options, usage, file, embedder)


def one_of(*options: Option) -> Option:
    """Describe arguments of which one at most may be given."""

    def add(parser: argparse._ActionsContainer) -> None:
        group = parser.add_mutually_exclusive_group()
        for one in options:
            one(group)

    return add


def option(names: str, meaning: str, **details: Any) -> Option:
    """Describe an argument: ``ID``, ``left NAME``, ``--limit N``, or a switch: ``--all``."""
    words = names.split()
    called = [word for word in words if word.startswith("-")]
    if len(words) > len(called):
        details["metavar"] = words[-1]
    elif not details.keys() & {"choices", "action"}:
        details["action"] = "store_true"
    called = called or [words[0].lower()]
    return lambda parser: parser.add_argument(*called, help=meaning, **details)


def metadata_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the metadata that was given; ``-m`` wins over ``--metadata``."""
    return {**(arguments.metadata or {}), **dict(arguments.pairs or ())}


def fact_id(text: str) -> int:
    """Read the id of a fact; ``#12`` is understood as well."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise argparse.ArgumentTypeError(f"an id is a whole number such as 12, not {text!r}")
    if not 0 < (number := int(digits)) <= MAX_NUMBER:
        raise argparse.ArgumentTypeError(f"no fact has the id {text}")
    return number


def count(text: str, least: int = 1) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= least):
        raise argparse.ArgumentTypeError(f"a whole number, {least} or more, not {text!r}")
    return int(text)


def metadata_filter(text: str) -> MetadataFilter:
    """Read ``key>=3``: a key, an operator, and a value that is JSON or else text."""
    match = FILTER.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"a condition is a key, one of {' '.join(OPERATORS)}, and a value, not {text!r}"
        )
    op = "=" if match["op"] == "==" else match["op"]
    try:
        return MetadataFilter(match["key"], op, json_or_text(match["value"]))
    except (TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def metadata_pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not (key.strip() and equals):
        raise argparse.ArgumentTypeError(f"metadata is given as key=value, not {text!r}")
    return key.strip(), json_or_text(value)


def json_or_text(text: str) -> Any:
    """Return the value a text is the JSON of, or the text itself."""
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        return text


def json_object(text: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('metadata is a JSON object such as {"lang": "en"}')
    return value


def names(text: str) -> str | list[str]:
    """Read namespaces separated by commas; ``all`` means every one."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("name a namespace, several with commas between, or all")
    return "all" if found == ["all"] else found


def content_of(text: str) -> str:
    """Return the content given, or standard input where ``-`` was given."""
    return standard_input().strip() if text == "-" else text


@contextmanager
def needed_generator(
    arguments: argparse.Namespace, command: str, or_else: str = ""
) -> Iterator[JSONGenerator]:
    """Make the language model that was chosen, for one command, and close it afterwards.

    ``or_else`` says how to do without, as the rest of a sentence.
    """
    with open_generator(chosen_settings(arguments)) as generator:
        if generator is None:
            raise UsageError(
                f"{command} needs a language model to read with: name one with --generator "
                f"ollama|openai|anthropic or MEMSTORE_GENERATOR{or_else}"
            )
        yield generator


def standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 text (byte {error.start}): convert it first, for example "
            "with iconv -f latin1 -t utf-8"
        ) from None


def agreed_to_erase(tell: Callable[[], str]) -> bool:
    """Ask whether something is to be erased for good; ``tell`` says in one line what it is."""
    if not _can_ask():
        raise UsageError(
            "erasing cannot be undone: confirm it with --yes where there is no terminal"
        )
    print(tell(), file=sys.stderr)
    print("Erase it for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


BYTES_REMAIN: Final = (
    "another process is using the file: the text can be seen no more, and its bytes go "
    "when the last one closes it, or with the same command again"
)

ID: Final = option("ID", "the fact's id", type=fact_id)
YES: Final = option("--yes", "do not ask")
OFFSET: Final = option(
    "--offset N", "how many to pass over first", type=partial(count, least=0), default=0
)
NEWEST: Final = option("--newest", "the newest first")
EXPIRES_AT: Final = option("--expires-at TIME", "from when on it no longer counts")

NARROWING: Final = (
    option("--subject NAME", "only facts about this"),
    option("--category NAME", "only facts of this category"),
    option(
        "-f --filter CONDITION",
        "a condition on metadata, e.g. 'priority>=3' or 'lang=en'; operators "
        f"{' '.join(OPERATORS).replace('%', '%%')}; may be repeated",
        dest="filters",
        type=metadata_filter,
        action="append",
    ),
    option("--after TIME", "only stored after this"),
    option("--before TIME", "only stored before this"),
    option("--valid-after TIME", "only what holds since after this"),
    option("--valid-before TIME", "only what holds since before this"),
    option("--all", "superseded and expired facts too", dest="everything"),
)

METADATA: Final = (
    option(
        "-m KEY=VALUE",
        "one value of metadata; read as JSON if it is JSON (3, true, null), else as text; "
        "may be repeated",
        dest="pairs",
        type=metadata_pair,
        action="append",
    ),
    option("--metadata JSON", "metadata as a JSON object", type=json_object),
)

THREAD: Final = option("--thread NAME", "the conversation it is part of; each owner has its own")
SEQ: Final = option(
    "--seq N", "its place there (default: behind the last)", type=partial(count, least=0)
)

OWNERS: Final = (
    option("--user ID", "whose it is", dest="user_id"),
    option("--agent ID", "and which agent's", dest="agent_id"),
    option("--run ID", "and which run's", dest="run_id"),
)


WHOSE: Final = (
    *OWNERS,
    option("--scope", "all: of any owner", dest="whose", choices=(EVERYBODY,)),
)
"""What a command looks for: what belongs to the owners named, or to nobody."""


CONTEXT: Final = option(
    "--context N",
    "show so many neighbours on either side of each in its conversation, up to 10",
    type=partial(count, least=0),
    default=0,
)


RELEVANCE: Final = option(
    "--min-relevance X",
    f"find nothing if nothing is so relevant, 0 to 1 (default: {MIN_RELEVANCE})",
    type=float,
    default=MIN_RELEVANCE,
)

RANKING: Final = (
    option(
        "--ranking NAME",
        "threads: look at conversations, names and dates, too (default); classic: words and"
        " meaning alone",
        choices=RANKINGS,
    ),
    RELEVANCE,
    option("--explain", "show what each score is made of"),
)
"""The options of both searches on how what is found is ranked."""


def limit(default: int | None = None) -> Option:
    told = f" (default: {default})" if default else ""
    return option("--limit N", f"how many at most{told}", type=count, default=default)


def active_now(done: Repair) -> str:
    return ", ".join(f"#{fact.id}" for fact in done.active) or "none of these facts"


def scope_of(arguments: argparse.Namespace) -> Scope:
    """Return the owners that were named; ValueError if one of them is blank."""
    return Scope(**owners_of(arguments))


def scope_if_named(arguments: argparse.Namespace) -> Scope | None:
    """Return the owners that were named; ``None`` if none was, which means everybody's."""
    scope = scope_of(arguments)
    return None if scope == Scope() else scope


def whose(arguments: argparse.Namespace) -> AskedScope:
    """Return the owners that were named, nobody being none, or ``"all"``."""
    scope = scope_of(arguments)
    if arguments.whose != EVERYBODY:
        return scope
    if scope != Scope():
        raise UsageError("--scope all goes with no owner")
    return EVERYBODY


def same_owners(arguments: argparse.Namespace) -> str:
    """Return the flags with which another command reaches what this one did."""
    if getattr(arguments, "whose", None) == EVERYBODY:
        return " --scope all"
    named = (("--user", "user_id"), ("--agent", "agent_id"), ("--run", "run_id"))
    given = [(flag, getattr(arguments, name)) for flag, name in named]
    return "".join(f" {flag} {quote(owner)}" for flag, owner in given if owner is not None)


def known_id(store: Store, arguments: argparse.Namespace) -> int:
    """Return the id that was given, if that fact belongs to the owners that are meant."""
    store.check_owners(whose(arguments), arguments.id)
    return int(arguments.id)


def owners_of(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("user_id", "agent_id", "run_id")}
