"""The command that erases: single facts, and what a selection names, by a plan."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from memstore.errors import NotFound
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.file.paths import is_server
from memstore.text.escaping import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from memstore.domain.erasures import ErasureCounts, ErasureStep
    from memstore.history.erasure import ErasurePlan
    from memstore.store.store import Store

SELECTING = "episode subject source owner"

NOUNS = {
    "facts": "fact",
    "episodes": "episode",
    "supports": "support",
    "lines": "line of the journal",
    "vectors": "vector",
    "pieces": "piece",
    "proposals": "proposal",
    "replies": "reply",
    "entries": "entry of the graph",
}


@cli.command(
    "erase",
    "memstore erase 12\n"
    "memstore erase --episode 31\n"
    "memstore erase --subject 'Ana Silva' --yes\n"
    "memstore erase --source web:example.org --keep-drawn\n"
    "memstore erase --prove hunter2 'Ana Silva'",
    cli.option("ID", "the facts' ids", type=cli.fact_id, nargs="*"),
    cli.option("--episode ID", "an episode, and the facts drawn from it", type=cli.number_id),
    cli.option("--subject NAME", "the facts about this subject, in any state"),
    cli.option("--source NAME", "what came from a source, such as web:x, or through a program"),
    cli.option("--owner USER", "all that belongs to a user, whatever the agent and the run"),
    cli.option(
        "--run-uuid UUID",
        "what was recorded in one opening of the file or one session, as the journal names it",
    ),
    cli.option(
        "--keep-drawn",
        "leave facts that were only drawn from the episodes that go",
        dest="drawn",
        action="store_false",
    ),
    cli.option(
        "--prove WORD",
        "search every byte of the file and of what belongs to it for words, at the end or alone",
        nargs="+",
        action="extend",
    ),
    cli.YES,
    *cli.WHOSE,
    usage="[ID…] [--episode ID] [--subject NAME] [--source NAME] [--owner USER] [--prove WORD…]"
    " [--yes] [options]",
)
def _erase(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    selecting = {**cli.given(arguments, SELECTING), "run": arguments.run_uuid}
    is_selected = arguments.id or any(selecting.values())
    if is_selected and arguments.prove and is_server(store.path):
        raise cli.UsageError(
            "--prove searches the bytes of files, and this memory is on a server: leave it out; "
            "nothing was erased"
        )
    if is_selected or not arguments.prove:
        code = _erase_selected(store, arguments, selecting, show)
        if code is not None or not arguments.prove:
            return code
    return _prove(store, arguments, show)


def _erase_selected(
    store: Store, arguments: argparse.Namespace, selecting: dict[str, Any], show: cli.Show
) -> int | None:
    if len(arguments.id) == 1 and not any(selecting.values()):
        with suppress(NotFound):  # or it was erased: the plan says which
            return _one(store, arguments, show)
    unnamed = arguments.whose is None and cli.owners_of(arguments) == NO_OWNER
    # Without owners, what an owner has is erased whatever else it has.
    own = store if arguments.owner is not None and unnamed else cli.owned(store, arguments)
    plan = own.ledger.erasure(**selecting, facts=arguments.id or None, drawn=arguments.drawn)
    return _carry_out(store, plan, arguments, show)


NO_OWNER = dict.fromkeys(("user_id", "agent_id", "run_id"))


def _one(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    [fact_id] = arguments.id
    store = cli.owned(store, arguments)
    fact = store.get(fact_id)
    ended = None
    if fact.status in ("active", "expired", "distrusted"):
        ended = cli.ended_chain(store, arguments, fact_id)

    def preview() -> str:
        return f"#{fact.id}  {visible(fact.subject)}: {visible(fact.content)}"

    code = cli.erase(store, preview, partial(store.erase, fact_id), arguments.yes, show, fact_id)
    if code is None and ended is not None:
        show.note(ended)
    return code


def _carry_out(
    store: Store, plan: ErasurePlan, arguments: argparse.Namespace, show: cli.Show
) -> int | None:
    value = plan.to_dict()
    code = cli.settled(
        show,
        lambda: [*_rows(plan)],
        value,
        lambda: f"Erase {_in_words(plan.counts)} permanently?",
        is_agreed=arguments.yes or not plan,
    )
    if code is not None:
        _tell_more(plan, show)
        return code
    if not plan:
        for step in plan.stays:
            show.note(f"{_id(step)} {step.text}: {step.reason}")
    with show.progress("erasing") as progress:
        done = plan.apply(progress=progress)
    show.done(f"erased {_in_words(done.counts)}", value | {"done": done.to_dict()})
    for step in done.left:
        show.note(f"{_id(step)} {step.text}: {step.reason}")
    if not done.is_gone:
        show.note(cli.bytes_remain(store))
    _tell_more(plan, show)
    return None


def _tell_more(plan: ErasurePlan, show: cli.Show) -> None:
    """Say what still has the texts, or has to be built again."""
    for copy in plan.copies:
        show.note(f"this copy still has what was in it: {copy}")
    for namespace in plan.graphs:
        show.note(f"the graph of {namespace} goes as a whole; memstore graph build makes a new one")


def _prove(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    with show.progress("searching") as progress:
        found = store.file.remains(arguments.prove, progress=progress)
    rows = [
        (one.word, one.path, one.kind, one.form, counted(one.number, "place"), _offset(one.first))
        for one in found
    ]
    value = {"left": [one.to_dict() for one in found]}
    if found:
        show.rows(rows, value)
        return cli.REFUSED
    show.done(f"none of {counted(len(arguments.prove), 'word')} is left in any byte", value)
    return None


def _offset(place: int | None) -> str:
    return "" if place is None else f"the first at byte {place:,}"


def _rows(plan: ErasurePlan) -> Iterator[tuple[object, ...]]:
    for step in (*plan.steps, *plan.stays):
        yield _id(step), step.claim, step.text, step.reason
    if (more := len(plan.fact_ids) + len(plan.episode_ids) - len(plan.steps)) > 0:
        yield "…", f"and {more:,} more", "", ""


def _id(step: ErasureStep) -> str:
    if step.id is None:
        return "a fact"
    return f"#{step.id}" if step.kind == "fact" else f"e{step.id}"


def _in_words(counts: ErasureCounts) -> str:
    """Return what goes, in words."""
    numbers = counts.to_dict()
    told = [_counted(numbers[name], noun) for name, noun in NOUNS.items() if numbers[name]]
    return ", ".join(told) or "nothing"


def _counted(number: int, noun: str) -> str:
    first, *rest = noun.split(" ", 1)
    return " ".join([counted(number, first), *rest])
