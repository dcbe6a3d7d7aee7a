"""What hooks answered prompts with, until it is recorded as searches are.

A hook opens the file to read, so it only notes what it gave: when, the hash of the prompt, and the
names of facts and turns. When the conversation is kept, the prompt is found in it by its hash, and
recorded with what was noted. No text of a prompt or memory is in the notes.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.domain.searches import PROMPT
from memstore.domain.turns import digest_of
from memstore.errors import MemstoreError
from memstore.faces.hosts import sessions
from memstore.named import NamedTuple
from memstore.providers.local import tokens_at_most

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.faces.hosts.recalling import Recollection
    from memstore.faces.hosts.sessions import HostSession
    from memstore.store.store import Store

MAX_BYTES: Final = 256 * 1024
"""Of the notes of a session; prompts after that are not noted."""


NAME: Final = re.compile("[#e][0-9]{1,18}")
"""The name of a fact or a turn."""


class PromptNote(NamedTuple):
    """A prompt that a hook answered.

    Attributes:
        digest: the hash of its text.
        given: the names of the facts and turns in the answer; none if nothing was added.
    """

    at: str
    digest: str
    given: tuple[str, ...]
    tokens: int
    milliseconds: float

    @classmethod
    def of(cls, line: str) -> PromptNote | None:
        """Read a line of the notes; ``None`` if it has another form."""
        with suppress(ValueError, TypeError, LookupError):
            held = json.loads(line)
            return cls(
                clock.to_text(clock.from_text(str(held["at"]))),
                str(held["digest"]),
                tuple(one for one in map(str, held["given"]) if NAME.fullmatch(one)),
                int(held["tokens"]),
                float(held["milliseconds"]),
            )
        return None


def note(session: HostSession, prompt: str, given: Recollection, milliseconds: float) -> None:
    """Note what a prompt was answered with; one that cannot be noted is only not recorded."""
    if session.file is None:
        return
    line = PromptNote(
        clock.to_text(clock.utc_now()),
        digest_of(prompt),
        given.given,
        0 if given.text is None else tokens_at_most(given.text),
        round(milliseconds, 1),
    )
    with suppress(OSError):
        sessions.append(_file_of(session.file), json.dumps(line._asdict()), MAX_BYTES)


def record(store: Store, session: HostSession, texts: Iterable[str]) -> None:
    """Record what the prompts of a session were answered with, and forget the notes.

    Args:
        texts: what the user said in it.
    """
    said = {digest_of(text): text for text in texts}
    for one in _taken(session):
        text = said.get(one.digest)
        if text is None or _is_erased(store, one):
            continue
        with suppress(MemstoreError):
            record_prompt(store, text, one.given, at=one.at, tokens=one.tokens, ms=one.milliseconds)


def _is_erased(store: Store, one: PromptNote) -> bool:
    """Whether a fact was erased meanwhile that the prompt was given."""
    ids = [int(name[1:]) for name in one.given if name.startswith("#")]
    return len(store.get_many(ids)) < len({*ids})


def has_notes(session: HostSession) -> bool:
    return session.file is not None and os.path.exists(_file_of(session.file))


def record_prompt(
    store: Store, prompt: str, given: Iterable[str], *, at: str | None, tokens: int, ms: float
) -> None:
    """Record a prompt with the names of what it was given, such as ``#12`` and ``e31``."""
    names = [*given]
    store.searches.record(
        prompt,
        facts=[int(name[1:]) for name in names if name.startswith("#")],
        episodes=[int(name[1:]) for name in names if name.startswith("e")],
        tool=PROMPT,
        tokens=tokens,
        milliseconds=ms,
        at=at,
    )


def _file_of(session_file: str) -> str:
    return f"{session_file.removesuffix('.json')}{sessions.NOTES}"


def _taken(session: HostSession) -> list[PromptNote]:
    """Return the notes of a session, and remove them: they are recorded once, or not at all."""
    if session.file is None:
        return []
    file = _file_of(session.file)
    own = f"{file.removesuffix('.json')}.{os.getpid()}"
    try:
        os.replace(file, own)
        with open(own, encoding="utf-8", errors="replace") as handle:
            lines = handle.read(MAX_BYTES).splitlines()
        os.unlink(own)
    except OSError:
        return []
    return [one for line in lines if (one := PromptNote.of(line)) is not None]
