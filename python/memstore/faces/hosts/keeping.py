"""Stores the turns of a host's session as episodes, each once, what the session did, and what the
host remembers by itself.
"""

from __future__ import annotations

import os
from collections import Counter
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore import projects, settings
from memstore.domain.episodes import NewEpisode
from memstore.domain.records import NOBODY
from memstore.episodes.log import add_once, replace_in_the_past
from memstore.episodes.traces import TRACE, new_trace
from memstore.errors import Conflict, InvalidArgument, InvalidArgumentType, MemstoreError
from memstore.faces.hosts import own_memory, traces, transcripts, troubles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memstore.domain.records import Scope
    from memstore.faces.hosts.transcripts import TranscriptTurn
    from memstore.store.store import Store

REFUSED: Final = (InvalidArgument, InvalidArgumentType, Conflict)
"""How the store says that it does not take a turn, such as one with a secret."""

REASON: Final = "refused by the store"

NOT_FOLLOWED: Final = "in the host's own memory, and not taken"

AT_ONCE: Final = 100
"""Episodes per transaction, so that other writers need not wait long."""


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
    kept = keep_file(store, host, session, path, owner, left_out, settings.project_folder())
    follow_own_memory(store, host, path, owner, left_out)
    named = transcripts.session_of(event) or ""
    about = troubles.Trouble(os.path.abspath(store.path), named, host, troubles.KEEP)
    troubles.note(about, left_out=left_out)
    return kept


def keep_file(
    store: Store,
    host: str,
    session: str,
    path: Path,
    owner: Scope,
    left_out: Counter[str],
    root: str,
    *,
    in_the_past: bool = False,
) -> int:
    """Store the turns of a transcript and what the session did; return how many turns are new.

    Args:
        root: the folder of the project, to which the paths of files are relative.
        in_the_past: whether they count as recorded when they were said.
    """
    turns = transcripts.turns(path, left_out)
    kept = 0
    while some := [episode(turn, host, session, owner) for turn in islice(turns, AT_ONCE)]:
        kept += add(store, some, left_out, in_the_past=in_the_past)
    if settings.keeps_traces():
        try:
            _keep_trace(store, host, session, path, owner, root, in_the_past)
        except REFUSED:
            left_out[REASON] += 1
    return kept


def add(
    store: Store,
    some: Sequence[NewEpisode],
    left_out: Counter[str],
    *,
    in_the_past: bool = False,
) -> int:
    """Add turns together, or if the store refuses one of them, one by one.

    Those that are refused are counted in ``left_out``; returns how many are new.
    """
    names = [str(one.idempotency_key).rpartition(":")[0] for one in some]  # without the digest
    try:
        return add_once(store.episodes, some, names, in_the_past=in_the_past)
    except REFUSED:
        if len(some) == 1:
            left_out[REASON] += 1
            return 0
    return sum(add(store, [one], left_out, in_the_past=in_the_past) for one in some)


def follow_own_memory(
    store: Store, host: str, path: Path, owner: Scope, left_out: Counter[str]
) -> None:
    """Bring the facts up to date with what the host remembers by itself for this project."""
    root = projects.project_of().folder
    try:
        for said in own_memory.of_session(host, root, store.namespace, path):
            done = own_memory.follow(store, said, owner)
            left_out[NOT_FOLLOWED] += said.left_out + done.refused
    except (MemstoreError, OSError):  # the conversation is stored
        left_out[NOT_FOLLOWED] += 1


def is_worth_keeping(event: dict[str, Any]) -> bool:
    """Return whether a session has any turn, and conversations are recorded."""
    path = transcripts.file_of(event)
    said = path is not None and any(True for _ in transcripts.turns(path, Counter()))
    return said and settings.keeps_transcripts()


def _keep_trace(
    store: Store, host: str, session: str, path: Path, owner: Scope, root: str, in_the_past: bool
) -> None:
    """Store what the session did so far, in place of what an earlier call stored."""
    done = traces.trace(path, root)
    made = new_trace(source=host, session=session, owner=owner, **done._asdict())
    if made is not None and in_the_past:
        replace_in_the_past(store.episodes, made, TRACE)
    elif made is not None:
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
