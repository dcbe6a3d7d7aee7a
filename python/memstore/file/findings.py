"""Findings: what checks of a file report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from memstore import errors
from memstore.errors import Reason, StorageError
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.database.engine import Cancelled, Progress, Transaction

    Check: TypeAlias = Callable[[Transaction], Iterator[tuple[str, bool]]]
    """Yields each problem as a sentence, and whether a rebuild repairs it."""

SHOWN: Final = 10
"""How many items a finding names; the others are only counted."""

DAMAGE: Final = (StorageError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a value of a wrong type or form raises."""


@frozen
class Finding:
    """What a check of the file found."""

    check: str
    message: str
    """A :class:`memstore.errors.Reason` if it has a remedy other than a rebuild."""
    repairable: bool
    """Whether a rebuild repairs it."""


def run(
    checks: Sequence[tuple[str, Check]],
    transaction: Transaction,
    progress: Progress | None,
    cancelled: Cancelled | None = None,
) -> list[Finding]:
    """Run the checks, each with the name of its findings.

    Raises:
        Cancelled: it was cancelled; what was found is dropped.
    """
    found: list[Finding] = []
    for done, (name, check) in enumerate(checks):
        tell(progress, done, len(checks))
        found += _run(name, check, transaction)
        if cancelled is not None and cancelled():  # perhaps amid the check, as if it had failed
            raise errors.Cancelled("checking the file was cancelled")
    tell(progress, len(checks), len(checks))
    return found


def ids(
    name: str, what: str, find: Callable[[Transaction], Iterable[object]], repairable: bool = False
) -> tuple[str, Check]:
    """Return a check that reports the ids that ``find`` returns."""

    def check(transaction: Transaction) -> Iterator[tuple[str, bool]]:
        if wrong := list(find(transaction)):
            yield f"{what}: {some(wrong)}", repairable

    return name, check


def some(items: Iterable[object]) -> str:
    texts = [str(item) for item in items]
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more


def tell(progress: Progress | None, done: int, steps: int) -> None:
    if progress is not None:
        progress(done, steps)


def _run(name: str, check: Check, transaction: Transaction) -> Iterator[Finding]:
    """Yield the findings of a check; damage that stops it is a finding too."""
    try:
        for message, repairable in check(transaction):
            yield Finding(name, message, repairable)
    except StorageError as error:
        yield Finding(name, Reason.of(error), repairable=False)
    except DAMAGE as error:
        yield Finding(name, f"a value cannot be read: {error}", repairable=False)
