"""The commands for the graph of entities and relations derived from the facts."""

from __future__ import annotations

from contextlib import nullcontext
from shlex import quote
from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.errors import Conflict, GeneratorError, NotFound, StoreBusy
from memstore.faces import wording
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted, second
from memstore.faces.from_settings import open_generator
from memstore.faces.options import add_generator_flags, chosen_settings, duration
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memstore.domain import notes
    from memstore.domain.entities import EntityDecision, GraphStatus, Neighbour, Relation
    from memstore.domain.notes import Note
    from memstore.store import answers
    from memstore.store.store import Store
else:
    answers = lazy_import("memstore.store.answers")
    notes = lazy_import("memstore.domain.notes")

REFUSALS_SHOWN = 10


@cli.command(
    "graph build",
    "memstore graph build\nmemstore graph build --generator ollama\n"
    "memstore graph build --every 1h",
    cli.option(
        "--every TIME",
        "keep running until Ctrl-C, and build it again at this interval, e.g. 30m, 1h or 7d, if "
        "facts changed",
    ),
    add_generator_flags,
)
def _build_graph(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.every is None:
        _build(store, arguments, show)
        return
    try:
        every_seconds = duration(arguments.every)
    except ValueError as error:
        raise cli.UsageError(f"--every is {error}") from None
    try:
        while True:
            status = store.graph.status()
            if status.built_at is None or status.changed:
                _build_or_tell(store, arguments, show)
            clock.sleep(every_seconds)
    except KeyboardInterrupt:  # how a user ends it
        show.note("stopped")


def _build_or_tell(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    """Build the graph, or say why that failed; the next interval tries again."""
    try:
        _build(store, arguments, show)
    except (GeneratorError, Conflict, StoreBusy) as error:
        show.note(f"the graph was not built: {wording.on_command_line(error)}")


def _build(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    # Only a model that is named here: the one in the environment was named for something else,
    # and every fact of the namespace would be sent to it.
    named = (arguments.generator, arguments.generator_model, arguments.generator_url)
    asked = any(one is not None for one in named)
    with (
        open_generator(chosen_settings(arguments)) if asked else nullcontext() as generator,
        show.progress("reading") as progress,
    ):
        built = store.graph.build(generator=generator, progress=progress)
    show.done(_summary(built.status), built.to_dict())
    for one in built.refused[:REFUSALS_SHOWN]:
        show.note(f"rejected, from fact {one.fact_id}: {one.reason}")
    if len(built.refused) > REFUSALS_SHOWN:
        more = counted(len(built.refused) - REFUSALS_SHOWN, "more refusal")
        show.note(f"{more}; --json has all of them")


def _summary(status: GraphStatus) -> str:
    entities = counted(status.entities, "entity")
    relations = counted(status.relations, "relation")
    return f"built from {counted(status.facts)}: {entities}, {relations}"


@cli.command("graph status", "memstore graph status")
def _status(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    status = store.graph.status()
    if status.built_at is None:
        show.done("the graph is not built yet; run memstore graph build", status.to_dict())
        return
    by = f"rules and {status.model}" if status.model else "rules"
    behind = f"{counted(status.changed)} changed since" if status.changed else "up to date"
    show.done(f"{_summary(status)}; {second(status.built_at)}, by {by}, {behind}", status.to_dict())


@cli.command(
    "graph entities",
    "memstore graph entities --limit 20",
    cli.limit(50),
    cli.OFFSET,
    *cli.WHOSE,
)
def _entities(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    found = cli.owned(store, arguments).graph.entities(
        limit=arguments.limit, offset=arguments.offset
    )
    rows = [(one.name, counted(one.facts), ", ".join(one.names[1:]) or None) for one in found]
    show.rows(rows, [one.to_dict() for one in found])
    if not found:
        _draw_nothing(store, arguments, show)


def _draw_nothing(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if store.graph.status().built_at is None:
        show.note("the graph is not built yet; run memstore graph build")
        return
    others: tuple[Note, ...] = ()
    if not arguments.offset:
        others = answers.of_everybody(store, "entity", lambda one: one.graph.status().entities)
    cli.draw((notes.NothingFound(), *others), store, arguments, show, "no entities")


@cli.command(
    "graph neighbours",
    "memstore graph neighbours Alice --depth 2",
    cli.option("NAME", "the entity, by any of its names"),
    cli.option("--depth N", "the most steps away, 1 to 5", type=cli.count, default=1),
    cli.limit(20),
    *cli.WHOSE,
)
def _neighbours(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    try:
        found = cli.owned(store, arguments).graph.neighbours(
            arguments.name,
            depth=arguments.depth,
            limit=arguments.limit,
        )
    except NotFound as error:
        if not _others_mention(store, arguments.name):
            raise
        told = f"{error}, but facts of other owners mention it: use --scope all"
        raise NotFound(told) from None
    value = {
        "entity": found.entity.to_dict(),
        "neighbours": [one.to_dict() for one in found],
        "cut": found.cut,
    }
    show.rows([_neighbour_row(one) for one in found], value)
    if not found:
        show.note(f"nothing is related to {found.entity.name}")
    if found.cut is not None:
        show.note(f"incomplete: {found.cut}")


def _others_mention(store: Store, name: str) -> bool:
    try:
        return bool(store.of("all").graph.get(name))
    except NotFound:
        return False


def _neighbour_row(one: Neighbour) -> Sequence[object]:
    others = [_relation_text(relation) for relation in one.path[-1][1:]]
    return (
        one.entity.name,
        one.distance,
        ", ".join(_relation_text(step[0]) for step in one.path),
        *others,
    )


def _relation_text(relation: Relation) -> str:
    facts = " ".join(f"#{fact.id}" for fact in relation.facts)
    more = relation.fact_count - len(relation.facts)
    return f"{relation.source} —{relation.label}→ {relation.target} ({facts}" + (
        f" and {more} more)" if more else ")"
    )


@cli.command(
    "graph likely",
    "memstore graph likely",
    cli.limit(20),
)
def _likely(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    found = store.graph.likely_same(limit=arguments.limit)
    rows = [(one.left.name, one.right.name, one.reason) for one in found]
    show.rows(rows, [one.to_dict() for one in found])
    if not found:
        show.note("no two entities look alike")


TWO = (
    cli.option("left NAME", "one name"),
    cli.option("right OTHER", "the other"),
)


@cli.command(
    "graph merge",
    "memstore graph merge Alice 'Alice Smith'",
    *TWO,
)
def _merge(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = store.graph.merge(arguments.left, arguments.right)
    show.done(f"{done.left} and {done.right} are the same entity; {_undo(done)}", done.to_dict())


@cli.command(
    "graph apart",
    "memstore graph apart 'Alice Smith' 'Alice Jones'",
    *TWO,
)
def _apart(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = store.graph.keep_apart(arguments.left, arguments.right)
    show.done(f"{done.left} and {done.right} are different entities; {_undo(done)}", done.to_dict())


def _undo(done: EntityDecision) -> str:
    # Names are anybody's text, and the line is there to be copied.
    return f"memstore graph forget {quote(done.left)} {quote(done.right)} undoes this"


@cli.command(
    "graph forget",
    "memstore graph forget Alice 'Alice Smith'",
    *TWO,
)
def _forget(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = store.graph.forget(arguments.left, arguments.right)
    show.done(f"removed the decision about {done.left} and {done.right}", done.to_dict())


@cli.command("graph decisions", "memstore graph decisions")
def _decisions(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    found = store.graph.decisions()
    rows = [
        (one.left, "is" if one.same else "is not", one.right, second(one.at), one.actor)
        for one in found
    ]
    show.rows(rows, [one.to_dict() for one in found])
    if not found:
        show.note("no decisions")


@cli.command("graph drop", "memstore graph drop")
def _drop(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    store.graph.drop()
    show.done("dropped the graph; memstore graph build rebuilds it", {"dropped": True})
