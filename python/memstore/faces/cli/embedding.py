"""The commands for embeddings: embedding what is pending, and changing the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.errors import Conflict, EmbedderError
from memstore.faces import wording
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.faces.from_settings import make_embedder
from memstore.faces.options import chosen_settings
from memstore.frozen import asdict

if TYPE_CHECKING:
    import argparse

    from memstore.domain.generations import GenerationStatus, VectorCounts
    from memstore.embedding.generations import ReembedReport
    from memstore.embedding.pending import EmbedReport
    from memstore.store.store import Store


def summary(report: EmbedReport) -> str:
    facts = report.embedded - report.pieces
    parts = [counted(facts)] if facts or not report.pieces else []
    parts += [f"{counted(report.pieces, 'piece')} of episodes"] if report.pieces else []
    done = " and ".join(parts)
    refused = f", {report.failed} refused" if report.failed else ""
    if report.quarantined:
        refused += f" ({report.quarantined} for the last time: found by words alone from now on)"
    return f"embedded {done}{refused}, {report.left} left"


@cli.command(
    "embed-pending",
    "memstore embed-pending --embedder ollama\nmemstore embed-pending --watch",
    cli.option(
        "--limit N", "the most texts to embed; a long episode counts as several", type=cli.count
    ),
    cli.option("--retry-quarantined", "retry the texts whose embedding failed permanently"),
    cli.option("--everywhere", "embed in every namespace; all their texts go to this embedder"),
    cli.option(
        "--watch",
        "keep running until Ctrl-C and embed new texts as they come, backing off while "
        "the embedder fails; only one watcher per file works at a time",
    ),
    embedder="required",
)
def _embed_pending(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    if arguments.watch:
        if arguments.limit or arguments.retry_quarantined:
            raise cli.UsageError("--watch takes no other options of embed-pending")
        _watch(store, arguments, show)
        return None
    with show.progress("embedding") as progress:
        report = store.file.embed_pending(
            None if arguments.everywhere else store.namespace,
            limit=arguments.limit,
            retry_quarantined=arguments.retry_quarantined,
            progress=progress,
        )
    show.done(summary(report), asdict(report))
    if report.error:
        show.note(f"stopped early: {wording.on_command_line(report.error)}")
        return cli.EMBEDDER_TROUBLE
    return None


def _watch(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    embedded = 0
    last = ""

    def tell(report: EmbedReport | str) -> None:
        nonlocal embedded, last
        if isinstance(report, str):
            trouble = report
        else:
            embedded += report.embedded
            trouble = report.error or ""
            if report.embedded or report.failed:
                show.done(summary(report), asdict(report))
        if trouble and trouble != last:
            show.note(f"waiting for the embedder: {wording.on_command_line(trouble)}")
        last = trouble

    if store.status().embedder is None:
        raise EmbedderError("embedding needs an embedder: name one with --embedder")
    show.note("watching for texts to embed; press Ctrl-C to stop")
    try:
        namespace = None if arguments.everywhere else store.namespace
        store.file.keep_embedding(tell, namespace=namespace)
    except KeyboardInterrupt:  # the way it is meant to end
        show.note(f"stopped; {counted(embedded, 'text')} embedded in all")


@cli.command(
    "reembed",
    "memstore reembed --embedder ollama --model mxbai-embed-large\n"
    "memstore reembed --status\nmemstore reembed --switch-back",
    cli.one_of(
        cli.option("--status", "show how far each model's vectors have come"),
        cli.option("--again", "recompute all vectors even if they are from this model"),
        cli.option("--switch-back", "switch back to the previous model's vectors, at once"),
        cli.option(
            "--drop ID",
            "permanently remove a set of vectors: the previous one, or one started by mistake",
            type=cli.count,
        ),
    ),
)
def _reembed(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    if arguments.status:
        found = store.file.generations.list()
        show.rows([_row(one) for one in found], [one.to_dict() for one in found])
        return None
    if arguments.switch_back:
        _switch_back(store, show)
        return None
    if arguments.drop is not None:
        _drop(store, arguments.drop, show)
        return None
    embedder = make_embedder(chosen_settings(arguments))
    if embedder is None:
        raise cli.UsageError(
            "reembed needs an embedder: name the new one with --embedder and --model"
        )
    try:
        with show.progress("embedding") as progress:
            report = store.file.reembed(embedder, again=arguments.again, progress=progress)
    except KeyboardInterrupt:
        show.note("stopped; searches use the old vectors; run the same command to continue")
        raise
    return _tell_reembedded(report, show)


def _tell_reembedded(report: ReembedReport, show: cli.Show) -> int | None:
    values = asdict(report) | {"generation": report.generation.id, "model": report.generation.model}
    embedded = counted(report.embedded, "text")
    if not report.switched:
        show.done(f"embedded {embedded}, {report.left} left; searches use the old vectors", values)
        show.note(f"stopped early: {wording.on_command_line(report.error or '')}")
        show.note("run the same command to continue")
        return cli.EMBEDDER_TROUBLE
    show.done(f"embedded {embedded}; searches now use {report.generation.model}", values)
    for noun, ids in (("fact", report.quarantined_facts), ("episode", report.quarantined_episodes)):
        if ids:
            named = ", ".join(f"#{one}" for one in ids[:10]) + (" …" if len(ids) > 10 else "")
            show.note(
                f"{counted(len(ids), noun)} rejected by the new model, found by words only: {named}"
            )
    show.note(
        "the old vectors are kept: memstore reembed --switch-back returns to them at once, "
        "memstore reembed --drop removes them"
    )
    return None


def _row(one: GenerationStatus) -> list[object]:
    generation = one.generation
    model = generation.model or "no model yet"
    if generation.dimension:
        model += f" ({generation.dimension} numbers)"
    return [
        f"#{generation.id}",
        generation.state,
        model,
        f"facts: {_counted(one.facts)}",
        f"pieces of episodes: {_counted(one.pieces)}",
    ]


def _counted(counts: VectorCounts) -> str:
    parts = [f"{counts.embedded} embedded"]
    parts += [f"{counts.pending} pending"] if counts.pending else []
    parts += [f"{counts.quarantined} quarantined"] if counts.quarantined else []
    return ", ".join(parts)


def _switch_back(store: Store, show: cli.Show) -> None:
    every = [one.generation for one in store.file.generations.list()]
    retired = [one for one in every if one.state == "retired"]
    if not retired:
        raise Conflict("no older generation is kept")
    used = [one for one in retired if one.switched_at is not None]
    before = max(used or retired, key=lambda one: (one.switched_at or one.created_at, one.id))
    now = store.file.generations.switch(before.id)
    show.done(
        f"searches use {now.model or 'no model'} again, generation {now.id}",
        {"generation": now.id, "model": now.model, "switched": True},
    )


def _drop(store: Store, generation_id: int, show: cli.Show) -> None:
    with show.progress("dropping") as progress:
        compacted = store.file.generations.drop(generation_id, progress=progress)
    show.done(
        f"dropped generation {generation_id}",
        {"generation": generation_id, "dropped": True, "compacted": compacted},
    )
