"""Connections without a server: which are closed for others, and heads that arrive in pieces."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.faces.serving.connection import ClientConnection, Connections


class Wire(asyncio.Transport):
    """A transport that records what is written."""

    def __init__(self, peer: str = "192.0.2.1") -> None:
        super().__init__({"peername": (peer, 1)})
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def write_eof(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed


class Parser(asyncio.Protocol):
    def __init__(self) -> None:
        self.read = b""

    def data_received(self, data: bytes) -> None:
        self.read += data


REQUEST = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n\n\n\r\n "
"""Its body looks like the end of a head."""


def opened(pool: Connections, peer: str = "192.0.2.1") -> tuple[ClientConnection, Wire, Parser]:
    wire, parser = Wire(peer), Parser()
    connection = ClientConnection(parser, pool, head_seconds=60)
    connection.connection_made(wire)
    return connection, wire, parser


def run(work: Any) -> None:
    async def go() -> None:
        work()

    asyncio.run(go())


def test_silent_connections_are_closed_before_trusted_ones() -> None:
    def work() -> None:
        pool = Connections(most=8, most_untrusted=3)
        trusted, trusted_wire, _ = opened(pool)
        trusted.trusted = True
        asking, asking_wire, _ = opened(pool)
        asking.data_received(REQUEST)
        crowd = [opened(pool)[1] for _ in range(6)]
        assert [wire.closed for wire in crowd] == [True] * 4 + [False] * 2
        assert not trusted_wire.closed
        assert not asking_wire.closed, "it is being answered"
        _, other, _ = opened(pool, "192.0.2.2")
        assert not other.closed
        assert [wire.closed for wire in crowd] == [True] * 4 + [False] * 2, "of another peer"

    run(work)


def test_longest_idle_connection_is_closed_if_all_are_trusted() -> None:
    def work() -> None:
        pool = Connections(most=3, most_untrusted=3)
        old = []
        for _ in range(3):
            connection, wire, _ = opened(pool)
            connection.trusted = True
            old.append((connection, wire))
        old[0][0].data_received(REQUEST)
        old[0][0].answered()  # used again, and the second is idle longest now
        _, wire, _ = opened(pool)
        assert [one.closed for _, one in old] == [False, True, False]
        assert not wire.closed

    run(work)


def test_new_connection_is_refused_if_all_are_busy() -> None:
    def work() -> None:
        pool = Connections(most=2, most_untrusted=2)
        for _ in range(2):
            connection, _, _ = opened(pool)
            connection.trusted = True
            connection.data_received(REQUEST)
        _, wire, parser = opened(pool)
        assert wire.written.startswith(b"HTTP/1.1 503 ")
        assert parser.read == b""

    run(work)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_ipv6_clients_are_grouped_by_network(one: str, other: str, same: bool) -> None:
    def work() -> None:
        pool = Connections(most=9, most_untrusted=9)
        assert (opened(pool, one)[0].peer == opened(pool, other)[0].peer) is same

    run(work)


@given(st.lists(st.integers(0, 3 * len(REQUEST)), max_size=8))
def test_requests_are_parsed_the_same_however_they_are_split(cuts: list[int]) -> None:
    def work() -> None:
        connection, wire, parser = opened(Connections(9, 9))
        sent = REQUEST + b"\r\n" + REQUEST + REQUEST
        places = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
        for start, end in itertools.pairwise(places):
            connection.data_received(sent[start:end])
        assert parser.read == 3 * REQUEST
        assert wire.written == b""
        for _ in range(3):
            connection.answered()
        assert not connection.answering

    run(work)


@given(
    st.sampled_from(["\nA: b\r\n", "\r\n A: b\r\n", "\r\n\tb\r\n", "\rA: b\r\n"]),
    st.integers(1, 40),
)
def test_ambiguous_head_is_refused_however_it_is_split(doubt: str, size: int) -> None:
    def work() -> None:
        connection, wire, parser = opened(Connections(9, 9))
        sent = f"GET /health HTTP/1.1\r\nHost: x{doubt}\r\n".encode()
        for start in range(0, len(sent), size):
            connection.data_received(sent[start : start + size])
        assert wire.written.startswith(b"HTTP/1.1 400 ")
        assert parser.read == b""

    run(work)
