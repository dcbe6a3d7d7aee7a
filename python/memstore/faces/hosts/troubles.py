"""Records what hooks could not do, in small files that ``memstore status`` and ``doctor`` show.

A hook has nobody to tell: its host ignores standard error, and the process that keeps a
conversation has none. So for each session there is a file with what of it was left out, and one
with the error of its last hook; a later hook that succeeds removes it. No texts are in them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.domain import clock, zones
from memstore.faces.escaping import counted
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.escaping import visible

if TYPE_CHECKING:
    import hashlib
    import pathlib
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.faces.hosts import record_kinds, sessions
else:  # usually there is no trouble
    hashlib = lazy_import("hashlib")
    pathlib = lazy_import("pathlib")
    record_kinds = lazy_import("memstore.faces.hosts.record_kinds")
    sessions = lazy_import("memstore.faces.hosts.sessions")

MAX_ERROR_CHARACTERS: Final = 300
KEEP: Final = "keep"
"""The event of storing a conversation."""


class Trouble(NamedTuple):
    """A hook that failed, or left something out."""

    database: str
    session: str
    host: str
    event: str
    at: str = ""
    error: str = ""
    left_out: Mapping[str, int] = {}
    """How many turns, by the reason."""
    lost: str = ""
    """Why the end of the session was not kept."""


def note(
    about: Trouble,
    *,
    error: str = "",
    left_out: Mapping[str, int] | None = None,
    lost: str = "",
) -> None:
    """Remember what a hook could not do; nothing to remember removes what there was."""
    counts = {reason: number for reason, number in (left_out or {}).items() if number}
    if not (error or counts or lost or _names()):
        return
    file = folder() / f"{_digest(about)}.json"
    with suppress(OSError):  # a full or read-only disk
        if not (error or counts or lost):
            file.unlink(missing_ok=True)
            return
        told = visible(error[:MAX_ERROR_CHARACTERS])
        at = clock.to_text(clock.utc_now())
        noted = about._replace(at=at, error=told, left_out=counts, lost=lost)
        sessions.write(file, noted._asdict())


def sentences(database: str) -> list[str]:
    """Return what the hooks of a file could not do, in sentences."""
    return sentences_of(os.path.abspath(database), "")


def sentences_of(*databases: str) -> list[str]:
    """Return the same of hooks whose ``database`` is one of these, such as a server's address."""
    found = [one for one in _all() if one.database in databases]
    left_out: Counter[str] = Counter()
    unknown: dict[str, Counter[str]] = {}
    affected = 0
    for one in found:
        kinds = {
            why: number
            for why, number in one.left_out.items()
            if why.startswith(record_kinds.UNKNOWN)
        }
        if kinds:
            unknown.setdefault(one.host, Counter()).update(kinds)
        left_out.update({k: v for k, v in one.left_out.items() if k not in kinds})
        affected += len(kinds) < len(one.left_out)
    told: list[str] = []
    if affected:
        listed = ", ".join(f"{number:,} {reason}" for reason, number in sorted(left_out.items()))
        turns = counted(left_out.total(), "turn")
        told.append(f"hooks did not keep {turns} of {counted(affected, 'session')}: {listed}")
    if lost := Counter(one.lost for one in found if one.lost):
        listed = ", ".join(f"{number:,} {reason}" for reason, number in sorted(lost.items()))
        told.append(f"hooks did not keep the end of {counted(lost.total(), 'session')}: {listed}")
    told += (_unknown(host, kinds) for host, kinds in sorted(unknown.items()))
    failed = max((one for one in found if one.error), key=lambda one: one.at, default=None)
    if failed is not None:
        when = _minute(failed.at)
        told.append(f"the hook {failed.event} of {failed.host} failed on {when}: {failed.error}")
    return told


def _unknown(host: str, kinds: Counter[str]) -> str:
    listed = ", ".join(
        f"{number:,} {visible(why.removeprefix(record_kinds.UNKNOWN))}"
        for why, number in sorted(kinds.items())
    )
    return (
        f"transcripts of {visible(host)} have records of kinds that this version does not know, "
        f"and that were not kept: {listed}; a newer version may know them"
    )


def _minute(at: str) -> str:
    with suppress(ValueError):
        return zones.minute(clock.from_text(at))
    return at[:16].replace("T", " ")


def folder() -> Path:
    return pathlib.Path(settings.troubles_folder())


def _names() -> list[str]:
    with suppress(OSError):
        names = os.listdir(settings.troubles_folder())
        return sorted(name for name in names if name.endswith(".json"))
    return []


def _digest(about: Trouble) -> str:
    named = "\0".join((about.database, about.session, about.host, about.event))
    return hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:32]


def _all() -> Iterator[Trouble]:
    for name in _names():
        with suppress(OSError, ValueError, TypeError, AttributeError):  # damaged
            held = Trouble(**json.loads((folder() / name).read_bytes()))
            counts = {str(k): int(v) for k, v in held.left_out.items()}
            texts = {name: str(getattr(held, name)) for name in ("at", "error", "lost")}
            yield held._replace(**texts, left_out=counts)
