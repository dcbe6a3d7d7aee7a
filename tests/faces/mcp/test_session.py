"""A session: calls that run, are cancelled, report progress and log; full pipes."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.clock import wait_until

from memstore._kernel import PanicException
from memstore.faces.mcp import catalogue, protocol
from memstore.faces.mcp.methods import Methods
from memstore.faces.mcp.session import CALLS_AT_ONCE, ClientSession
from memstore.faces.mcp.wire import BATCH, CHUNK, MAX_UNREAD_BYTES, Outgoing, lines, mended
from memstore.lazy import cached_property

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}
HELLO["clientInfo"] |= {"version": "1"}
ENVELOPE = {protocol.REVISION_KEY: "2026-07-28", protocol.CAPABILITIES_KEY: {}}
LOGGER = logging.getLogger("memstore.test")


class Replaced(Methods):
    """Methods whose calls of tools are those of a test."""

    @cached_property
    def tool_calls(self) -> Any:
        return SimpleNamespace(answer=lambda _, params: self.call_tool(params))

    def call_tool(self, params: Any) -> dict[str, Any]:
        raise NotImplementedError


class Slow(Replaced):
    """Calls that log a message and end when released."""

    def __init__(self) -> None:
        super().__init__(catalogue.offered(), logging=True)
        self.let = threading.Event()
        self.begun: list[str] = []

    def call_tool(self, params: Any) -> dict[str, Any]:
        self.begun.append(params["name"])
        LOGGER.warning("%s begins", params["name"])
        assert self.let.wait(20)
        return {"content": []}


class Panicking(Replaced):
    """Calls that end in what is not an ``Exception``, as a panic of the kernel does."""

    def __init__(self) -> None:
        super().__init__(catalogue.offered())

    def call_tool(self, params: Any) -> dict[str, Any]:
        raise PanicException("index out of bounds")


class OneByOne(Replaced):
    """Calls that take half a second each, one after the other."""

    def __init__(self) -> None:
        super().__init__(catalogue.offered())
        self.turn = threading.Lock()

    def call_tool(self, params: Any) -> dict[str, Any]:
        with self.turn:
            threading.Event().wait(0.5)
        return {"content": []}


class Nothing:
    def start(self) -> None:
        pass


class Sent(list[dict[str, Any]]):
    """The messages sent to the client."""

    def answers(self) -> list[Any]:
        return [one["id"] for one in self if "id" in one]

    def notices(self, method: str) -> list[dict[str, Any]]:
        return [one["params"] for one in list(self) if one.get("method") == method]


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.let.set()


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def session(slow: Slow, sent: Sent) -> ClientSession:
    return ClientSession(slow, Nothing(), sent.append, progress_seconds=0.001)  # type: ignore[arg-type]


def say(session: ClientSession, number: Any, method: str, **params: Any) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    session.receive(json.dumps(message | ({} if number is None else {"id": number})).encode())


def greet(session: ClientSession, sent: Sent) -> None:
    say(session, "hello", "initialize", **HELLO)
    sent.clear()


def test_every_call_is_answered_whatever_happens_in_its_thread(sent: Sent) -> None:
    session = ClientSession(Panicking(), Nothing(), sent.append)  # type: ignore[arg-type]
    greet(session, sent)
    numbers = range(2 * CALLS_AT_ONCE)
    for number in numbers:
        say(session, number, "tools/call", name="memory_search", arguments={})
    session.settle(20)
    assert sorted(sent.answers()) == [*numbers]
    assert {one["error"]["code"] for one in sent} == {protocol.INTERNAL_ERROR}


def test_concurrent_calls_are_limited_and_the_rest_wait(
    session: ClientSession, slow: Slow, sent: Sent
) -> None:
    greet(session, sent)
    for number in range(CALLS_AT_ONCE + 5):
        say(session, number, "tools/call", name=str(number))
    assert wait_until(lambda: len(slow.begun) == CALLS_AT_ONCE)
    say(session, "quick", "ping")
    assert sent.answers() == ["quick"]
    slow.let.set()
    session.settle(20)
    assert set(sent.answers()) == {"quick", *range(CALLS_AT_ONCE + 5)}
    assert len(slow.begun) == CALLS_AT_ONCE + 5


@pytest.mark.slow
def test_shutdown_waits_while_answers_keep_coming(sent: Sent) -> None:
    session = ClientSession(OneByOne(), Nothing(), sent.append)  # type: ignore[arg-type]
    greet(session, sent)
    for number in range(CALLS_AT_ONCE):
        say(session, number, "tools/call", name="half a second")
    session.settle(3)  # less than all of them take
    assert len(sent.answers()) == CALLS_AT_ONCE


def test_shutdown_times_out_on_a_missing_answer(
    session: ClientSession, slow: Slow, sent: Sent
) -> None:
    greet(session, sent)
    say(session, 0, "tools/call", name="stuck")
    session.settle(0.01)
    assert not sent.answers()


@pytest.mark.parametrize("named", [0, "0"])
def test_a_cancelled_call_is_not_answered(
    session: ClientSession, slow: Slow, sent: Sent, named: int | str
) -> None:
    greet(session, sent)
    say(session, 0, "tools/call", name="cancelled")
    say(session, 1, "tools/call", name="kept")
    assert wait_until(lambda: len(slow.begun) == 2)
    say(session, None, "notifications/cancelled", requestId=named)
    slow.let.set()
    session.settle(20)
    assert sent.answers() == [1]


def test_a_call_cancelled_while_queued_does_not_start(
    session: ClientSession, slow: Slow, sent: Sent
) -> None:
    greet(session, sent)
    for number in range(CALLS_AT_ONCE + 1):
        say(session, number, "tools/call", name=str(number))
    assert wait_until(lambda: len(slow.begun) == CALLS_AT_ONCE)
    say(session, None, "notifications/cancelled", requestId=CALLS_AT_ONCE)
    say(session, "last", "tools/call", name="last")
    slow.let.set()
    session.settle(20)
    assert str(CALLS_AT_ONCE) not in slow.begun
    assert "last" in slow.begun


def test_call_sends_progress_until_it_ends(session: ClientSession, slow: Slow, sent: Sent) -> None:
    greet(session, sent)
    say(session, 0, "tools/call", name="silent")
    say(session, 1, "tools/call", name="watched", _meta={"progressToken": "p"})
    assert wait_until(lambda: len(sent.notices("notifications/progress")) > 2)
    slow.let.set()
    session.settle(20)
    told = sent.notices("notifications/progress")
    assert {one["progressToken"] for one in told} == {"p"}
    assert [one["progress"] for one in told] == list(range(1, len(told) + 1))
    answered = next(place for place, one in enumerate(sent) if one.get("id") == 1)
    assert not any("method" in one for one in sent[answered:])
    slow.let.clear()
    say(session, 2, "tools/call", name="again", _meta={"progressToken": 7})
    assert wait_until(lambda: sent.notices("notifications/progress")[-1]["progressToken"] == 7)


def test_client_gets_the_log_messages_it_requested(
    session: ClientSession, slow: Slow, sent: Sent
) -> None:
    greet(session, sent)
    LOGGER.warning("before it asked")
    say(session, 1, "logging/setLevel", level="warning")
    LOGGER.warning("a warning")
    LOGGER.info("a note")
    say(session, 2, "logging/setLevel", level="emergency")
    LOGGER.error("an error")
    assert sent.notices("notifications/message") == [
        {"level": "warning", "logger": "memstore.test", "data": "a warning"}
    ]


def test_requests_of_the_newer_protocol_set_the_log_level(
    session: ClientSession, slow: Slow, sent: Sent
) -> None:
    slow.let.set()
    for name, more in (("curious", {protocol.LEVEL_KEY: "info"}), ("other", {})):
        say(session, name, "tools/call", name=name, _meta=ENVELOPE | more)
        session.settle(20)
    LOGGER.warning("of no request")
    told = [one["data"] for one in sent.notices("notifications/message")]
    assert told == ["curious begins"]


def test_a_request_that_fails_unexpectedly_is_answered(
    session: ClientSession, slow: Slow, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Any:
        raise ZeroDivisionError

    greet(session, sent)
    slow.call_tool = broken  # type: ignore[method-assign]
    say(session, 1, "tools/call", name="x")
    session.settle(20)
    assert sent[0]["error"]["code"] == protocol.INTERNAL_ERROR
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"", None, protocol.PARSE_ERROR),  # one that was too long
        (b"no", None, protocol.PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', None, protocol.PARSE_ERROR),
        (b"[" * 99_999, None, protocol.PARSE_ERROR),
        (b'{"id":' * 50_000 + b"1" + b"}" * 50_000, None, protocol.PARSE_ERROR),
        (b"5", None, protocol.INVALID_REQUEST),
        (b"[]", None, protocol.INVALID_REQUEST),
        (b"[1]", None, protocol.INVALID_REQUEST),
        (b"{}", None, protocol.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 7}', 7, protocol.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "method": 1}', None, protocol.INVALID_REQUEST),
        (b'{"id": "a", "method": "ping"}', "a", protocol.INVALID_REQUEST),
    ],
)
def test_what_is_not_a_request_is_refused_and_the_session_goes_on(
    session: ClientSession, sent: Sent, line: bytes, number: str | int | None, code: int
) -> None:
    greet(session, sent)
    session.receive(line)
    assert [(one["id"], one["error"]["code"]) for one in sent] == [(number, code)]
    say(session, 8, "ping")
    assert sent[-1] == {"id": 8, "result": {}}


def test_answers_of_the_client_are_not_answered(session: ClientSession, sent: Sent) -> None:
    greet(session, sent)
    session.receive(b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
    session.receive(b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": ""}}')
    assert sent == []


def test_unreadable_lines_are_logged_once(
    session: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    for line in (b"", b"no", b"[1]", b"{}", b"[" * 99_999):
        session.receive(line)
    assert caplog.text.count("not a message") == 1


# -- pipes -----------------------------------------------------------------------------------------


class Pipe:
    """Takes three bytes at a time, once it is read."""

    def __init__(self) -> None:
        self.taken = b""
        self.read = threading.Event()
        self.failure: OSError | None = None

    def write(self, rest: memoryview) -> int:
        assert self.read.wait(20)
        if self.failure is not None:
            raise self.failure
        self.taken += rest[:3]
        return len(rest[:3])


def test_messages_are_written_completely_and_in_order() -> None:
    pipe = Pipe()
    outgoing = Outgoing(pipe.write, lambda: None)
    for number in range(9):
        outgoing.send({"id": number, "result": {"text": "漢\u2028字 👩\u200d🚀"}})
    outgoing.flush(0.001)
    assert pipe.taken == b""
    pipe.read.set()
    outgoing.flush(20)
    told = [json.loads(line) for line in pipe.taken.split(b"\n") if line]
    assert [one["id"] for one in told] == list(range(9))


def test_requests_are_not_read_while_the_client_does_not_read() -> None:
    pipe = Pipe()
    outgoing = Outgoing(pipe.write, lambda: None)
    outgoing.wait_for_room()
    outgoing.send({"result": "x" * MAX_UNREAD_BYTES})
    waiting = threading.Thread(target=outgoing.wait_for_room)
    waiting.start()
    waiting.join(0.01)
    assert waiting.is_alive()
    pipe.write = lambda rest: len(rest)  # type: ignore[assignment,method-assign]
    pipe.read.set()
    outgoing._write = lambda rest: len(rest)  # all at once
    waiting.join(20)
    assert not waiting.is_alive()


@pytest.mark.slow
def test_a_client_that_reads_slowly_is_awaited() -> None:
    taken: list[int] = []

    def write(rest: memoryview) -> int:
        threading.Event().wait(0.5)
        taken.append(len(rest))
        return len(rest)

    outgoing = Outgoing(write, lambda: None)
    outgoing.send({"result": "x" * 8 * BATCH})
    outgoing.flush(3)  # less than all of it takes
    assert sum(taken) > 8 * BATCH


def test_disconnected_client_is_noticed() -> None:
    pipe, gone = Pipe(), threading.Event()
    pipe.failure = BrokenPipeError()
    pipe.read.set()
    Outgoing(pipe.write, gone.set).send({"id": 1})
    assert gone.wait(20)


def test_endless_line_is_skipped() -> None:
    said = b"one\n" + b"x" * 25 + b"\n\n  \ntwo\n" + b"y" * 10 + b"\nthree"
    assert list(lines(io.BytesIO(said), largest=10)) == [b"one\n", b"", b"two\n", b"", b"three"]


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert json.loads(mended(r'{"a": "x\ud83d", "b": "\ud83d\ude00"}')) == {
        "a": "x\ufffd",
        "b": "😀",
    }
    for broken in ("{", "[" * 200_000):
        with pytest.raises((ValueError, RecursionError)):
            mended(broken)


def test_output_that_fits_the_pipe_is_written_at_once() -> None:
    taken: list[bytes] = []

    def write(rest: memoryview) -> int:
        taken.append(bytes(rest))
        return len(rest)

    outgoing = Outgoing(write, lambda: None, has_room=lambda: len(taken) < 2)
    message = {"id": 1, "result": {"text": "x" * (3 * CHUNK)}}
    outgoing.send(message)
    assert [len(piece) for piece in taken[:2]] == [CHUNK, CHUNK]
    outgoing.send({"id": 2})
    outgoing.flush(20)
    first, second, _ = b"".join(taken).split(b"\n")
    assert json.loads(first) == {"jsonrpc": "2.0"} | message
    assert json.loads(second)["id"] == 2
