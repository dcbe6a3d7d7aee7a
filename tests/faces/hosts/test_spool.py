"""What waits for a server: whole files in order, sealed, within bounds, and each sent once."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock

from memstore.faces.hosts import locking, remote, spool
from memstore.faces.hosts.spool import Spool, SpoolUnusable

URL = "https://memory.example.com/mcp"

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX's")

pytestmark = pytest.mark.usefixtures("home")


class Killed(BaseException):
    """The process ends here."""


def request(name: str, turns: int = 1) -> dict[str, Any]:
    made = [{"mark": f"{name}{n}", "role": "user", "text": name} for n in range(turns)]
    return {"event": "keep", "host": "codex", "session": name, "turns": made}


def sessions(waiting: Spool) -> list[str]:
    return [json.loads(body)["session"] for _, body in waiting.requests()]


def test_requests_wait_in_order(manual_clock: ManualClock) -> None:
    names = [f"s{n}" for n in range(12)]
    for name in names:
        Spool(URL).put(request(name))
    waiting = Spool(URL)
    assert sessions(waiting) == names
    assert Spool("https://other.example/mcp").is_empty()
    for name, _ in waiting.requests():
        waiting.remove(name)
    assert waiting.is_empty()


@posix_only
def test_nobody_else_can_read_what_waits() -> None:
    before = os.umask(0)
    try:
        waiting = Spool(URL)
        waiting.put(request("secret"))
        waiting.note("s", ["mark"])
        waiting.drop(waiting._names()[0], spool.REFUSED)
        waiting.put(request("secret"))
    finally:
        os.umask(before)
    root = Path(waiting.folder).parent
    for entry in [root, *root.rglob("*")]:
        expected = 0o700 if entry.is_dir() else 0o600
        assert stat.S_IMODE(entry.stat().st_mode) == expected, entry


@posix_only
def test_a_folder_that_others_can_read_is_closed() -> None:
    waiting = Spool(URL)
    waiting.put(request("a"))
    os.chmod(waiting.folder, 0o755)
    waiting.put(request("b"))
    assert stat.S_IMODE(os.stat(waiting.folder).st_mode) == 0o700


@posix_only
def test_a_folder_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Spool(URL)
    waiting.put(request("a"))
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(SpoolUnusable, match="belongs to another user"):
        waiting.put(request("b"))


def test_the_oldest_are_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_FILES", 3)
    waiting = Spool(URL)
    for n in range(5):
        waiting.put(request(f"s{n}", turns=2))
    assert sessions(waiting) == ["s2", "s3", "s4"]
    assert waiting.waiting().dropped == {spool.OVERFLOW: 4}
    assert waiting.waiting().turns == 6
    told = " ".join(spool.sentences())
    assert "6 turns wait for https://memory.example.com/mcp" in told
    assert "4 because the spool was full" in told


def test_the_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_BYTES", 2_000)
    waiting = Spool(URL)
    for n in range(9):
        waiting.put(request(f"s{n}" + "x" * 300))
    kept = sessions(waiting)
    assert 0 < len(kept) < 9
    assert kept[-1].startswith("s8")
    assert waiting.waiting().size <= 2_000
    assert waiting.waiting().dropped == {spool.OVERFLOW: 9 - len(kept)}


def test_an_incomplete_file_is_no_request_and_goes_after_a_day(manual_clock: ManualClock) -> None:
    waiting = Spool(URL)
    waiting.put(request("a"))
    part = Path(waiting.folder, "12345678901234567-0000000001-000001.json.1.part")
    part.write_text('{"event"')
    waiting.put(request("b"))
    assert part.exists()
    assert len(sessions(waiting)) == 2
    manual_clock.advance(spool.PART_SECONDS + 3600)
    waiting.put(request("c"))
    assert not part.exists()


@posix_only
def test_what_somebody_else_put_there_is_not_sent_followed_or_removed(
    manual_clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MAX_FILES", 3)
    waiting = Spool(URL)
    waiting.put(request("a"))
    folder = Path(waiting.folder)
    secret = tmp_path / "secret"
    secret.write_text('{"turns": ["a key"]}')
    names = [f"00000000000000001-0000000001-{number:06d}.json" for number in range(3)]
    (folder / names[0]).symlink_to(secret)
    os.mkfifo(folder / names[1])
    (folder / names[2]).mkdir()
    for name in ("notes.part", "draft.json.1.part"):
        (folder / name).write_text("mine")
        os.utime(folder / name, (0, 0))
    (folder / "dropped.json").write_text('{"x": 1e999}')
    for name in "bcd":
        waiting.put(request(name))
    assert sessions(waiting) == ["b", "c", "d"]
    assert waiting.waiting().requests == 3
    assert [one.dropped for one in spool.everything()] == [{spool.OVERFLOW: 1}]
    waiting.drop(names[0], spool.REFUSED)
    left = {file.name for file in folder.iterdir()}
    assert {*names, "notes.part", "draft.json.1.part"} <= left
    assert secret.exists()


def test_one_process_sends_at_a_time(manual_clock: ManualClock) -> None:
    waiting = Spool(URL)
    with waiting.sending():
        waiting.put(request("a"))  # writing goes on
        with pytest.raises(SpoolUnusable, match="sending for too long"), Spool(URL).sending():
            pass
    with Spool(URL).sending():
        pass


def test_a_lock_is_given_up_by_a_process_that_ends(tmp_path: Path) -> None:
    file = str(tmp_path / "a.lock")
    with locking.locked(file, 0) as ours, locking.locked(file, 0) as theirs:
        assert (ours, theirs) == (True, False)
    with locking.locked(file, 0) as ours:
        assert ours


class Server:
    """Stores each turn once, as the real one; ``lost`` answers do not reach the sender."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}
        self.order: list[str] = []
        self.lost: set[int] = set()
        self.requests = 0

    def answer(self, url: str, body: bytes, *, seconds: float) -> dict[str, Any]:
        self.requests += 1
        for turn in json.loads(body)["turns"]:
            if turn["mark"] not in self.stored:
                self.order.append(turn["mark"])
            self.stored[turn["mark"]] = turn["text"]
        if self.requests in self.lost:
            raise remote.plain_http.Unreachable("the answer was lost")
        return {"kept": 1, "left_out": {}}


WRITES = ("open", "replace", "unlink", "fsync", "mkdir")


def killed_at(monkeypatch: pytest.MonkeyPatch, step: int) -> Callable[[], int]:
    """End the process before its write number ``step``; returns a count of its writes."""
    count = 0

    def before(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def write(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == step:
                raise Killed
            return real(*given, **named)

        return write

    for name in WRITES:
        monkeypatch.setattr(os, name, before(name))
    return lambda: count


def test_a_kill_before_any_write_loses_and_doubles_nothing(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spool_all(url: str) -> None:
        waiting = Spool(url)
        for number in range(3):
            name = f"s{number}"
            if name not in waiting.marks("t"):
                waiting.put(request(name))
                waiting.note("t", waiting.marks("t") | {name})
        remote.send_waiting(url)

    total = 10_000
    for step in range(1, 200):
        url = f"https://memory.example.com/{step}"
        server = Server()
        server.lost = {2} if step % 2 else set()
        with monkeypatch.context() as patch:
            patch.setattr(remote, "_sent", server.answer)
            with patch.context() as killing:
                writes = killed_at(killing, step)
                with suppress(Killed, remote.plain_http.Unreachable):
                    spool_all(url)
                total = writes()
            server.lost = set()
            spool_all(url)
        assert list(server.stored) == ["s00", "s10", "s20"], step
        assert Spool(url).is_empty()
        if total < step:
            break
    assert total > 20
    assert total < step


def test_what_the_server_refuses_for_good_is_dropped_and_the_rest_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()

    def answer(url: str, body: bytes, *, seconds: float) -> dict[str, Any]:
        if b"bad" in body:
            raise remote.ServerRefused(400, "no such thing")
        return server.answer(url, body, seconds=seconds)

    monkeypatch.setattr(remote, "_sent", answer)
    for name in ("a", "bad", "c"):
        Spool(URL).put(request(name))
    assert remote.send_waiting(URL) == 2
    assert server.order == ["a0", "c0"]
    assert Spool(URL).waiting().dropped == {spool.REFUSED: 1}


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_what_may_be_accepted_later_waits(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    def answer(url: str, body: bytes, *, seconds: float) -> dict[str, Any]:
        raise remote.ServerRefused(status, "not now")

    monkeypatch.setattr(remote, "_sent", answer)
    Spool(URL).put(request("a"))
    with pytest.raises(remote.ServerRefused, match=f"answered {status}: not now"):
        remote.send_waiting(URL)
    assert sessions(Spool(URL)) == ["a"]
