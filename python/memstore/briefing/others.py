"""What others changed since a session: one line, from the journal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.journal import Kind
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter

VERBS: Final = {
    Kind.ADD: "added",
    Kind.ADOPT: "imported",
    Kind.SUPERSEDE: "retired",
    Kind.DELETE: "retired",
    Kind.RESTORE: "restored",
    Kind.CONFIRM: "confirmed",
    Kind.METADATA: "changed",
    Kind.PIN: "changed",
    Kind.UNPIN: "changed",
}
"""What each kind of change is called, in the order in which they are told."""

MAX_LINES: Final = 20_000
"""Of a longer journal since then, the newest lines are counted."""

MAX_AUTHORS: Final = 4


def changed(
    transaction: Transaction, wanted: FactFilter, episode_id: int, agent: str | None
) -> str:
    """Return who changed how many facts after an episode was recorded; empty if nobody did.

    Changes by the agent itself are left out.
    """
    found = journal.authors_since(transaction, wanted, episode_id, [*VERBS], MAX_LINES)
    by_author: dict[str, Counter[str]] = {}
    for actor, source, kind, number in found:
        author = source if actor == "agent" else actor
        if author != agent:
            by_author.setdefault(author, Counter())[VERBS[Kind(kind)]] += number
    told = []
    for author, counts in sorted(by_author.items(), key=lambda one: -one[1].total()):
        ordered = {verb: counts[verb] for verb in VERBS.values() if counts[verb]}
        done = ", ".join(f"{verb} {number:,}" for verb, number in ordered.items())
        told.append(f"{visible(author[:40])} {done}")
    return "; ".join(told[:MAX_AUTHORS])
