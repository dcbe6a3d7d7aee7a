"""Our loop answers every line, valid or not, like the SDK's server, in every revision."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from tests.support.clock import ManualClock
from tests.support.mcp_sessions import Client, connected, ours, theirs

from memstore import Store
from memstore.faces.mcp import protocol

CLIENT = {"name": "test", "version": "1"}
ENVELOPE = {
    protocol.REVISION_KEY: protocol.ENVELOPE_REVISIONS[-1],
    protocol.CAPABILITIES_KEY: {},
    protocol.CLIENT_KEY: CLIENT,
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LAST = "the last request"
ONE = 1
"""The id of what gets one of its own."""


class Unlike(NamedTuple):
    """A line that we answer differently on purpose: with this error code, or like any request."""

    line: Any
    reason: str
    code: int | None


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def hello(revision: str = "2025-11-25", **more: Any) -> dict[str, Any]:
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT} | more
    return request("initialize", "hello", **params)


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def call(name: Any, /, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", name=name, arguments=arguments)


def complete(value: str, argument: str = "name", /, **ref: Any) -> dict[str, Any]:
    return request("completion/complete", ref=ref, argument={"name": argument, "value": value})


SUBJECT = {"type": "ref/resource", "uri": "memory://subject/{name}"}

WORK: Sequence[dict[str, Any]] = [
    request("tools/list"),
    request("tools/list", cursor="next"),
    call("memory_store", content="Ana drinks tea", subject="Ana", metadata={"a": [1]}),
    call("memory_store", content="漢字 👩\u200d🚀 \u202e", subject="Ärger"),
    call("memory_search", query="tea", limit="3"),
    call("memory_search", query="tea", limit=0),
    call("memory_search"),
    call("memory_delete", id=99),
    call("nothing", a=1),
    call("episode_search", query="tea"),
    request("tools/call", name="memory_status"),
    request("tools/call", name="memory_status", arguments=None),
    request("tools/call", name="memory_list", arguments={}, _meta={"progressToken": "p"}),
    request("prompts/list"),
    request("prompts/get", name="recall", arguments={"topic": "tea"}),
    request("prompts/get", name="remember"),
    request("resources/list"),
    request("resources/templates/list"),
    request("resources/read", uri="memory://startup"),
    request("resources/read", uri="memory://subject/ana"),
    request("resources/read", uri="memory://subject/%C3%84rger"),
    complete("a", **SUBJECT),
    complete("x", **SUBJECT),
    complete("a", "topic", type="ref/prompt", name="recall"),
    complete("a", "what", type="ref/prompt", name="remember"),
]

BAD: Sequence[dict[str, Any]] = [
    request("prompts/get", name="recall"),
    request("prompts/get", name="recall", arguments={"topic": 1}),
    request("prompts/get", name="nothing"),
    request("prompts/get", name=1),
    request("resources/read", uri="memory://nothing"),
    request("resources/read", uri="memory://subject/"),
    request("resources/read"),
    request("resources/read", uri=None),
    complete("a", type="ref/resource", uri="memory://nothing"),
    complete("a", type="ref/prompt", name="nothing"),
    complete("a", type="ref/nothing", name="recall"),
    request("completion/complete", ref=SUBJECT),
    request("completion/complete", ref=SUBJECT, argument={"name": "name"}),
    request("tools/list", cursor=1),
    request("tools/call"),
    request("tools/call", name=None, arguments={}),
    request("tools/call", name=1, arguments={}),
    request("tools/call", name="memory_list", arguments=[]),
    request("tools/call", name="memory_list", arguments="{}"),
    request("resources/subscribe", uri="memory://startup"),
    request("tools/nothing"),
    request(""),
    request("notifications/initialized"),
]

NOTICES: Sequence[Any] = [
    notice("notifications/cancelled", requestId=1),
    notice("notifications/cancelled", requestId="never asked"),
    notice("notifications/cancelled", requestId=[1]),
    notice("notifications/cancelled"),
    notice("notifications/nothing", a=1),
    notice("tools/list"),
    {"jsonrpc": "2.0", "id": None, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": True, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 7, "result": {}},
    {"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "no"}},
    b"this is no JSON",
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"',
    b"[" * 100_000,
    b"\xff\xfe",
    b"[]",
    b'"text"',
    b"1",
    b"null",
    b"",
    b"{}",
]

HANDSHAKE: Sequence[Any] = [
    request("ping"),
    request("ping", 2**53),
    request("ping", "7"),
    {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None},
    {"jsonrpc": "2.0", "id": 1, "method": "ping", "more": 1},
    request("ping", _meta={"progressToken": ["p"]}),
    request("logging/setLevel", level="error"),
    request("logging/setLevel", level="loud"),
    request("logging/setLevel"),
    request("server/discover"),
    request("subscriptions/listen", filters={}),
    request("tools/list", _meta=ENVELOPE),
    request("server/discover", _meta=ENVELOPE),
    hello("2025-06-18"),
]

UNLIKE: Sequence[Unlike] = [
    Unlike(
        {"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": []},
        "a request that cannot be read, but for its id, is not left without an answer",
        protocol.INVALID_REQUEST,
    ),
    Unlike({"id": "b", "method": "ping"}, "the same", protocol.INVALID_REQUEST),
    Unlike({"jsonrpc": "2.0", "id": "c", "method": ["ping"]}, "the same", protocol.INVALID_REQUEST),
    Unlike(
        rb'{"jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": {"name": "memory_search"'
        rb', "arguments": {"query": "half \ud83d"}}}',
        "half an emoji, as texts are cut by number of UTF-16 units, is read as U+FFFD",
        None,
    ),
]


@pytest.fixture
def stores(open_store: Callable[..., Store], manual_clock: ManualClock) -> list[Store]:
    return [open_store(":memory:", embedder=None) for _ in range(2)]


def told(client: Client, said: Sequence[Any], last: dict[str, Any]) -> list[dict[str, Any]]:
    """Send each line once the previous one is answered, and return all answers."""
    for one in said:
        client.write(one if isinstance(one, bytes) else json.dumps(one).encode())
        if isinstance(one, dict) and protocol.request_id(one.get("id")) and "method" in one:
            client.wait_for(one["id"])
    client.write(json.dumps(last | {"id": LAST}).encode())
    client.wait_for(LAST)
    return client.answers


def same(said: Sequence[Any], stores: list[Store], last: dict[str, Any]) -> None:
    numbered = [
        one | {"id": number} if isinstance(one, dict) and one.get("id") is ONE else one
        for number, one in enumerate(said, 1_000)
    ]
    with connected(ours(lambda: stores[0])) as client:
        # The SDK leaves lines without an answer that it cannot read, but not over HTTP.
        ours_ = [one for one in told(client, numbered, last) if one["id"] is not None]
    with connected(theirs(lambda: stores[1])) as client:
        theirs_ = told(client, numbered, last)
    methods = {one.get("id"): one for one in numbered if isinstance(one, dict)}
    answers = (by_id(of_any(*one)) for one in zip((ours_, theirs_), stores, strict=True))
    for mine, other in zip(*answers, strict=True):
        assert mine == other, methods.get(mine["id"])


def of_any(answers: list[dict[str, Any]], store: Store) -> list[dict[str, Any]]:
    """Return answers without the name and the size of the store's database."""
    text = json.dumps(answers).replace(store.path, "its path")
    return json.loads(re.sub(r'(megabytes\\*": ?)[\d.]+', r"\g<1>1", text))  # type: ignore[no-any-return]


def by_id(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return answers sorted by id, with errors reduced to what programs read."""
    for answer in answers:
        if "error" in answer:
            assert answer["error"].pop("message")
    return sorted(answers, key=lambda answer: str(answer["id"]))


@pytest.mark.parametrize("revision", protocol.HANDSHAKE_REVISIONS)
def test_answers_after_a_handshake_match_the_sdk(stores: list[Store], revision: str) -> None:
    said = [hello(revision), INITIALIZED, *WORK, *BAD, *NOTICES, *HANDSHAKE]
    same(said, stores, request("ping"))


@pytest.mark.parametrize("given", [ENVELOPE, ENVELOPE | {"progressToken": 7}], ids=len)
def test_answers_with_an_envelope_match_the_sdk(stores: list[Store], given: dict[str, Any]) -> None:
    enveloped = [
        one | {"params": one["params"] | {"_meta": given}}
        for one in [request("server/discover"), *WORK, *BAD, request("ping"), hello()]
    ]
    faults = [
        {},
        {protocol.REVISION_KEY: "2026-07-28"},
        {protocol.CAPABILITIES_KEY: {}},
        ENVELOPE | {protocol.REVISION_KEY: "2025-11-25"},
        ENVELOPE | {protocol.REVISION_KEY: 1},
        ENVELOPE | {protocol.CAPABILITIES_KEY: []},
        ENVELOPE | {protocol.CLIENT_KEY: "me"},
        ENVELOPE | {protocol.LEVEL_KEY: "loud"},
    ]
    faulty = [request("tools/list", _meta=meta) for meta in faults]
    faulty += [request("tools/list"), request("tools/list", _meta=1), request("ping"), hello()]
    last = request("server/discover", _meta=given)
    same([*enveloped, *faulty, *NOTICES], stores, last)


@pytest.mark.parametrize(
    "said",
    [
        [],
        [request("ping")],
        [request("tools/list"), request("tools/call", name="memory_status"), request("nothing")],
        [INITIALIZED, request("tools/list")],
        [notice("notifications/cancelled", requestId=1), *NOTICES, hello(), request("tools/list")],
        [hello("2099-01-01"), request("tools/list")],
        [hello("2026-07-28"), request("tools/list")],
        [hello(protocolVersion=7), request("tools/list")],
        [hello(clientInfo=None), hello(capabilities=[]), hello(clientInfo={"name": "x"})],
        [hello(capabilities={"roots": {"listChanged": True}, "sampling": {}, "new": 1})],
        [hello(capabilities={"roots": 1})],
        [request("initialize"), hello(_meta=ENVELOPE), request("tools/list")],
        [hello(), request("tools/list"), hello("2024-11-05"), request("tools/list")],
        [request("tools/list", _meta={protocol.REVISION_KEY: "2025-11-25"}), hello()],
    ],
    ids=range(14),
)
def test_first_messages(stores: list[Store], said: list[dict[str, Any]]) -> None:
    last = request("ping")
    if said and protocol.has_envelope(said[0].get("params")):
        last = request("server/discover", _meta=ENVELOPE)
    same(said, stores, last)


@pytest.mark.parametrize("unlike", UNLIKE, ids=lambda unlike: unlike.reason[:20])
def test_intended_differences(stores: list[Store], unlike: Unlike) -> None:
    line = unlike.line if isinstance(unlike.line, bytes) else json.dumps(unlike.line).encode()
    number = json.loads(line)["id"]
    with connected(ours(lambda: stores[0])) as client:
        told(client, [hello(), line], request("ping"))
        answer = client.wait_for(number)
    assert answer.get("error", {}).get("code") == unlike.code
    with connected(theirs(lambda: stores[1])) as client:
        answers = told(client, [hello(), line], request("ping"))
    assert {one["id"] for one in answers} == {"hello", LAST}


def test_requests_in_a_batch_are_answered_one_by_one(stores: list[Store]) -> None:
    """The revision of 2025-03-26 has batches, which the SDK does not support."""
    with connected(ours(lambda: stores[0])) as client:
        client.write(json.dumps([hello("2025-03-26"), INITIALIZED, request("ping", 5)]).encode())
        assert client.wait_for(5)["result"] == {}
        assert client.wait_for("hello")["result"]["protocolVersion"] == "2025-03-26"
