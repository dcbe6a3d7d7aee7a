"""Stores the turns of a host's session as episodes, each once, and what the session did."""

from __future__ import annotations

import os
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain.episodes import NewEpisode
from memstore.domain.records import NOBODY
from memstore.episodes.traces import TRACE, new_trace
from memstore.errors import Conflict, InvalidArgument, InvalidArgumentType
from memstore.faces.hosts import traces, transcripts, troubles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from memstore.domain.records import Scope
    from memstore.faces.hosts.transcripts import TranscriptTurn
    from memstore.store.store import Store

REFUSED: Final = (InvalidArgument, InvalidArgumentType, Conflict)
"""How the store says that it does not take a turn, such as one with a secret."""

REASON: Final = "refused by the store"

AT_ONCE: Final = 100
"""Episodes that are added together, so that other writers need not wait long."""

CHARACTERS_AT_ONCE: Final = 1_000_000
"""Characters of them, unless one has more."""


def keep(store: Store, host: str, event: dict[str, Any], owner: Scope = NOBODY) -> int:
    """Store the turns of a session that are not stored yet; return how many were kept.

    A turn is identified by its id in the transcript, so a session can be read again at any time.
    What is left out is counted, for the status of the file.
    """
    path = transcripts.file_of(event)
    if path is None:
        return 0
    session = transcripts.session_of(event) or path.stem
    left_out: Counter[str] = Counter()
    turns = transcripts.turns(path, left_out)
    kept = 0
    for some in _batches(turns):
        kept += add(store, [episode(turn, host, session, owner) for turn in some], left_out)
    if settings.keeps_traces():
        try:
            _keep_trace(store, host, session, path, owner)
        except REFUSED:
            left_out[REASON] += 1
    named = transcripts.session_of(event) or ""
    about = troubles.Trouble(os.path.abspath(store.path), named, host, troubles.KEEP)
    troubles.note(about, left_out=left_out)
    return kept


def _batches(turns: Iterable[TranscriptTurn]) -> Iterator[list[TranscriptTurn]]:
    """Yield turns in order, as many as are held in memory at once."""
    some: list[TranscriptTurn] = []
    for turn in turns:
        some.append(turn)
        if len(some) == AT_ONCE or sum(len(one.text) for one in some) > CHARACTERS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def add(store: Store, some: Sequence[NewEpisode], left_out: Counter[str]) -> int:
    """Add turns together, or if the store refuses one of them, one by one.

    Those that are refused are counted in ``left_out``; returns how many were not.
    """
    try:
        return len(store.episodes.add_many(some))
    except REFUSED:
        if len(some) == 1:
            left_out[REASON] += 1
            return 0
    return sum(add(store, [one], left_out) for one in some)


def is_worth_keeping(event: dict[str, Any]) -> bool:
    """Return whether a session has any turn, and conversations are recorded."""
    path = transcripts.file_of(event)
    said = path is not None and any(True for _ in transcripts.turns(path, Counter()))
    return said and settings.keeps_transcripts()


def _keep_trace(store: Store, host: str, session: str, path: Path, owner: Scope) -> None:
    """Store what the session did so far, in place of what an earlier call stored."""
    done = traces.trace(path, settings.project_folder())
    made = new_trace(source=host, session=session, owner=owner, **done._asdict())
    if made is not None:
        store.episodes.replace(made, TRACE)


def episode(turn: TranscriptTurn, host: str, session: str, owner: Scope) -> NewEpisode:
    """Return a turn as an episode, with a key by which it is stored only once."""
    # A host may write an incomplete turn, and later the complete one under the same id.
    digest = sha256(turn.text.encode("utf-8", "replace")).hexdigest()[:12]
    return NewEpisode(
        content=turn.text,
        source=host,
        thread=session,
        speaker=turn.role,
        tags=("session",),
        valid_at=turn.at,
        idempotency_key=f"{host}:{session}:{turn.mark}:{digest}",
        **owner.ids,
    )
