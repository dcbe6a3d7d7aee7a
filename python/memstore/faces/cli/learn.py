"""The commands that learn from text, review what was learned, and derive it again."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memstore.domain.arguments import why_no_json
from memstore.domain.proposals import ProposalState
from memstore.domain.records import EVERYBODY, Scope, set_fields
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.faces.options import add_generator_flags
from memstore.frozen import asdict
from memstore.learn import consolidation
from memstore.learn.comparison import POLICIES
from memstore.learn.extraction import Extractor
from memstore.learn.memory import Memory

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memstore.domain.proposals import Proposal
    from memstore.domain.records import OwnersSelection
    from memstore.learn.consolidation import Consolidated
    from memstore.learn.conversation import MemoryEvents
    from memstore.learn.extraction import Extracted, Extraction
    from memstore.learn.memory_view import MemoryEvent
    from memstore.prompting.messages import Messages
    from memstore.store.store import Store


def show_past(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    events = Memory(store).history(arguments.id, **cli.owners_of(arguments))
    rows = [
        (f"{e['event']} #{e['id']}", e["at"], e["memory"], e["previous"], e["actor"], e["source"])
        for e in events
    ]
    show.rows(rows, events)


@cli.command(
    "extract",
    "memstore extract notes.txt --generator ollama --source notes\n"
    "git log -1 | memstore extract - --subject api --generator openai --policy auto",
    cli.option("FILE", "the text; - reads standard input"),
    cli.option("--subject NAME", "the subject of facts that name none"),
    cli.option(
        "--policy",
        "what to do with an older fact that a new one may replace: propose (the default) "
        "asks for a decision, judged (or auto) supersedes it where the words prove it, off does "
        "not compare",
        choices=POLICIES,
        default="propose",
    ),
    cli.option("--source TEXT", "the origin of the text"),
    cli.option("--at TIME", "when the text was written"),
    cli.THREAD,
    *cli.METADATA,
    *cli.OWNERS,
    add_generator_flags,
    usage="FILE|- --generator NAME [options]",
    embedder="required",
    file="create",
)
def _extract(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    text = _text_in(arguments.file)
    with cli.needed_generator(arguments, "extract") as generator:
        own = store.of(cli.scope_of(arguments))
        extractor = Extractor(own, generator, policy=arguments.policy)
        done = extractor.extract(
            text,
            arguments.subject,
            cli.metadata_of(arguments) or None,
            source=arguments.source,
            at=arguments.at,
            thread=arguments.thread,
        )
    _show_extraction(done, show)


def _show_extraction(done: Extraction, show: cli.Show) -> None:
    show.rows([_item_row(item) for item in done.items], _extracted(done))
    if done.not_compared is not None:
        show.note(f"older facts were not compared: {done.not_compared}")
    if not done.items:
        show.note(f"found no facts; the text is recorded as episode {done.episode.id}")


def _extracted(done: Extraction) -> dict[str, Any]:
    return {
        "episode": done.episode.id,
        "items": [set_fields(item) for item in done.items],
        "not_compared": done.not_compared,
    }


def _item_row(item: Extracted) -> tuple[object, ...]:
    return (
        str(item.outcome),
        _number(item.fact_id),
        _number(item.other_id),
        item.proposal_id and f"proposal {item.proposal_id}",
        None if item.similarity is None else f"{item.similarity:.2f}",
        item.subject,
        item.content,
        item.reason,
    )


def _number(fact: int | None) -> str | None:
    return None if fact is None else f"#{fact}"


@cli.command(
    "remember",
    "memstore remember 'I switched to tea' --user ana --generator ollama\n"
    "memstore remember --messages chat.json --user ana --generator anthropic\n"
    "memstore remember 'I drink coffee' --user ana --direct\n"
    "memstore remember --retry --scope all --generator ollama",
    cli.option("TEXT", "what the user said; - reads standard input", nargs="*"),
    cli.option(
        "--messages FILE",
        'a conversation instead: a JSON array of {"role", "content", "name"?, "at"?}; '
        "- reads standard input",
    ),
    cli.option("--retry", "learn from the recorded conversations that failed before"),
    cli.option("--at TIME", "when the text was said"),
    cli.THREAD,
    cli.option("--direct", "store what users and assistants said verbatim, without a model"),
    cli.option("--every-role", "with --direct, store system and tool messages too"),
    cli.MEMORY_POLICY,
    *cli.METADATA,
    *cli.WHOSE,
    add_generator_flags,
    usage="TEXT | --messages FILE | --retry [options]",
    embedder="required",
    file="create",
)
def _remember(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.retry:
        _retry(store, arguments, show)
        return
    if arguments.whose is not None:
        raise cli.UsageError("--scope all needs --retry")
    messages = _messages(arguments)
    or_else = ", or store the words verbatim with --direct"
    needed = cli.needed_generator(arguments, "remember", or_else)
    with nullcontext() if arguments.direct else needed as generator:
        changes = Memory(store, generator, policy=arguments.policy).add(
            messages,
            metadata=cli.metadata_of(arguments) or None,
            thread=arguments.thread,
            infer=not arguments.direct,
            every_role=arguments.every_role,
            **cli.owners_of(arguments),
        )
    _show_changes(changes, show)


def _retry(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    given = (arguments.text or None, arguments.messages, arguments.at, arguments.thread)
    if any(one is not None for one in given) or arguments.direct or cli.metadata_of(arguments):
        raise cli.UsageError("--retry takes only owners and a generator")
    everything = cli.whose(arguments) == EVERYBODY
    with cli.needed_generator(arguments, "remember --retry") as generator:
        memory = Memory(store, generator, policy=arguments.policy)
        done = memory.retry(everything=everything, **cli.owners_of(arguments))
    show_learned(done, show)


def show_learned(done: Sequence[MemoryEvents], show: cli.Show) -> None:
    rows = [_change_row(change) for changes in done for change in changes]
    show.rows(rows, [_learned(changes) for changes in done])
    for changes in done:
        _tell_refused(changes, show)
    show.note(f"learned from {counted(len(done), 'conversation')}")


def show_retried(
    learned: Sequence[MemoryEvents], extracted: Sequence[Extraction], show: cli.Show
) -> None:
    """Print what was made of conversations and of texts that could not be read before."""
    rows = [_change_row(change) for changes in learned for change in changes]
    rows += [_item_row(item) for done in extracted for item in done.items]
    value = {
        "learned": [_learned(changes) for changes in learned],
        "extracted": [_extracted(done) for done in extracted],
    }
    show.rows(rows, value)
    for changes in learned:
        _tell_refused(changes, show)
    texts = counted(len(extracted), "text")
    show.note(f"learned from {counted(len(learned), 'conversation')} and {texts}")


def _messages(arguments: argparse.Namespace) -> Messages:
    if (not arguments.text) == (arguments.messages is None):
        raise cli.UsageError("remember needs a text or --messages FILE")
    if arguments.messages is None:
        said = {"role": "user", "content": cli.content_of(arguments.text)}
        return [said | ({} if arguments.at is None else {"at": arguments.at})]
    if arguments.at is not None:
        raise cli.UsageError('--at needs a text; each message in a file has its own "at"')
    try:
        found: Messages = json.loads(_text_in(arguments.messages))
    except (ValueError, RecursionError) as error:
        raise cli.UsageError(f"--messages is not valid JSON: {why_no_json(error)}") from None
    return found


def _text_in(name: str) -> str:
    if name == "-":
        return cli.standard_input()
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise cli.UsageError(
            f"{name} is not UTF-8 text (byte {error.start}): save it as UTF-8 and try again"
        ) from None
    except FileNotFoundError:
        if " " not in name:
            raise
        raise cli.UsageError(
            f"there is no file {name!r}: if that is the text, pipe it into memstore extract -"
        ) from None


def _show_changes(changes: MemoryEvents, show: cli.Show) -> None:
    show.rows([_change_row(change) for change in changes], _learned(changes))
    _tell_refused(changes, show)
    if not changes:
        show.note("found nothing to remember")


def _learned(changes: MemoryEvents) -> dict[str, Any]:
    return {
        "changes": list(changes),
        "refused": [asdict(refusal) for refusal in changes.refused],
        "episode": changes.episode_id,
    }


def _tell_refused(changes: MemoryEvents, show: cli.Show) -> None:
    for refusal in changes.refused:
        what = " ".join(filter(None, (refusal.event, refusal.fact and f"for {refusal.fact!r}")))
        show.note(f"rejected: {what or 'an operation'}: {refusal.reason}")


def _change_row(change: MemoryEvent) -> tuple[object, ...]:
    return (
        change["event"],
        _number(change["id"]),
        change["memory"],
        _number(change["previous_id"]),
        change["previous"] if change["event"] == "UPDATE" else None,
    )


@cli.command(
    "forget",
    "memstore forget 12 --user ana\nmemstore forget --all --user ana",
    cli.option("ID", "one memory", type=cli.fact_id, nargs="?"),
    cli.option("--all", "every memory of the owners named", dest="whole"),
    cli.option("--everything", "every memory of every owner in the namespace, but no tasks"),
    cli.YES,
    *cli.OWNERS,
    usage="ID | --all [--yes] [options]",
)
def _forget(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    owners = cli.owners_of(arguments)
    if (arguments.id is not None) + arguments.whole + arguments.everything != 1:
        raise cli.UsageError("give a memory's id, --all with its owners, or --everything")
    memory = Memory(store)
    if arguments.id is not None:
        gone = [memory.delete(arguments.id, **owners)]
    elif arguments.whole and cli.scope_of(arguments) == Scope():
        raise cli.UsageError("--all needs --user, --agent or --run; --everything means every owner")
    elif arguments.everything and cli.scope_of(arguments) != Scope():
        raise cli.UsageError(
            "--everything cannot name an owner; use --all for one owner's memories"
        )
    else:
        if not arguments.yes and not _agreed_to_forget(store, arguments):
            show.note("nothing was forgotten")
            return cli.REFUSED
        gone = memory.delete_all(everything=arguments.everything, **owners)
    whose = " --scope all" * arguments.everything + cli.same_flags(arguments)
    value: dict[str, Any] = {"changes": gone}
    told = f"forgot {counted(len(gone), 'memory')}"
    if arguments.id is not None:
        told += f"; memstore restore {arguments.id}{whose} brings it back"
    elif gone:
        value["deleted_at"] = at = store.get(gone[0]["id"] or 0).to_dict()["deleted_at"]
        told += f"; memstore restore --deleted-at {at}{whose} brings back all of them"
    show.done(told, value)
    return None


def _agreed_to_forget(store: Store, arguments: argparse.Namespace) -> bool:
    owners: OwnersSelection = EVERYBODY if arguments.everything else cli.scope_of(arguments)

    def question() -> str:
        number = store.of(owners).count(tasks=False)
        of = "of every owner" if arguments.everything else f"of{cli.same_owners(arguments)}"
        return f"Forget {counted(number, 'memory')} {of} in the namespace {store.namespace}?"

    return cli.agreed(question, "this deletes many memories")


@cli.command(
    "proposals list",
    "memstore proposals list\nmemstore proposals list --state all --user ana",
    cli.option(
        "--state",
        "open (the default), accepted, rejected or all",
        choices=(*map(str, ProposalState), "all"),
        default="open",
    ),
    *cli.WHOSE,
    shows_part=True,
)
def _list(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    state = None if arguments.state == "all" else arguments.state
    found = cli.owned(store, arguments).proposals.list(state)
    show.rows([_proposal_row(one) for one in found], [one.to_dict() for one in found])
    if not found:
        cli.draw_nothing(store, arguments, show, "no proposals")


def _proposal_row(one: Proposal) -> Sequence[object]:
    return (
        one.id,
        str(one.state),
        None if one.similarity is None else f"{one.similarity:.2f}",
        one.old.subject,
        ", ".join(f"#{fact.id}" for fact in one.sources),
        " · ".join(fact.content for fact in one.sources),
        _number(None if one.new is None else one.new.id),
        one.content,
    )


PROPOSAL = cli.option("ID", "the proposal's id", type=cli.number_id)


@cli.command(
    "proposals accept",
    "memstore proposals accept 3",
    PROPOSAL,
    *cli.WHOSE,
)
def _accept(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = cli.owned(store, arguments).proposals.accept(arguments.id)
    whose = cli.same_flags(arguments)
    undo = f"memstore reinstate {done.old.id}{whose} makes both active again"
    if len(done.sources) > 1:
        undo = f"memstore reinstate {done.old.id}{whose} brings all of them back"
    are = "is" if len(done.sources) == 1 else "are"
    new = _number(None if done.new is None else done.new.id)
    show.done(f"{_sources(done)} {are} superseded by {new}; {undo}", done.to_dict())


@cli.command(
    "proposals reject",
    "memstore proposals reject 3\nmemstore proposals reject 3 --remove",
    PROPOSAL,
    cli.option("--remove", "also delete the newer fact: only the old one is true"),
    *cli.WHOSE,
)
def _reject(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = cli.owned(store, arguments).proposals.reject(arguments.id, remove=arguments.remove)
    if arguments.remove and done.new is not None:
        undo = f"memstore restore {done.new.id}{cli.same_flags(arguments)} brings it back"
        show.done(
            f"{_sources(done)} remains active, #{done.new.id} is deleted; {undo}", done.to_dict()
        )
        return
    beside = "" if done.new is None else f" and #{done.new.id}"
    show.done(f"{_sources(done)}{beside} remain active", done.to_dict())


@cli.command(
    "proposals reopen",
    "memstore proposals reopen 3",
    PROPOSAL,
    *cli.WHOSE,
)
def _reopen(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = cli.owned(store, arguments).proposals.reopen(arguments.id)
    show.done(f"proposal {done.id} is open again", done.to_dict())


def _sources(proposal: Proposal) -> str:
    return ", ".join(f"#{fact.id}" for fact in proposal.sources)


@cli.command(
    "reinstate",
    "memstore reinstate 12",
    cli.ID,
    *cli.WHOSE,
)
def _reinstate(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    done = cli.owned(store, arguments).reinstate(arguments.id)
    said = f"reinstated #{arguments.id} as #{done.id}, beside the newer fact"
    show.done(f"{said}; active now: {cli.active_now(done)}", done.to_dict())


@cli.command(
    "rebuild",
    "memstore rebuild\nmemstore rebuild --facts --generator ollama",
    cli.option(
        "--facts",
        "also derive facts from the episodes again, with the language model; implied by "
        "--generator",
    ),
    cli.option(
        "--policy",
        "what to do with an older fact that an added one may replace; see extract",
        choices=POLICIES,
        default="propose",
    ),
    *cli.OWNERS,
    add_generator_flags,
    usage="[--facts --generator NAME] [options]",
    embedder="optional",
)
def _rebuild(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if not arguments.facts and arguments.generator is None:
        with show.progress("rebuilding") as progress:
            told = store.file.rebuild(progress=progress)
    else:
        without = ", or leave --facts out"
        with cli.needed_generator(arguments, "rebuild --facts", without) as generator:
            extractor = Extractor(
                cli.if_named(store, arguments), generator, policy=arguments.policy
            )
            with show.progress("deriving") as progress:
                told = extractor.rebuild(progress=progress)
    show.done("; ".join(told), {"done": told})


@cli.command(
    "consolidate",
    "memstore consolidate ana --generator ollama\n"
    "memstore consolidate ana --user ana --generator openai --policy auto",
    cli.option("SUBJECT", "the subject of the facts"),
    cli.option(
        "--policy",
        "propose (the default) asks for a decision on each; auto accepts those that only "
        "join the facts' own words",
        choices=consolidation.POLICIES,
        default="propose",
    ),
    *cli.OWNERS,
    add_generator_flags,
    usage="SUBJECT --generator NAME [options]",
    embedder="optional",
)
def _consolidate(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    with cli.needed_generator(arguments, "consolidate") as generator:
        done = consolidation.consolidate(
            cli.if_named(store, arguments),
            subject=arguments.subject,
            generator=generator,
            policy=arguments.policy,
        )
    show.rows([_consolidated_row(one) for one in done], [set_fields(one) for one in done])
    if not done:
        show.note("nothing to consolidate")


def _consolidated_row(one: Consolidated) -> tuple[object, ...]:
    return (
        str(one.outcome),
        _number(one.fact_id),
        None if one.proposal_id is None else f"proposal {one.proposal_id}",
        ", ".join(f"#{fact_id}" for fact_id in one.fact_ids),
        one.content,
        one.reason,
    )
