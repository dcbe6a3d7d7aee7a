"""Stores the turns of a host's session as episodes, each once, what the session did, and what the
host remembers by itself.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memstore import projects, settings
from memstore.domain.episodes import NewEpisode
from memstore.domain.turns import TurnKey, digest_of
from memstore.episodes.episodes import add_in_the_past, replace_in_the_past
from memstore.episodes.traces import TRACE, new_trace
from memstore.errors import Conflict, InvalidArgument, InvalidArgumentType, MemstoreError
from memstore.faces.hosts import own_memory, prompted, sessions, traces, transcripts, troubles
from memstore.named import NamedTuple
from memstore.store.store import standing_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memstore.domain.records import Scope
    from memstore.faces.hosts.transcripts import TranscriptTurn
    from memstore.store.store import Store

REFUSED: Final = (InvalidArgument, InvalidArgumentType, Conflict)
"""How the store says that it does not take a turn, such as one with a secret."""

REASON: Final = "refused by the store"

NOT_FOLLOWED: Final = "in the host's own memory, and not taken"

AT_ONCE: Final = 100
"""Episodes that are added together, so that other writers need not wait long."""

CHARACTERS_AT_ONCE: Final = 1_000_000
"""Characters of them, unless one has more."""


def keep(store: Store, host: str, event: dict[str, Any]) -> int:
    """Store the turns of a session that are not stored yet; return how many were kept.

    A turn is identified by its id in the transcript, so a session can be read again at any time.
    What is left out is counted, for the status of the file.
    """
    path = transcripts.file_of(event)
    if path is None:
        return 0
    session = transcripts.session_of(event) or path.stem
    left_out: Counter[str] = Counter()
    kept = 0
    running = sessions.HostSession.of(transcripts.session_of(event), os.path.abspath(store.path))
    is_noted = prompted.has_notes(running)
    prompts: list[str] = []
    for some in _batches(path, left_out, session):
        kept += add_turns(store, host, session, some, left_out)
        if is_noted:
            prompts += _stored_prompts(store, host, session, some)
    if is_noted:
        prompted.record(store, running, prompts)
    store.episodes.fold_turns()
    keep_trace(store, host, session, path, left_out, settings.project_folder())
    follow_own_memory(store, host, path, left_out)
    named = transcripts.session_of(event) or ""
    about = troubles.Trouble(os.path.abspath(store.path), named, host, troubles.KEEP)
    troubles.note(about, left_out=left_out)
    return kept


def _stored_prompts(
    store: Store, host: str, session: str, turns: Sequence[TranscriptTurn]
) -> list[str]:
    """Return what the user said, as far as it is stored and was not erased."""
    owner = standing_of(store).written
    texts = {
        str(episode(turn, host, session, owner).idempotency_key): turn.text
        for turn in turns
        if turn.role == "user"
    }
    found = store.episodes.by_keys([*texts])
    return [texts[key] for key, turn in found.items() if turn.content]


class KeptTurns(NamedTuple):
    """The turns of a session of the past."""

    new: int
    known: int


def import_session(
    store: Store,
    host: str,
    session: str,
    path: Path,
    left_out: Counter[str],
    root: str,
) -> KeptTurns:
    """Store a session that is over as if that had been done at its time.

    Args:
        root: the folder of the project, to which the paths of files are relative.
    """
    kept = known = 0
    for some in _batches(path, left_out, session):
        known += len(_known(store, host, session, some))
        kept += add_turns(store, host, session, some, left_out, in_the_past=True)
    if kept:
        keep_trace(store, host, session, path, left_out, root, in_the_past=True)
    return KeptTurns(max(0, kept - known), known)


def _batches(path: Path, left_out: Counter[str], session: str) -> Iterator[list[TranscriptTurn]]:
    """Yield the turns of a session in order, as many as are held in memory at once."""
    some: list[TranscriptTurn] = []
    size = 0
    for turn in transcripts.turns(path, left_out, session):
        some.append(turn)
        size += len(turn.text)
        if len(some) == AT_ONCE or size > CHARACTERS_AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def _known(store: Store, host: str, session: str, turns: Sequence[TranscriptTurn]) -> set[int]:
    """Return which of these turns are stored, by ``id()``."""
    owner = standing_of(store).written
    keys = {str(episode(turn, host, session, owner).idempotency_key): turn for turn in turns}
    keys |= {key: turn for turn in turns for key in _earlier_keys(turn, host, session)}
    return {id(keys[key]) for key in store.episodes.by_keys([*keys])}


def add_turns(
    store: Store,
    host: str,
    session: str,
    turns: Sequence[TranscriptTurn],
    left_out: Counter[str],
    *,
    in_the_past: bool = False,
) -> int:
    """Store turns that were neither stored nor erased before; return how many there are.

    Those that are refused are counted in ``left_out``.

    Args:
        in_the_past: whether they count as recorded when they were said.
    """
    earlier = {key: turn for turn in turns for key in _earlier_keys(turn, host, session)}
    known = store.episodes.by_keys([*earlier])
    same = {id(earlier[key]) for key in known}
    owner = standing_of(store).written
    new = [episode(turn, host, session, owner) for turn in turns if id(turn) not in same]
    left = store.episodes.unerased(new)
    return len(turns) - len(new) + _add(store, left, left_out, in_the_past)


def _add(
    store: Store, some: Sequence[NewEpisode], left_out: Counter[str], in_the_past: bool
) -> int:
    """Add turns together, or if the store refuses one of them, one by one.

    Those that are refused are counted in ``left_out``; returns how many were not.
    """
    if not some:
        return 0
    try:
        if in_the_past:
            return len(add_in_the_past(store.episodes, some))
        return len(store.episodes.add_many(some))
    except REFUSED:
        if len(some) == 1:
            left_out[REASON] += 1
            return 0
    return sum(_add(store, [one], left_out, in_the_past) for one in some)


def follow_own_memory(store: Store, host: str, path: Path, left_out: Counter[str]) -> None:
    """Bring the facts up to date with what the host remembers by itself for this project."""
    root = projects.project_of().folder
    try:
        for said in own_memory.of_session(host, root, store.namespace, path):
            done = own_memory.follow(store, said)
            left_out[NOT_FOLLOWED] += said.left_out + done.refused
    except (MemstoreError, OSError):  # the conversation is stored
        left_out[NOT_FOLLOWED] += 1


def is_worth_keeping(event: dict[str, Any]) -> bool:
    """Return whether a session has any turn, and conversations are recorded."""
    path = transcripts.file_of(event)
    said = path is not None and any(True for _ in transcripts.turns(path, Counter()))
    return said and settings.keeps_transcripts()


def keep_trace(
    store: Store,
    host: str,
    session: str,
    path: Path,
    left_out: Counter[str],
    root: str,
    *,
    in_the_past: bool = False,
) -> None:
    """Store what the session did so far, in place of what an earlier call stored."""
    if not settings.keeps_traces():
        return
    try:
        done = traces.trace(path, root)
        made = new_trace(source=host, session=session, **done._asdict())
        if made is not None and in_the_past:
            replace_in_the_past(store.episodes, made, TRACE)
        elif made is not None:
            store.episodes.replace(made, TRACE)
    except REFUSED:
        left_out[REASON] += 1


def episode(turn: TranscriptTurn, host: str, session: str, owner: Scope) -> NewEpisode:
    """Return a turn as an episode, with a key by which it is stored only once.

    One that was copied from another session is recorded where it was said.
    """
    # A host may write an incomplete turn, and later the complete one under the same id.
    key = TurnKey.of(host, session, turn.mark, digest_of(turn.text), owner)
    return NewEpisode(
        content=turn.text,
        source=host,
        thread=turn.copied_from or session,
        speaker=turn.role,
        tags=("session",),
        valid_at=turn.at,
        idempotency_key=str(key),
    )


def _earlier_keys(turn: TranscriptTurn, host: str, session: str) -> Iterator[str]:
    """Yield the keys that earlier versions gave a turn."""
    for one in dict.fromkeys((session, turn.copied_from)):
        if one is not None:
            yield str(TurnKey(host, one, turn.mark, digest_of(turn.text)))
