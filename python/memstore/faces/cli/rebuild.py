"""The commands ``rebuild`` and ``consolidate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import set_fields
from memstore.faces.cli import command as cli
from memstore.faces.options import add_generator_flags
from memstore.learn import comparison, consolidation
from memstore.learn.extraction import Extractor

if TYPE_CHECKING:
    import argparse

    from memstore.learn.consolidation import Consolidated
    from memstore.store.store import Store


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
        choices=comparison.POLICIES,
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
            scope = cli.scope_if_named(arguments)
            extractor = Extractor(store, generator, policy=arguments.policy, scope=scope)
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
    scope = cli.scope_if_named(arguments)
    with cli.needed_generator(arguments, "consolidate") as generator:
        done = consolidation.consolidate(
            store,
            subject=arguments.subject,
            generator=generator,
            scope=scope,
            policy=arguments.policy,
        )
    show.rows([_row(one) for one in done], [set_fields(one) for one in done])
    if not done:
        show.note("nothing to consolidate")


def _row(one: Consolidated) -> tuple[object, ...]:
    return (
        str(one.outcome),
        None if one.fact_id is None else f"#{one.fact_id}",
        None if one.proposal_id is None else f"proposal {one.proposal_id}",
        ", ".join(f"#{fact_id}" for fact_id in one.fact_ids),
        one.content,
        one.reason,
    )
