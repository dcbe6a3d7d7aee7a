"""Addresses, names and origins, without a server."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memstore.faces.serving.address import AcceptedNames, Address, listen, reachable, read_address

PORTS = st.integers(0, 65535)
LABELS = st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True)
DOMAINS = st.lists(LABELS, min_size=1, max_size=3).map(".".join)
NAMES = AcceptedNames.of("0.0.0.0", ["memory.example", "one.example:8443"], ["https://app.example"])


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8765", Address("127.0.0.1", 8765)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:80", Address("::1", 80)),
        ("memory.example.com:65535", Address("memory.example.com", 65535)),
    ],
)
def test_addresses_round_trip(text: str, address: Address) -> None:
    assert read_address(text) == address
    assert str(address) == text


@given(st.text())
def test_invalid_addresses_are_refused_and_the_form_is_shown(text: str) -> None:
    assume(not re.search(r":\d{1,5}\s*$", text))
    with pytest.raises(ValueError, match=r"such as 127\.0\.0\.1:8765"):
        read_address(text)


def test_all_addresses_of_a_name_share_one_port() -> None:
    with ExitStack() as opened:
        sockets = listen(Address("localhost", 0))
        for one in sockets:
            opened.enter_context(one)
        assert len({one.getsockname()[1] for one in sockets}) == 1
        assert not reachable(sockets)
        # asyncio looks at this before it lets small packets go at once
        assert {one.proto for one in sockets} == {socket.IPPROTO_TCP}
        socket.create_connection(sockets[0].getsockname()[:2]).close()


def test_a_wildcard_address_is_reachable() -> None:
    (opened,) = listen(Address("0.0.0.0", 0))
    with opened:
        assert reachable([opened])


def test_host_name_with_one_address_in_use_is_refused() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="another program has the port"),
    ):
        listen(Address("localhost", taken.getsockname()[1]))


@given(DOMAINS, PORTS)
def test_host_name_must_match_exactly(name: str, port: int) -> None:
    assume(name not in ("localhost", "memory.example", "one.example"))
    for host in (name, f"{name}:{port}", f"{name}.memory.example", f"memory.example.{name}"):
        assert not NAMES.know_host(host)
        assert not NAMES.know_origin(f"https://{host}")
    assert not NAMES.know_host(f"memory.example@{name}")
    assert NAMES.know_host(f"MEMORY.example:{port}")
    assert NAMES.know_host(f"one.example:{port}") == (port == 8443)


@given(st.text())
def test_any_header_value_can_be_checked(text: str) -> None:
    assert NAMES.know_host(text) in (True, False)
    assert NAMES.know_origin(text) in (True, False)


@pytest.mark.parametrize(
    ("bound", "hosts", "origins", "local"),
    [
        ("127.0.0.1", [], [], True),
        ("::1", ["localhost:80"], ["http://localhost:6274"], True),
        ("localhost", ["127.0.0.2"], [], True),
        ("localhost", ["memory.example"], [], False),
        ("localhost", [], ["https://app.example"], False),
        ("0.0.0.0", [], [], False),
    ],
)
def test_names_are_local_unless_other_machines_are_allowed(
    bound: str, hosts: list[str], origins: list[str], local: bool
) -> None:
    assert AcceptedNames.of(bound, hosts, origins).local is local
