"""Verification: whether the journal is whole, and all that it tells of is as it says.

That is facts, episodes, proposals, access tokens, decisions about entities and generations. The
journal is compared with its chain of hashes, and the rows with the journal replayed. What searches
read, which is derived from the rows, is compared with them, and so is the schema, whose triggers
keep other programs from changing the journal.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memstore.database import meta as meta_table
from memstore.database.migrations import VERSION
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.errors import Reason, Remedy
from memstore.file import findings, indexes, journal_check, tokens
from memstore.history import chain, trust

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.domain.records import Head
    from memstore.file.findings import Check, Finding


def verify(
    engine: Engine, head: Head | None = None, progress: Progress | None = None
) -> list[Finding]:
    """Compare the journal with its hashes and the rows with the journal; return what differs.

    The checks use a copy of one state of the file, so that they hold up nobody.

    Args:
        engine: the file.
        head: the end of the journal at an earlier time, kept elsewhere.
        progress: called with the number of checks done and the total.
    """
    checks = (*of_lines(head), *of_rows(engine))
    with engine.aside() as copy:
        return findings.run(checks, copy, progress)


def of_lines(head: Head | None = None) -> Sequence[tuple[str, Check]]:
    """Return the checks of the chain, which read every line."""
    return (("journal", partial(_chain, head)),)


def of_rows(engine: Engine) -> Sequence[tuple[str, Check]]:
    """Return the checks of what the journal tells of, and of what protects and finds it."""
    return (
        ("schema", partial(_schema, engine)),
        findings.ids("journal", "facts that another program inserted", indexes.foreign, True),
        findings.ids("journal", "facts that differ from the journal", journal_check.facts),
        findings.ids("episodes", "episodes that differ from the journal", journal_check.episodes),
        findings.ids(
            "proposals", "proposals that differ from the journal", journal_check.proposals
        ),
        findings.ids(
            "tokens",
            "tokens that differ from the journal, which a rebuild puts back",
            tokens.misfits,
            True,
        ),
        findings.ids(
            "tokens", "tokens that differ from the journal, revoke unknown ones", tokens.strangers
        ),
        findings.ids(
            "decisions",
            "decisions about entities that differ from the journal, make or forget them again",
            journal_check.decisions,
        ),
        findings.ids(
            "generations",
            "generations of vectors that differ from the journal",
            journal_check.generations,
        ),
        findings.ids("facts", "facts in another form than written", fact_table.misformed),
        findings.ids("episodes", "episodes in another form than written", episode_table.misformed),
        findings.ids(
            "words", "episodes with wrong segments, tags or pieces", indexes.episodes, True
        ),
        findings.ids(
            "words", "facts with wrong subject keys, claims or segments", indexes.facts, True
        ),
        findings.ids(
            "words",
            "facts that filters do not find by their metadata",
            fact_table.misfiled_members,
            True,
        ),
        findings.ids("trust", "sources that count other than journalled", trust.misread, True),
        findings.ids("trust", "facts wrongly hidden, or wrongly shown", trust.misjudged, True),
        findings.ids(
            "trust", "episodes wrongly hidden, or wrongly shown", trust.misjudged_episodes, True
        ),
    )


def _chain(head: Head | None, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    wrong = [*chain.faults(transaction, head)]
    for fault in wrong[: findings.SHOWN]:
        yield Reason(f"the journal: {fault}", Remedy.RESTORE_BACKUP), False
    if more := wrong[findings.SHOWN :]:
        yield Reason(f"the journal has {len(more)} more faults", Remedy.RESTORE_BACKUP), False


def _schema(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    wrong = engine.schema_troubles(transaction)
    if wrong.own:
        yield (
            "parts of the schema that another program dropped or changed: "
            f"{findings.some(wrong.own)}; "
            "what was written since may not be found, counted or protected",
            True,
        )
    if wrong.planted:
        yield (
            "parts that another program put on these tables, which can change or refuse what is "
            f"stored: {findings.some(wrong.planted)}; a rebuild drops them, and shows their text",
            True,
        )
    if wrong.tables:
        yield (
            Reason(
                "tables that another program dropped or changed: "
                f"{findings.some(wrong.tables)}; what was written since may be wrong or missing",
                Remedy.RESTORE_BACKUP,
            ),
            False,
        )
    if wrong.strangers:
        yield (
            "tables of other programs with names of this one's: "
            f"{findings.some(wrong.strangers)}; rename or drop them",
            False,
        )
    if (versions := meta_table.versions(transaction)) != {VERSION}:
        told = ", ".join(map(str, sorted(versions))) or "none"
        yield f"the schema version is written as {told} instead of {VERSION}", True
