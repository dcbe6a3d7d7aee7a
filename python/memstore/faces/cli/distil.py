"""The commands for conversations that no model has read yet."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.domain.records import EVERYBODY, set_fields
from memstore.errors import LearningError
from memstore.faces import background, distilling
from memstore.faces.cli import command as cli
from memstore.faces.cli.episodes import episode_id
from memstore.faces.cli.flags import place_flags
from memstore.faces.cli.learn import show_learned, show_retried
from memstore.faces.escaping import counted, minute
from memstore.faces.options import add_generator_flags, chosen_settings
from memstore.frozen import asdict
from memstore.learn.distilling import PORTION_CHARACTERS
from memstore.learn.extraction import Extractor
from memstore.learn.memory import Memory
from memstore.settings import Settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memstore.domain.protocols import JSONGenerator
    from memstore.domain.unread import UnreadThread
    from memstore.learn.conversation import MemoryEvents
    from memstore.learn.extraction import Extraction
    from memstore.store.store import Store

TOOLS: Final = {name: name for name in ("memory_store", "memory_supersede", "memory_confirm")}

LEARNING: Final = "a process is learning from them"


CHARACTERS: Final = cli.option(
    "--characters N",
    f"of a portion, the most characters of the turns (default: {PORTION_CHARACTERS})",
    type=cli.count,
    default=PORTION_CHARACTERS,
)


@cli.command(
    "distil",
    "memstore distil --namespace auto\n"
    "memstore distil --show --namespace auto\n"
    "memstore distil --done e57 --namespace auto\n"
    "memstore distil --learn --generator anthropic --namespace auto\n"
    "memstore distil --learn --background --generator anthropic --namespace auto",
    cli.option("--show", "print the next unread turns with the task for an agent"),
    cli.option(
        "--done ID",
        "the turns up to this one are stored as facts: count them as read",
        type=episode_id,
    ),
    cli.option("--learn", "let the language model of --generator read all of them"),
    cli.option("--background", "with --learn: do so in a process that goes on by itself"),
    CHARACTERS,
    cli.MEMORY_POLICY,
    *cli.OWNERS,
    add_generator_flags,
    usage="[--done ID] [--show] | --learn [--background] [options]",
    embedder="optional",
)
def _distil(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    memory, owners = Memory(store), cli.owners_of(arguments)
    if arguments.background and not arguments.learn:
        raise cli.UsageError("--background goes with --learn")
    if arguments.learn:
        _learn(store, arguments, show)
        return
    if arguments.done is not None:
        marked = memory.mark_read(store.episodes.get(arguments.done).id, **owners)
        if not arguments.show:
            show.done(f"counted {counted(marked, 'turn')} as read", {"read": marked})
            return
    if arguments.show:
        portion = memory.portion(arguments.characters, **owners)
        told = distilling.task_text(portion, TOOLS, _next(arguments))
        show.text(told, asdict(portion) | {"last_id": portion.last_id})
        return
    found = memory.unread(**owners)
    show.rows([_row(one) for one in found], [set_fields(one) for one in found])
    if found:
        turns = counted(sum(one.turns for one in found), "turn")
        show.note(
            f"no model has read {turns} of {counted(len(found), 'conversation')}: memstore distil "
            "--show gives them to an agent"
        )
        if not store.readings.lease(store.namespace).is_free():
            show.note(LEARNING)
    elif store.of(EVERYBODY).episodes.count():
        none = "every conversation has been read by a model"
        cli.draw_nothing(store, arguments, show, none)
    else:
        none = "no conversation is recorded here yet: memstore setup has hosts record theirs"
        cli.draw_nothing(store, arguments, show, none)


def _learn(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.show or arguments.done is not None:
        raise cli.UsageError("--learn goes without --show and --done")
    instead = ", or let an agent read them with --show"
    with cli.needed_generator(arguments, "distil --learn", instead) as generator:
        if arguments.background:
            _learn_in_background(store, arguments, show, ["distil", "--learn"])
            return
        _learn_unread(store, arguments, show, generator)


def _learn_unread(
    store: Store, arguments: argparse.Namespace, show: cli.Show, generator: JSONGenerator
) -> None:
    with show.progress("turns read") as progress:
        learned = Memory(store, generator, policy=arguments.policy).learn_unread(
            characters=arguments.characters, progress=progress, **cli.owners_of(arguments)
        )
    show_learned(learned, show)


@cli.command(
    "learn",
    "memstore learn --generator anthropic --namespace auto\n"
    "memstore learn --retry --scope all --generator ollama\n"
    "memstore learn --retry --background --generator anthropic",
    cli.option(
        "--retry",
        "read what a model was to read and has not, because it failed; then, as without, what was "
        "only kept",
    ),
    cli.option("--background", "do so in a process that goes on by itself"),
    CHARACTERS,
    cli.MEMORY_POLICY,
    *cli.WHOSE,
    add_generator_flags,
    usage="[--retry] [--background] --generator NAME [options]",
    embedder="optional",
)
def _learn_command(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.whose is not None and not arguments.retry:
        raise cli.UsageError("--scope all needs --retry")
    with cli.needed_generator(arguments, "learn") as generator:
        if arguments.background:
            words = ["learn", *(["--retry"] if arguments.retry else [])]
            _learn_in_background(store, arguments, show, words)
        elif arguments.retry:
            _retry(store, arguments, show, generator)
        else:
            _learn_unread(store, arguments, show, generator)


def _retry(
    store: Store, arguments: argparse.Namespace, show: cli.Show, generator: JSONGenerator
) -> None:
    """Read the conversations that no model has read, then the texts; report both, then failures."""
    everything = cli.whose(arguments) == EVERYBODY
    memory = Memory(store, generator, policy=arguments.policy)
    extractor = Extractor(store if everything else cli.owned(store, arguments), generator)
    learned: list[MemoryEvents] = []
    extracted: list[Extraction] = []
    failed: list[LearningError] = []
    with show.progress("conversations read") as progress:
        try:
            learned = memory.retry(
                everything=everything,
                patient=True,
                progress=progress,
                **cli.owners_of(arguments),
            )
        except LearningError as error:
            failed.append(error)
    if not failed:  # else the model is likely to fail again
        with show.progress("texts read") as progress:
            try:
                extracted = extractor.retry(patient=True, progress=progress)
            except LearningError as error:
                failed.append(error)
    show_retried(learned, extracted, show)
    if failed:
        raise failed[0]


def _learn_in_background(
    store: Store, arguments: argparse.Namespace, show: cli.Show, words: Sequence[str]
) -> None:
    if not store.readings.lease(store.namespace).is_free():
        show.done(LEARNING, {"log": None})
        return
    folder = settings.data_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    log = os.path.join(folder, "distil.log")
    names = [name for name in Settings._fields if name != "db"]
    flags = background.flags(arguments, (*names, "characters", "policy"))
    owners = shlex.split(cli.same_owners(arguments))
    # Everybody can see the arguments of a process, and the address may hold a password.
    database = chosen_settings(arguments).db
    own = {} if database is None else {"MEMSTORE_DB": database}
    background.start([*words, *flags, *owners], log=log, environment=own)
    show.done(f"learning in the background; {log} will say what", {"log": log})


def _row(one: UnreadThread) -> tuple[object, ...]:
    turns = counted(one.turns, "turn")
    return (one.thread or f"e{one.first_id}", one.source, minute(one.ended), turns)


def _next(arguments: argparse.Namespace) -> str:
    """Return how an agent marks a portion as read and gets the next one, with the same flags."""
    chosen = chosen_settings(arguments)
    place = place_flags(chosen.db, chosen.namespace)
    command = f"memstore distil --done {distilling.LAST} --show" + (f" {place}" if place else "")
    return f"run `{command}{cli.same_owners(arguments)}`, which also shows the next turns."
