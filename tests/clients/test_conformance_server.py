"""The double that the conformance suite asks overrides what the server calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from tests.clients import conformance_server as double
from tests.support.asgi import client
from tests.support.served import MCP_HEADERS, request

from memstore import Store
from memstore.faces.http import endpoint
from memstore.faces.mcp.methods import Methods

ASKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tools/call": (
        {"name": "test_simple_text", "arguments": {}},
        {"content": double.CONTENTS["test_simple_text"]},
    ),
    "prompts/get": (
        {"name": "test_simple_prompt"},
        {"messages": [{"role": "user", "content": double.text(double.GREETING)}]},
    ),
    "resources/read": (
        {"uri": "test://static-binary"},
        {"contents": [{"uri": "test://static-binary", "blob": double.PIXEL}]},
    ),
}
LISTED = {
    "tools/list": ("tools", "name", [*double.CONTENTS]),
    "prompts/list": ("prompts", "name", [*double.PROMPTS]),
    "resources/list": ("resources", "uri", [*double.RESOURCES]),
}


@pytest.fixture
def ask(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    monkeypatch.setattr(endpoint, "Methods", double.Fixtures)

    async def asked(method: str, params: dict[str, Any]) -> dict[str, Any]:
        async with client(open_store) as served:
            sent = request(method, **params)
            reply = await served.http.post("/mcp", json=sent, headers=MCP_HEADERS)
            return dict(reply.json()["result"])

    return lambda method, **params: anyio.run(asked, method, params)


@pytest.mark.parametrize("method", ASKED)
def test_server_answers_with_the_doubles_contents(
    method: str, ask: Callable[..., dict[str, Any]]
) -> None:
    params, expected = ASKED[method]
    answer = ask(method, **params)
    [(name, items)] = expected.items()
    for item, got in zip(items, answer[name], strict=True):
        assert item.items() <= got.items()


@pytest.mark.parametrize("method", LISTED)
def test_server_lists_what_the_double_has(method: str, ask: Callable[..., dict[str, Any]]) -> None:
    name, key, expected = LISTED[method]
    assert [one[key] for one in ask(method)[name]] == expected


def test_double_overrides_only_what_the_product_has() -> None:
    for own, theirs in ((double.Fixtures, Methods), (double.FixtureCalls, double.Calls)):
        assert {name for name in vars(own) if not name.startswith("_")} <= {*dir(theirs)}
