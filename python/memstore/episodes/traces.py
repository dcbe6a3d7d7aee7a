"""The trace of a session: an episode that says what was done, so that a search finds it.

It is written when the session's conversation is kept. Episodes are append-only, so a newer trace of
the same session is a new episode, and the older one expires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock, zones
from memstore.domain.episodes import TRACE as TRACE
from memstore.domain.episodes import NewEpisode

if TYPE_CHECKING:
    from collections.abc import Sequence


LABELS: Final = {
    "changed": "Changed files",
    "committed": "Commits",
    "failed": "Failed commands",
}
"""The keys of its metadata, and how its text names them."""


def new_trace(
    *,
    source: str,
    session: str,
    changed: Sequence[str],
    committed: Sequence[str],
    failed: Sequence[str],
    began: str | None,
    ended: str | None,
) -> NewEpisode | None:
    """Return the trace of a session as an episode; ``None`` if nothing was done in it."""
    done = {"changed": [*changed], "committed": [*committed], "failed": [*failed]}
    if not any(done.values()):
        return None
    when = _when(began, ended) if began and ended else ""
    lists = (f"{LABELS[name]}: {'; '.join(some)}" for name, some in done.items() if some)
    return NewEpisode(
        content="\n".join([f"What was done in a session of {source}{when}:", *lists]),
        source=source,
        thread=session,
        tags=("session", TRACE),
        valid_at=ended,
        metadata={name: some for name, some in done.items() if some},
    )


def _when(began: str, ended: str) -> str:
    try:
        first, last = map(zones.minute, map(clock.from_text, (began, ended)))
    except ValueError:  # as the host wrote it
        return ""
    return f" on {first[:10]} from {first[11:]} to {last[11:]}"
