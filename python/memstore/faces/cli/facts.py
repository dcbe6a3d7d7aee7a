"""The commands that store and correct facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.domain.records import CATEGORIES, NewFact
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted, minute
from memstore.lazy import lazy_import
from memstore.text.folding import text_of

if TYPE_CHECKING:
    import argparse

    from memstore.domain import notes as domain_notes
    from memstore.faces.cli import notes
    from memstore.store import answers
    from memstore.store.answers import StoredFact
    from memstore.store.store import Store
else:
    domain_notes = lazy_import("memstore.domain.notes")
    notes = lazy_import("memstore.faces.cli.notes")
    answers = lazy_import("memstore.store.answers")

ANY_SUBJECT = cli.option("--any-subject", "allow a fact about another subject, or a task")


@cli.command(
    "add",
    "memstore add 'Alice prefers dark mode' --subject alice --category preference\n"
    "memstore add 'Alice moved to Porto' --subject alice --supersedes 12\n"
    "git log -1 --format=%s | memstore add - --subject api -m source=git -m level=3",
    cli.option(
        "CONTENT", "a claim that can be understood on its own; - reads standard input", nargs="+"
    ),
    cli.option(
        "--subject NAME",
        "the person or thing it is about; use one name consistently",
        required=True,
    ),
    cli.option(
        "--category NAME",
        f"{', '.join(CATEGORIES)}, or another; a note (the default) ranks lower with age",
        default="note",
    ),
    *cli.METADATA,
    cli.option("--supersedes ID", "the fact this one replaces", type=cli.fact_id),
    ANY_SUBJECT,
    cli.option("--valid-at TIME", "when it became true, e.g. 2026-03-01"),
    cli.EXPIRES_AT,
    cli.option("--source TEXT", "where it comes from"),
    cli.THREAD,
    cli.SEQ,
    cli.option(
        "--key TEXT",
        "an idempotency key: storing with the same key again returns the same fact",
        dest="idempotency_key",
    ),
    *cli.OWNERS,
    usage="CONTENT… --subject NAME [options]",
    embedder="required",
    file="create",
)
def _add(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    new = NewFact(
        content=cli.content_of(arguments.content),
        **cli.given(arguments, "subject category supersedes any_subject valid_at expired_at"),
        **cli.given(arguments, "source thread seq idempotency_key"),
        metadata=cli.metadata_of(arguments) or None,
    )
    [stored] = answers.store_facts(store.of(cli.scope_of(arguments)), [new])
    show.done(notes.done(stored), _members(stored))
    cli.draw(stored.notes, store, arguments, show)


def _members(stored: StoredFact) -> dict[str, object]:
    """Return a stored fact and what it may replace as JSON values."""
    values = stored.fact.to_dict()
    if stored.is_known:
        values["status"] = "duplicate"
    for note in stored.notes:
        if isinstance(note, domain_notes.Near):
            values["near"] = [
                {"id": one.id, "says": text_of(one.subject, one.content)} for one in note.facts
            ]
    return values


@cli.command(
    "supersede",
    "memstore supersede 12 15",
    cli.option("OLD", "the fact that no longer holds", type=cli.fact_id),
    cli.option("NEW", "the fact that replaces it, already stored", type=cli.fact_id),
    ANY_SUBJECT,
    *cli.WHOSE,
)
def _supersede(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    fact = cli.owned(store, arguments).supersede(
        arguments.old, arguments.new, any_subject=arguments.any_subject
    )
    show.done(f"#{fact.id} is superseded by #{fact.superseded_by}", fact.to_dict())


@cli.command(
    "confirm",
    "memstore confirm 12",
    cli.ID,
    *cli.WHOSE,
)
def _confirm(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    fact = cli.owned(store, arguments).confirm(arguments.id)
    times = "once" if fact.confirmed_count == 1 else f"{fact.confirmed_count} times"
    show.done(f"confirmed #{fact.id}, {times} so far", fact.to_dict())


@cli.command(
    "pin",
    "memstore pin 12",
    cli.ID,
    *cli.WHOSE,
)
def _pin(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    fact = cli.owned(store, arguments).pin(arguments.id)
    show.done(f"pinned #{fact.id}: sessions begin with it", fact.to_dict())


@cli.command(
    "unpin",
    "memstore unpin 12",
    cli.ID,
    *cli.WHOSE,
)
def _unpin(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    fact = cli.owned(store, arguments).unpin(arguments.id)
    show.done(f"#{fact.id} is not pinned", fact.to_dict())


@cli.command(
    "update",
    "memstore update 12 -m priority=3 -m lang=en --unset draft",
    cli.ID,
    *cli.METADATA,
    cli.UNSET,
    *cli.WHOSE,
    usage="ID [-m KEY=VALUE] [--unset KEY] [options]",
)
def _update(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    patch = cli.patch_of(arguments)
    if not patch:
        raise cli.UsageError("nothing to update: give -m key=value, --metadata or --unset key")
    fact = cli.owned(store, arguments).update_metadata(arguments.id, patch)
    show.done(f"updated the metadata of #{fact.id}", fact.to_dict())


@cli.command(
    "expire",
    "memstore expire 12\nmemstore expire 12 --expires-at 2026-12-31\nmemstore expire 12 --never",
    cli.ID,
    cli.one_of(
        cli.option(
            "--expires-at TIME",
            "when it expires; a day, at its end (default: now)",
            dest="expired_at",
        ),
        cli.option("--never", "it does not expire; one that has expired is active again"),
    ),
    *cli.WHOSE,
    usage="ID [--expires-at TIME | --never] [options]",
)
def _expire(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    at = clock.utc_now() if arguments.expired_at is None else arguments.expired_at
    fact = cli.owned(store, arguments).set_expiry(arguments.id, None if arguments.never else at)
    told = f"#{fact.id} does not expire"
    if fact.expired_at is not None:
        said = "has expired" if fact.status == "expired" else f"expires {minute(fact.expired_at)}"
        way = f"memstore expire {fact.id} --never{cli.same_flags(arguments)}"
        told = f"#{fact.id} {said}; {way} undoes that"
    show.done(told, fact.to_dict())


@cli.command(
    "delete",
    "memstore delete 12",
    cli.ID,
    *cli.WHOSE,
)
def _delete(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    fact = cli.owned(store, arguments).delete(arguments.id)
    back = f"memstore restore {fact.id}{cli.same_flags(arguments)} brings it back"
    show.done(f"deleted #{fact.id}; {back}", fact.to_dict())
    if (note := cli.ended_chain(store, arguments, fact.id)) is not None:
        show.note(note)


@cli.command(
    "restore",
    "memstore restore 12\nmemstore restore --deleted-at 2026-03-01T12:00:00.000000Z --user ana",
    cli.option("ID", "the fact's id", type=cli.fact_id, nargs="?"),
    cli.option(
        "--deleted-at TIME",
        "instead: every fact that was deleted at exactly this time, as forget --all prints it",
    ),
    *cli.WHOSE,
    usage="ID | --deleted-at TIME [options]",
)
def _restore(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if (arguments.id is None) == (arguments.deleted_at is None):
        raise cli.UsageError(
            "give a fact's id or --deleted-at TIME; memstore recover FILE brings a backup back"
        )
    if arguments.id is None:
        number = cli.owned(store, arguments).ledger.restore_deleted(arguments.deleted_at)
        show.done(f"restored {counted(number)}", {"restored": number})
        return
    done = cli.owned(store, arguments).restore(arguments.id)
    said = f"restored #{arguments.id}"
    if done.id != arguments.id:
        said += f" as #{done.id}, which replaces the newer fact"
    show.done(f"{said}; active now: {cli.active_now(done)}", done.to_dict())
