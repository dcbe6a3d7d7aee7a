"""The command that walks through the proposals: one key decides each.

Without a terminal it lists them, a line each.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.proposals import ProposalState
from memstore.domain.records import EVERYBODY
from memstore.errors import Conflict, NotFound
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    import argparse
    import msvcrt
    import termios
    import tty
    from collections.abc import Callable, Iterator, Sequence

    from memstore.domain.proposals import Proposal, Question
    from memstore.faces.cli import render_terminal
    from memstore.store.store import Store
else:
    # Each is only on some systems.
    msvcrt, termios, tty = map(lazy_import, ("msvcrt", "termios", "tty"))
    render_terminal = lazy_import("memstore.faces.cli.render_terminal")

ACCEPT, REJECT, REMOVE, SKIP, UNDO, QUIT = "arxsuq"
"""The keys, as in the pages. In upper case, the first four decide all about one subject."""

ENDS: Final = ("", "\x04", "\x1b")
"""The end of the input, Ctrl-D and Escape end the walk, too."""

KEYS: Final = "a the new one · r both · x the old one · s later · u undo · q quit"
FOR_ALL: Final = "A R X S: all {} about {}"
"""Said where a subject has several."""


ANSWERS: Final = {
    ACCEPT: "the new one replaces the old one",
    REJECT: "both are kept",
    REMOVE: "the newer one is deleted",
}
"""What was done, by the key."""


class DoneByKey(NamedTuple):
    """What one key did, so that it can be undone."""

    questions: tuple[Question, ...]
    key: str
    done: tuple[int, ...]
    """The ids of the proposals that it decided."""


@cli.command(
    "inbox",
    "memstore inbox\nmemstore inbox --user ana\nmemstore inbox --scope all | less",
    *cli.WHOSE,
    shows_part=True,
)
def _inbox(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    questions = cli.owned(store, arguments).proposals.questions()
    if not questions:
        show.rows([], [])
        cli.draw_nothing(store, arguments, show, "no proposals")
        return
    if not (cli.can_ask() and isinstance(show, render_terminal.TerminalShow)):
        show.rows([_row(one) for one in questions], [_value(one) for one in questions])
        return
    with _single_keys() as read_key:
        walk = Walk(store, questions, show, read_key)
        walk.run()
    show.note(walk.summary)


def _row(one: Question) -> tuple[object, ...]:
    return one.proposal.id, one.line


def _value(one: Question) -> dict[str, Any]:
    return {
        **one.proposal.to_dict(),
        "line": one.line,
        "reasons": [*one.reasons],
        "quoted": one.quoted,
        "age": one.age,
        "effect": one.effect,
    }


class Walk:
    """One pass over the proposals, with what was decided in it."""

    def __init__(
        self,
        store: Store,
        questions: Sequence[Question],
        show: render_terminal.TerminalShow,
        read_key: Callable[[], str],
    ) -> None:
        self._store = store
        self._show = show
        self._read_key = read_key
        self._waiting = [*questions]
        self._decided: list[DoneByKey] = []
        self._total = len(questions)

    def run(self) -> None:
        """Ask about each proposal until none is left or the person quits."""
        while self._waiting:
            first = self._waiting[0]
            alike = [one for one in self._waiting if _subject(one) == _subject(first)]
            self._ask(first, len(alike))
            key = self._key()
            if key in (QUIT, *ENDS):
                return
            if key == UNDO:
                self._undo()
                continue
            chosen = alike if key.isupper() else [first]
            if key.lower() == REMOVE and not all(one.proposal.new for one in chosen):
                self._show.note("no fact is newer here: it would sum up those that are there")
                continue
            self._decide(key.lower(), chosen)

    @property
    def summary(self) -> str:
        """How many were decided in which way, and how many were left."""
        done = dict.fromkeys((ACCEPT, REJECT, REMOVE, SKIP), 0)
        for one in self._decided:
            done[one.key] += len(one.done)
        left = done[SKIP] + len(self._waiting)
        return (
            f"replaced {done[ACCEPT]}, kept both {done[REJECT]}, "
            f"deleted the newer {done[REMOVE]}, left open {left}"
        )

    def _ask(self, question: Question, alike: int) -> None:
        place = self._total - len(self._waiting) + 1
        self._show.question(question, f"{place} of {self._total}")
        subject = question.proposal.old.subject
        more = f" · {FOR_ALL.format(alike, subject)}" if alike > 1 else ""
        self._show.line((f"{KEYS}{more}", "dim"))

    def _key(self) -> str:
        known = {ACCEPT, REJECT, REMOVE, SKIP, UNDO, QUIT, *"ARXS", *ENDS}
        while (key := self._read_key()) not in known:
            pass
        return key

    def _decide(self, key: str, questions: Sequence[Question]) -> None:
        done = tuple(
            one.proposal.id for one in questions if key == SKIP or self._settle(key, one.proposal)
        )
        self._decided.append(DoneByKey(tuple(questions), key, done))
        self._waiting = [one for one in self._waiting if one not in questions]
        if key != SKIP:
            self._show.line((f"{ANSWERS[key]}: {counted(len(done), 'question')}", "green"))

    def _settle(self, key: str, proposal: Proposal) -> bool:
        """Decide a proposal; return whether that was possible."""
        try:
            if key == ACCEPT:
                self._store.proposals.accept(proposal.id)
            else:
                self._store.proposals.reject(proposal.id, remove=key == REMOVE)
        except (Conflict, NotFound) as error:  # changed by another process, or by an acceptance
            self._show.note(str(error))
            return False
        return True

    def _undo(self) -> None:
        if not self._decided:
            self._show.note("nothing to undo")
            return
        last = self._decided.pop()
        if last.key != SKIP:
            for proposal_id in reversed(last.done):
                self._take_back(last.key, proposal_id)
        self._waiting = [*last.questions, *self._waiting]

    def _take_back(self, key: str, proposal_id: int) -> None:
        try:
            proposal = self._store.proposals.get(proposal_id)
            changed = {ACCEPT: proposal.sources, REMOVE: (proposal.new,)}.get(key, ())
            acts = {self._last_act(fact.id) for fact in changed if fact is not None}
            if acts:
                self._store.of(EVERYBODY).ledger.revert(acts=sorted(acts)).apply()
            if self._store.proposals.get(proposal_id).state != ProposalState.OPEN:
                self._store.proposals.reopen(proposal_id)  # a revert opens it too
        except (Conflict, NotFound) as error:
            self._show.note(str(error))

    def _last_act(self, fact_id: int) -> int:
        lines = self._store.ledger.journal(fact_id)
        return max(line.txn for line in lines if line.fact_id == fact_id)


def _subject(question: Question) -> tuple[str, object]:
    old = question.proposal.old
    return subject_key(old.subject), old.scope


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """Read single keys from the terminal in the block, which then is as it was before."""
    if sys.platform == "win32":
        yield msvcrt.getwch
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        yield lambda: os.read(terminal, 1).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
