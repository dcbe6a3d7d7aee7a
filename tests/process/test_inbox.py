"""`memstore inbox` at a terminal: single keys decide, and the terminal is left as it was."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import memstore
from memstore.facts.batch import AddFact, MayReplace

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX"),
]

PAIRS = [
    ("ana", "Ana lives in Berlin", "Ana lives in Lisbon"),
    ("ben", "Ben drinks tea", "Ben drinks coffee"),
    ("ana", "Ana works at Globex", "Ana works at Initech"),
]


INTERRUPT = "\x03"


@pytest.fixture
def waiting(path: Path) -> Path:
    with memstore.open(path, embedder=None) as store:
        for subject, old, new in PAIRS:
            held = store.add(old, subject=subject)
            fact = memstore.NewFact(content=new, subject=subject, source="chat")
            store.ledger.apply([AddFact(fact=fact, precedence=MayReplace(held.id, 0.9))])
    return path


def walk(db: Path, keys: str, *more: str) -> tuple[int, str]:
    """Run the command at a terminal, press the keys, and return its code and what it drew."""
    import pty
    import termios

    main_end, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    process = subprocess.Popen(
        [sys.executable, "-m", "memstore", "inbox", *more],
        env={k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
        | {"MEMSTORE_DB": str(db), "MEMSTORE_EMBEDDER": "none", "TERM": "xterm-256color"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    drawn, pressed = b"", 0
    while select.select([main_end], [], [], 0 if process.poll() is not None else 0.05)[0] or (
        process.poll() is None
    ):
        if select.select([main_end], [], [], 0)[0]:
            drawn += os.read(main_end, 4096)
        if pressed < len(keys) and drawn.count(b"q quit") > pressed:
            if keys[pressed] == INTERRUPT:  # a terminal of its own would send the signal
                process.send_signal(signal.SIGINT)
            else:
                os.write(main_end, keys[pressed].encode())
            pressed += 1
    after = termios.tcgetattr(terminal)
    os.close(terminal)
    os.close(main_end)
    assert after == before
    assert pressed == len(keys)
    return process.wait(timeout=60), drawn.decode()


def states(db: Path) -> list[str]:
    with memstore.open(db, embedder=None) as store:
        return [one.state for one in store.proposals.list(None)]


def active(db: Path) -> set[str]:
    with memstore.open(db, embedder=None) as store:
        return {fact.content for fact in store.list()}


def test_keys_accept_reject_and_skip(waiting: Path) -> None:
    code, drawn = walk(waiting, "ars")
    assert code == 0
    assert "replaced 1, kept both 1, deleted the newer 0, left open 1" in drawn
    assert states(waiting) == ["accepted", "open", "rejected"]  # those about Ana come first
    assert active(waiting) == {new for _, _, new in PAIRS} | {PAIRS[1][1], PAIRS[2][1]}


def test_the_old_one_deletes_the_newer(waiting: Path) -> None:
    _, drawn = walk(waiting, "xq")
    assert "deleted the newer 1, left open 2" in drawn
    assert states(waiting) == ["rejected", "open", "open"]
    assert active(waiting) == {text for pair in PAIRS for text in pair[1:]} - {PAIRS[0][2]}


def test_a_summary_of_facts_has_no_newer_one(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        facts = [store.add(f"Ana likes tea {n}", subject="ana").id for n in range(2)]
        store.proposals.put_forward(facts, "Ana likes tea", {})
    _, drawn = walk(path, "xq")
    assert "no fact is newer here" in drawn
    assert states(path) == ["open"]


def test_all_about_one_subject_at_once(waiting: Path) -> None:
    _, drawn = walk(waiting, "Aq")
    assert "all 2 about ana" in drawn
    assert states(waiting) == ["accepted", "open", "accepted"]


@pytest.mark.parametrize("key", ["a", "r", "x", "s", "A", "R", "X", "S"])
def test_last_decision_is_undone(waiting: Path, key: str) -> None:
    before = active(waiting)
    _, drawn = walk(waiting, f"{key}uq")
    assert states(waiting) == ["open"] * 3
    assert active(waiting) == before
    assert "left open 3" in drawn
    assert "open already" not in drawn


def test_unknown_keys_and_an_undo_of_nothing_change_nothing(waiting: Path) -> None:
    _, drawn = walk(waiting, "uq")
    assert "nothing to undo" in drawn
    assert states(waiting) == ["open"] * 3


def test_end_of_input_ends_the_walk(waiting: Path) -> None:
    assert walk(waiting, "\x04")[0] == 0
    assert states(waiting) == ["open"] * 3


def test_interrupt_leaves_the_terminal_as_it_was(waiting: Path) -> None:
    code, _ = walk(waiting, INTERRUPT)
    assert code in (130, -2)
    assert states(waiting) == ["open"] * 3


def test_words_that_differ_are_marked_and_the_effect_is_named(waiting: Path) -> None:
    _, drawn = walk(waiting, "q")
    assert "held for less than a day" in drawn
    assert "if accepted, #2 replaces #1" in drawn
    assert "from chat" in drawn
    assert "\x1b[1;9;31mBerlin" in drawn
    assert "\x1b[1;32mLisbon" in drawn
