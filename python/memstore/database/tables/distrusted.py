"""The facts that rest on distrusted sources alone, and the episodes of such sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import Kind
from memstore.database.writes import Delete, Insert
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction

SPEAKING: Final = (
    Kind.ADD,
    Kind.ADOPT,
    Kind.CONFIRM,
    Kind.UNCONFIRM,
    Kind.SUPPORT,
    Kind.UNSUPPORT,
    Kind.DELETE,
    Kind.RESTORE,
    Kind.DISTRUST,
    Kind.ERASE,
)
"""The kinds of lines that change what speaks for a fact."""

RECORDING: Final = (Kind.EPISODE, Kind.ADOPT, Kind.ERASE_EPISODE)
"""The kinds of lines about an episode that change what speaks for its facts."""


class HiddenTable(NamedTuple):
    """A table of the ids of rows that searches and lists leave out."""

    name: str
    key: str
    home: str
    """The table whose rows they are."""

    def ids(self, transaction: Transaction) -> list[int]:
        return transaction.ints(f"SELECT {self.key} FROM {self.name} ORDER BY 1")

    def change(
        self, transaction: Transaction, judged: Sequence[int], hidden: Sequence[int]
    ) -> tuple[int, int]:
        """Hide these of the judged rows; return how many were not hidden, and are not any more."""
        listed = transaction.dialect.listed
        values = {"judged": judged, "hidden": hidden}
        shown = transaction.run(
            Delete(
                self.name,
                f"{self.key} IN {listed('judged')} AND {self.key} NOT IN {listed('hidden')}",
            ),
            values,
        )
        added = transaction.run(
            Insert(
                self.name,
                (self.key,),
                ("h.id",),
                f"{self.home} h WHERE h.id IN {listed('hidden')}"
                f" AND h.id NOT IN (SELECT {self.key} FROM {self.name})",
            ),
            values,
        )
        return added, shown

    def forget_others(self, transaction: Transaction) -> None:
        """Remove the ids of rows that do not exist."""
        transaction.run(Delete(self.name, f"{self.key} NOT IN (SELECT id FROM {self.home})"))


FACTS: Final = HiddenTable("memstore_distrusted", "fact_id", "memstore_facts")
EPISODES: Final = HiddenTable("memstore_distrusted_episodes", "episode_id", "memstore_episodes")


class Touched(NamedTuple):
    """What the lines of an act are about, as far as they change what speaks for a fact."""

    facts: list[int]
    episodes: list[int]


def touched(transaction: Transaction, txn: int) -> Touched:
    """Return what the lines from one on are about; an episode is with all facts it speaks for."""
    listed, hint = transaction.dialect.listed, transaction.dialect.indexed_by(None)
    rows = transaction.rows(
        f"SELECT fact_id, episode_id FROM memstore_journal {hint} WHERE id >= :txn AND"
        f" (fact_id IS NOT NULL AND kind IN {listed('speaking')}"
        f" OR fact_id IS NULL AND episode_id IS NOT NULL AND kind IN {listed('recording')})",
        {"txn": txn, "speaking": SPEAKING, "recording": RECORDING},
    )
    about = {*rows}
    facts = sorted({fact_id for fact_id, _ in about if fact_id is not None})
    episodes = sorted({episode_id for fact_id, episode_id in about if fact_id is None})
    if episodes:
        facts = sorted({*facts, *of_episodes(transaction, episodes)})
    return Touched(facts, episodes)


def of_episodes(transaction: Transaction, episode_ids: Sequence[int]) -> list[int]:
    """Return the facts that episodes speak for, or spoke for before they were erased."""
    listed = transaction.dialect.listed("ids")
    return transaction.ints(
        f"SELECT id FROM memstore_facts WHERE episode_id IN {listed}"
        f" UNION SELECT fact_id FROM memstore_journal WHERE episode_id IN {listed}"
        " AND fact_id IS NOT NULL",
        {"ids": episode_ids},
    )
