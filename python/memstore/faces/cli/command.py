"""The definition of a command, and the parsing of its arguments."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from memstore.domain.arguments import MAX_NUMBER, why_no_json
from memstore.domain.metadata import DECODER, OPERATORS, MetadataFilter
from memstore.domain.records import EVERYBODY, AtLeast, Scope
from memstore.domain.results import RANKINGS
from memstore.faces.cli.ids import UuidEnd
from memstore.faces.cli.usage import EMBEDDER_TROUBLE as EMBEDDER_TROUBLE
from memstore.faces.cli.usage import REFUSED as REFUSED
from memstore.faces.cli.usage import Unconfirmed as Unconfirmed
from memstore.faces.cli.usage import UsageError as UsageError
from memstore.faces.options import add_option, chosen_settings
from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple
from memstore.settings import MIN_RELEVANCE

if TYPE_CHECKING:
    import shlex
    from collections.abc import Collection, Sized

    from memstore import errors
    from memstore.domain import chains, moments
    from memstore.domain import notes as domain_notes
    from memstore.domain.notes import Note
    from memstore.domain.protocols import JSONGenerator
    from memstore.domain.records import OwnersSelection
    from memstore.domain.repairs import RepairedFact
    from memstore.faces import from_settings
    from memstore.faces.cli import flags, notes
    from memstore.faces.cli.render import JsonShow, PlainShow
    from memstore.faces.cli.render_terminal import TerminalShow
    from memstore.file import paths
    from memstore.store import answers
    from memstore.store.store import Store
    from memstore.store.view import View
else:
    chains = lazy_import("memstore.domain.chains")
    errors = lazy_import("memstore.errors")
    moments = lazy_import("memstore.domain.moments")
    paths = lazy_import("memstore.file.paths")
    from_settings = lazy_import("memstore.faces.from_settings")
    answers = lazy_import("memstore.store.answers")
    domain_notes = lazy_import("memstore.domain.notes")
    flags = lazy_import("memstore.faces.cli.flags")
    notes = lazy_import("memstore.faces.cli.notes")
    shlex = lazy_import("shlex")

FILTER: Final = lazy_pattern(
    r"(?P<key>[^=<>!]+?)\s*(?P<op>==|!=|<=|>=|=|<|>)\s*(?P<value>.*)", re.DOTALL
)

NO_PAGES: Final = (
    "memstore web needs packages that are not installed ({error}): pip install 'pymemstore[web]', "
    "or in the sources of memstore pip install '.[web]'"
)

Show: TypeAlias = "JsonShow | PlainShow | TerminalShow"
"""The output formats of a command."""

Run: TypeAlias = Callable[[Any, argparse.Namespace, Show], int | None]
"""Takes the store, or ``None`` for a command that does not open the file."""
Option: TypeAlias = Callable[[argparse._ActionsContainer], object]
"""Adds one argument, or a group of them, to a parser."""
File: TypeAlias = Literal["create", "existing", "temporary", "none"]
Need: TypeAlias = Literal["unused", "optional", "required"]


class Command(NamedTuple):
    """One command: its arguments and its action. :mod:`.catalogue` has its summary."""

    name: str
    example: str
    """One shell command per line."""
    options: Sequence[Option]
    usage: str | None
    """The usage line after the name; by default the positional arguments."""
    file: File
    """``create`` makes a missing file, or memory on a server, ``existing`` refuses one;
    ``temporary`` uses a temporary file and ``none`` opens no file."""
    embedder: Need
    """``unused`` opens a file of any embedding model, ``optional`` does so if the models differ."""
    run: Run
    """Returns the exit code; ``None`` means 0."""
    shows_part: bool = False
    """Whether it shows what one namespace holds: who chose none is told of the others."""


def command(
    name: str,
    example: str,
    *options: Option,
    usage: str | None = None,
    file: File = "existing",
    embedder: Need = "unused",
    shows_part: bool = False,
) -> Callable[[Run], Command]:
    def define(run: Run) -> Command:
        return Command(name, example, options, usage, file, embedder, run, shows_part)

    return define


def one_of(*options: Option) -> Option:
    """Make options mutually exclusive."""

    def add(parser: argparse._ActionsContainer) -> None:
        group = parser.add_mutually_exclusive_group()
        for one in options:
            one(group)

    return add


def option(names: str, meaning: str, **details: Any) -> Option:
    """Define an argument or a switch, as :func:`add_option` adds it."""
    return partial(add_option, names=names, meaning=meaning, **details)


def given(arguments: argparse.Namespace, names: str) -> dict[str, Any]:
    """Return arguments by their names, which are those of the library's keywords too."""
    return {name: getattr(arguments, name) for name in names.split()}


def metadata_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the given metadata; ``-m`` overrides ``--metadata``."""
    return {**(arguments.metadata or {}), **dict(arguments.pairs or ())}


def patch_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the given changes of metadata; ``None`` removes a key."""
    return {**metadata_of(arguments), **dict.fromkeys(arguments.unset)}


def _ids_are_shown_by(text: str) -> str:
    if not text.strip():
        return "memstore list shows the ids"
    if text.endswith((".db", ".sqlite", ".sqlite3")) or "/" in text:
        return f"memstore recover {shlex.quote(text[:60])} brings a backup file back"
    return f"memstore list --subject {shlex.quote(text[:60])} shows the ids of a subject"


def fact_id(text: str) -> int:
    """Parse a fact's id: ``12``, ``#12``, or the last digits of its UUID."""
    end = UuidEnd.of(text, "fact")
    return number_id(text) if end is None else end


def number_id(text: str) -> int:
    """Parse an id: ``12`` or ``#12``."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise argparse.ArgumentTypeError(
            f"an id is a whole number such as 12, not {text!r} ({_ids_are_shown_by(text)})"
        )
    if not 0 < (number := int(digits)) <= MAX_NUMBER:
        raise argparse.ArgumentTypeError(f"no fact has the id {text}")
    return number


def count(text: str, least: int = 1) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= least):
        raise argparse.ArgumentTypeError(f"a whole number, {least} or more, not {text!r}")
    return int(text)


def metadata_filter(text: str) -> MetadataFilter:
    """Parse ``key>=3``: a key, an operator, and a value that is JSON or else text."""
    match = FILTER.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"a condition is a key, one of {' '.join(OPERATORS)}, and a value, not {text!r}"
        )
    op = "=" if match["op"] == "==" else match["op"]
    if match["op"] == "=" and (swapped := match["value"][:1]) in ("<", ">", "!"):
        raise argparse.ArgumentTypeError(
            f"there is no operator '={swapped}': write {swapped}=, or == before a value that "
            f"begins with {swapped}"
        )
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
    """Decode a text as JSON, or return it unchanged if it is not JSON."""
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        return text


def json_object(text: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not valid JSON: {why_no_json(error)}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('metadata is a JSON object such as {"lang": "en"}')
    return value


def names(text: str) -> str | list[str]:
    """Parse comma-separated namespaces; ``all`` means every one."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("name a namespace, several separated by commas, or all")
    return "all" if found == ["all"] else found


def content_of(words: str | Sequence[str]) -> str:
    """Return the text, whose words need no quotes, or standard input for ``-``."""
    text = words if isinstance(words, str) else " ".join(words)
    return standard_input().strip() if text == "-" else text


@contextmanager
def needed_generator(
    arguments: argparse.Namespace, command: str, or_else: str = ""
) -> Iterator[JSONGenerator]:
    """Open the chosen language model for one command.

    ``or_else`` ends the error message with a way to do without one.
    """
    with from_settings.open_generator(chosen_settings(arguments)) as generator:
        if generator is None:
            raise UsageError(
                f"{command} needs a language model: name one with --generator "
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


def erase(
    store: Store,
    described: Callable[[], str],
    act: Callable[[], bool],
    is_agreed: bool,
    show: Show,
    id_: int,
    noun: str = "",
) -> int | None:
    """Erase something after asking; ``described`` returns one line about it, ``act`` erases it."""
    if not is_agreed and not agreed(
        lambda: f"{described()}\nErase it permanently?", "erasing cannot be undone"
    ):
        show.note("nothing was erased")
        return REFUSED
    if not act():
        show.note(bytes_remain(store))
    show.done(f"erased {noun}#{id_}", {"erased": id_})
    return None


def settled(
    show: Show,
    rows: Callable[[], Sequence[Sequence[object]]],
    value: object,
    question: Callable[[], str],
    *,
    is_agreed: bool,
) -> int | None:
    """Show a plan, and ask whether to carry it out; return the exit code if that is not to be."""
    if is_agreed:
        return None
    show.rows(rows(), value)
    if not can_ask():
        show.note("nothing was changed: add --yes to do it")
        return REFUSED
    if not agreed(question, ""):
        show.note("nothing was changed")
        return REFUSED
    return None


def ended_chain(store: Store, arguments: argparse.Namespace, fact_id: int) -> str | None:
    """Return a note that nothing of a chain is active without this fact, if it has an older one."""
    if (older := chains.older(store.history(fact_id), fact_id)) is None:
        return None
    again = f"memstore reinstate {older.id}{same_flags(arguments)}"
    return f"nothing of its chain is active now; {again} brings #{older.id} back: {older.content}"


def agreed(question: Callable[[], str], reason: str, *, is_likely: bool = False) -> bool:
    """Ask a question, and return whether the answer is yes; Enter alone is, if that is likely.

    Raises:
        Unconfirmed: there is no terminal; ``reason`` says why a confirmation is needed.
    """
    if not can_ask():
        raise Unconfirmed(f"{reason}: confirm it with --yes where there is no terminal")
    choices = "Y/n" if is_likely else "y/N"
    print(f"{question()} [{choices}] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if is_likely and answer == "\n":
        return True
    return answer.strip().casefold() in ("y", "yes")


def answer_to(question: str) -> str:
    """Ask at the terminal, and return what was answered."""
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def bytes_remain(store: Store) -> str:
    """Return when bytes go that are still there after an erasure."""
    if paths.is_server(store.path):
        return (
            "the text is no longer visible; when its bytes are gone is up to the server: its "
            "vacuum, its log, its replicas and its backups"
        )
    return (
        "another process is using the file: the text is no longer visible, and its bytes "
        "go when the last process closes the file, or when this command runs again"
    )


MEMORY_POLICY: Final = option(
    "--policy",
    "when a memory that the model finds outdated goes: judged (the default) if the new words "
    "suggest it too, trust-the-model without looking at them",
    choices=("judged", "trust-the-model"),
    default="judged",
)

ID: Final = option("ID", "the fact's id, or the last eight digits of its UUID", type=fact_id)
YES: Final = option("--yes", "do not ask for confirmation")
OFFSET: Final = option(
    "--offset N", "skip this many first", type=partial(count, least=0), default=0
)
SYNC_CHOICES: Final = (
    option(
        "--namespaces A,B",
        "let only these travel; all for every one, now and later",
        type=names,
    ),
    one_of(
        option("--passphrase-file FILE", "read the passphrase from this file"),
        option("--unsealed", "do not encrypt what is sent"),
    ),
    one_of(
        option("--trust", "let travel how much sources count, too; only if the place is sealed"),
        option("--no-trust", "let that stay here, which is the default"),
    ),
    YES,
)
"""What is chosen before the first sync with a place."""
NEWEST: Final = option("--newest", "newest first", dest="newest_first")
EXPIRES_AT: Final = option("--expires-at TIME", "when it expires", dest="expired_at")
NAMESPACES: Final = option(
    "--namespaces A,B", "search these namespaces instead; all for every one", type=names
)
UNSET: Final = option(
    "--unset KEY", "a metadata key to remove; may be repeated", action="append", default=[]
)

NARROWING: Final = (
    option("--subject NAME", "only facts about this subject"),
    option("--category NAME", "only facts in this category"),
    option(
        "-f --filter CONDITION",
        "a condition on metadata, e.g. 'priority>=3' or 'lang=en'; operators "
        f"{' '.join(OPERATORS).replace('%', '%%')}; may be repeated",
        dest="filters",
        type=metadata_filter,
        action="append",
    ),
    option("--after TIME", "only those stored after this time", dest="created_after"),
    option("--before TIME", "only those stored before this time", dest="created_before"),
    option("--valid-after TIME", "only those valid since after this time"),
    option("--valid-before TIME", "only those valid since before this time"),
    option("--valid-on DAY", "those that held on this day, or at this time, as is known now"),
    option(
        "--all", "include superseded and expired facts", dest="active_only", action="store_false"
    ),
)

AS_OF: Final = option(
    "--as-of MOMENT",
    "as it was then: a time, a date, yesterday, 2h, op:LINE, run:UUID or episode:ID",
)

METADATA: Final = (
    option(
        "-m KEY=VALUE",
        "a metadata value, read as JSON (3, true, null) where possible and else as text; "
        "may be repeated",
        dest="pairs",
        type=metadata_pair,
        action="append",
    ),
    option("--metadata JSON", "metadata as a JSON object", type=json_object),
)

THREAD: Final = option("--thread NAME", "the conversation it belongs to; threads are per owner")
SEQ: Final = option(
    "--seq N", "its position in the thread (default: last)", type=partial(count, least=0)
)

OWNERS: Final = (
    option("--user ID", "the user it belongs to", dest="user_id"),
    option("--agent ID", "the agent it belongs to", dest="agent_id"),
    option("--run ID", "the run it belongs to", dest="run_id"),
)


WHOSE: Final = (
    *OWNERS,
    option("--scope", "all: facts of every owner", dest="whose", choices=(EVERYBODY,)),
)
"""Selects rows of the named owners, or rows without an owner."""

AT_LEAST: Final = "at-least"

CHOSEN: Final = (
    *OWNERS,
    option(
        "--scope",
        "all: of every owner; at-least: of the owners named and any others",
        dest="whose",
        choices=(EVERYBODY, AT_LEAST),
    ),
)
"""The same, or rows that have the named owners among others."""


NO_EPISODES: Final = option("--no-episodes", "facts only, not what was said")

CONTEXT: Final = option(
    "--context N",
    "show up to N neighbours on either side of each hit in its conversation (at most 10)",
    type=partial(count, least=0),
    default=0,
)


RELEVANCE: Final = option(
    "--min-relevance X",
    f"leave out what is less relevant than this, 0 to 1 (default: {MIN_RELEVANCE})",
    type=float,
)


RANKING: Final = (
    option(
        "--ranking NAME",
        "contextual (the default) also weighs conversations, names and dates; classic uses "
        "words and meaning alone",
        choices=RANKINGS,
    ),
    RELEVANCE,
    option("--explain", "show the parts of each score"),
)
"""The ranking options of both searches."""


def limit(default: int | None = None) -> Option:
    told = f" (default: {default})" if default else ""
    return option("--limit N", f"return at most N{told}", type=count, default=default)


def active_now(done: RepairedFact) -> str:
    return ", ".join(f"#{fact.id}" for fact in done.active) or "none of these facts"


def scope_of(arguments: argparse.Namespace) -> Scope:
    """Return the owners named; ValueError if one is blank."""
    return Scope(**owners_of(arguments))


def if_named(store: Store, arguments: argparse.Namespace) -> Store:
    """Return the store of the owners named; the store as it is if there are none."""
    scope = scope_of(arguments)
    return store if scope == Scope() else store.of(scope)


def whose(arguments: argparse.Namespace) -> OwnersSelection:
    """Return the owners named, which may be none, or ``"all"``."""
    scope = scope_of(arguments)
    if arguments.whose != EVERYBODY:
        return scope
    if scope != Scope():
        raise UsageError("--scope all goes with no owner")
    return EVERYBODY


def chosen(arguments: argparse.Namespace) -> OwnersSelection:
    """Return the owners named, exactly or at least, or ``"all"``."""
    if arguments.whose != AT_LEAST:
        return whose(arguments)
    named = scope_of(arguments)
    if named == Scope():
        raise UsageError("--scope at-least goes with an owner: --user, --agent or --run")
    return AtLeast(**named.ids)


def same_owners(arguments: argparse.Namespace) -> str:
    """Return the owner flags of this command, to suggest another with the same owners."""
    selection = getattr(arguments, "whose", None)
    named = flags.owner_flags(scope_of(arguments))
    return (f" {named}" if named else "") + (f" --scope {selection}" if selection else "")


def same_flags(arguments: argparse.Namespace) -> str:
    """Return the flags of this command that name owners and the place, to suggest another."""
    database = getattr(arguments, "db", None)
    place = flags.place_flags(database, getattr(arguments, "namespace", None))
    return same_owners(arguments) + (f" {place}" if place else "")


def draw(
    given: Collection[Note],
    store: Store,
    arguments: argparse.Namespace,
    show: Show,
    nothing: str = "nothing found",
    sign: str = "#",
) -> None:
    """Print the notes of an answer; of an empty one, also what other namespaces hold.

    Args:
        nothing: said if nothing was found, with what to try.
        sign: what stands before the ids of what was found.
    """
    for note in given:
        for sentence in notes.sentences(note, notes.Wording(arguments, nothing, sign)):
            show.note(sentence)
    if given and domain_notes.is_empty(given):
        draw_elsewhere(store, arguments, show)


def draw_list(
    store: Store,
    arguments: argparse.Namespace,
    show: Show,
    found: Sized,
    total: int,
    noun: str,
    nothing: str,
    others: Callable[[], tuple[Note, ...]] | None = None,
) -> None:
    """Print the notes of a list.

    Args:
        found: what is shown of ``total``.
        others: reads what other owners hold of it; by default their facts, or episodes.
    """
    kind = noun if noun == "episode" else "fact"
    others = others or partial(_of_others, store, arguments, kind)
    draw(answers.of_list(found, noun, total, others), store, arguments, show, nothing)


def draw_nothing(
    store: Store, arguments: argparse.Namespace, show: Show, text: str, *nouns: str
) -> None:
    """Print that there is nothing, and what other owners and namespaces hold of these nouns."""
    others = _of_others(store, arguments, *nouns) if nouns else ()
    draw((domain_notes.NothingFound(), *others), store, arguments, show, text)


def _of_others(store: Store, arguments: argparse.Namespace, *nouns: str) -> tuple[Note, ...]:
    where = getattr(arguments, "namespaces", None)
    return answers.of_others(owned(store, arguments), *nouns, namespaces=where)


def draw_elsewhere(
    store: Store, arguments: argparse.Namespace, show: Show, before: str = ""
) -> None:
    """Print what other namespaces hold and how to see it, at most once for a command.

    Args:
        before: what the sentence begins with.
    """
    if getattr(arguments, "told_elsewhere", False):
        return
    arguments.told_elsewhere = True
    if server := arguments.place.server:
        show.note(
            f"{before}the hooks here write to {server}: its pages and tools show what agents "
            "remember, and this file does not hold it"
        )
        return
    for note in answers.of_namespaces(store, getattr(arguments, "namespaces", None)):
        for sentence in notes.sentences(note, notes.Wording(arguments)):
            show.note(before + sentence)


def seen(store: Store, arguments: argparse.Namespace) -> View:
    """Return the store of the owners named, or what it was at the moment asked for."""
    own = owned(store, arguments)
    return own if arguments.as_of is None else own.as_of(arguments.as_of)


def owned(store: Store, arguments: argparse.Namespace) -> Store:
    """Return the store of the owners named, exactly or at least, or of all of them."""
    return store.of(chosen(arguments))


def owners_of(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("user_id", "agent_id", "run_id")}
