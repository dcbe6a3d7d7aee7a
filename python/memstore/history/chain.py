"""Checking the journal's chain of hashes: whether any line was changed, removed or inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore._kernel.chain import breaks
from memstore.database import journal
from memstore.database.acts import BEGINNING, HASH_BYTES, SALT_BYTES, TABLE
from memstore.database.journal import Kind
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.journal import ChainedLine
    from memstore.domain.records import Head

BATCH: Final = 2000
"""Lines read and compared at once."""


def faults(transaction: Transaction, expected: Head | None = None) -> Iterator[str]:
    """Yield a sentence for each fault of the chain.

    Args:
        expected: the end of the chain at an earlier time, kept elsewhere.
    """
    erasures = _Erasures.of(transaction)
    before: ChainedLine | None = None
    for lines in journal.chained(transaction, BATCH):
        for previous, line in zip((before, *lines), lines, strict=False):
            yield from _faults(previous, line, erasures)
        rows = [(*line.columns, *line.texts, line.salt, line.erased, line.hash) for line in lines]
        for place in breaks(_hash(before), rows):
            yield f"line {lines[place].id} does not follow from the line before it"
        if expected is not None and lines[0].id <= expected.line <= lines[-1].id:
            found = next((line for line in lines if line.id == expected.line), None)
            if found is None or _hash(found).hex() != expected.hash:
                yield f"line {expected.line} has another hash than the head that was given"
        before = lines[-1]
    count = 0 if before is None else before.id
    if (ever := transaction.next_id(TABLE) - 1) > count:
        yield f"lines {count + 1} to {ever} are missing"
    if expected is not None and expected.line > count:
        yield f"the last line is {count}, but the head that was given is of line {expected.line}"


def _faults(before: ChainedLine | None, line: ChainedLine, erasures: _Erasures) -> Iterator[str]:
    last = 0 if before is None else before.id
    if line.id > last + 1:
        yield f"lines {last + 1} to {line.id - 1} are missing"
    continues = before is not None and (line.txn, line.at) == (before.txn, before.at)
    begins = line.txn == line.id and (before is None or line.at > before.at)
    if not (continues or begins):
        yield f"line {line.id} belongs to no transaction"
    if _has_spare_salt(line):
        yield f"line {line.id} has a salt without a text"
    if line.erased is not None and not (any(line.erased) and erasures.explain(line)):
        yield f"line {line.id} has lost a text, but no later line says that it was erased"


def _has_spare_salt(line: ChainedLine) -> bool:
    """Return whether a part of the salt belongs to no text, so that no hash covers it."""
    if not isinstance(line.salt, bytes):
        return line.salt is not None
    if len(line.salt) == SALT_BYTES:
        return not any(line.texts)
    parts = range(0, len(line.salt), SALT_BYTES)
    return any(
        text is None and any(line.salt[start : start + SALT_BYTES])
        for text, start in zip(line.texts, parts, strict=False)
    )


def _hash(line: ChainedLine | None) -> bytes:
    if line is None or not isinstance(line.hash, bytes) or len(line.hash) != HASH_BYTES:
        return BEGINNING
    return line.hash


class _Erasures(NamedTuple):
    """What was erased: each fact and episode with the line that says so, and single texts."""

    facts: dict[int, int]
    episodes: dict[int, int]
    evidence: set[int]

    @classmethod
    def of(cls, transaction: Transaction) -> _Erasures:
        facts: dict[int, int] = {}
        episodes: dict[int, int] = {}
        evidence: set[int] = set()
        for line in journal.of_kinds(transaction, ERASING):
            if line.kind == Kind.REDACT:
                evidence.add((line.evidence or {}).get("line", 0))
            elif line.fact_id is not None:
                facts[line.fact_id] = line.id
            elif line.episode_id is not None:
                episodes[line.episode_id] = line.id
        return cls(facts, episodes, evidence)

    def explain(self, line: ChainedLine) -> bool:
        about = self.episodes.get(line.episode_id or 0, 0)
        if line.fact_id is not None:
            about = self.facts.get(line.fact_id, 0)
        return about > line.id or line.id in self.evidence


ERASING: Final[Sequence[Kind]] = (Kind.ERASE, Kind.ERASE_EPISODE, Kind.REDACT)
