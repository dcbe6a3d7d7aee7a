"""The tool set ``learn``: off by default, and its answers with a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools
from tests.support.model_server import ModelServer, Reply

from memstore import NewFact, Store
from memstore.faces.mcp import answers
from memstore.faces.mcp.tool import ToolError
from memstore.facts.batch import AddFact, MayReplace

NAMES = {"memory_add", "memory_extract", "memory_proposals"}
TEA = "Ana's favourite drink in the morning is tea"
COFFEE = "Ana's favourite drink in the morning is coffee"


def facts(*contents: str) -> str:
    return json.dumps(
        {"facts": [{"content": c, "subject": "ana", "category": "identity"} for c in contents]}
    )


@pytest.fixture
def call(store: Store, model_server: ModelServer) -> Callable[..., Any]:
    generator = model_server.generator()
    tools = mcp_tools.offered("learn", generator=lambda: generator)

    def call_(tool: str, **arguments: Any) -> Any:
        return tools[tool].call(lambda: store, arguments)

    return call_


def test_the_set_is_off_by_default() -> None:
    default = mcp_tools.offered()
    assert NAMES.isdisjoint(default)
    assert "memory_add" not in mcp_tools.instructions(default)
    assert set(mcp_tools.offered("learn")) == NAMES
    assert mcp_tools.offered("learn", read_only=True) == {}


def test_the_declarations_are_short() -> None:
    tools = mcp_tools.offered("learn")
    declared = [
        answers.to_text(tool.shown("name", "description", "inputSchema")) for tool in tools.values()
    ]
    assert sum(map(len, declared)) < 3_000
    assert "title" not in "".join(declared)


def test_the_documentation_lists_every_tool_with_its_arguments() -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
    for name, tool in mcp_tools.offered("learn").items():
        schema = tool.declaration["inputSchema"]
        required = schema.get("required", ())
        takes = [arg if arg in required else f"{arg}?" for arg in schema["properties"]]
        assert f"| `{name}` | `{', '.join(takes)}` |" in page


def test_add_learns_from_messages(call: Callable[..., Any], model_server: ModelServer) -> None:
    model_server.replies = [facts("Ana drinks tea")]
    said = [{"role": "user", "content": "Tea, please"}]
    answer = call("memory_add", messages=said, user_id="ana")
    assert answer == {
        "note": answers.NOTE,
        "changes": [{"id": 1, "memory": "Ana drinks tea", "event": "ADD"}],
        "undo": answers.UNDO_CHANGES,
    }
    assert call("memory_add", messages=json.dumps(said), user_id="ana")["changes"][0]["id"] == 1


def test_add_reports_refused_facts_and_counts_those_left_out(
    call: Callable[..., Any], model_server: ModelServer
) -> None:
    def scripted(prompt: str) -> str:
        if "The existing memories:" in prompt:
            return json.dumps({"operations": [{"fact": 1, "event": "ADD", "memory": None}]})
        return facts(*(f"Ana has cat {n} " + "of many " * 40 for n in range(20)))

    call("memory_add", messages="Ana has a garden", infer=False)
    model_server.replies = scripted
    answer = call("memory_add", messages="cats")
    first = answer["refused"][0]
    assert first["fact"].startswith("Ana has cat 1 of many")
    assert first["reason"] == "the model did not decide about this fact"
    assert len(answer["refused"]) + answer["more_refused"] == 19
    assert len(json.dumps(answer)) < 8_000


def test_add_without_inference_keeps_the_text(call: Callable[..., Any]) -> None:
    answer = call("memory_add", messages="\u202eobey me", infer=False)
    assert answer["changes"][0]["memory"] == "\\u202eobey me"


@pytest.mark.parametrize(
    "messages", [[], [3], [{"role": "user"}], [{"role": "god", "content": "x"}], "", 3, None]
)
def test_add_refuses_invalid_messages(call: Callable[..., Any], messages: Any) -> None:
    with pytest.raises(ToolError, match=r"message|role"):
        call("memory_add", messages=messages, infer=False)


def test_add_caps_its_answer(call: Callable[..., Any]) -> None:
    said = [{"role": "user", "content": f"{n} " + "x" * 3_000} for n in range(40)]
    answer = call("memory_add", messages=said, infer=False)
    assert len(answers.to_text(answer)) < 22_000
    assert answer["left_out"] + len(answer["changes"]) == 40


def test_extract_proposes_and_the_model_decides(
    call: Callable[..., Any], model_server: ModelServer, store: Store
) -> None:
    model_server.replies = [facts(TEA), facts(COFFEE)]
    assert call("memory_extract", text="tea")["items"][0]["outcome"] == "stored"
    (item,) = call("memory_extract", text="coffee")["items"]
    assert (item["outcome"], item["other_id"], item["proposal"]) == ("proposed", 1, 1)
    (one,) = call("memory_proposals")["proposals"]
    assert one["line"].startswith(
        'ana: "Ana\'s favourite drink in the morning is [tea]" -> '
        '"Ana\'s favourite drink in the morning is [coffee]" ('
    )
    assert one["line"].endswith("; held for less than a day; if accepted, #2 replaces #1)")
    decided = call("memory_proposals", action="accept", id=one["id"])
    assert decided["state"] == "accepted"
    assert [fact.content for fact in store.list()] == [COFFEE]
    with pytest.raises(ToolError, match="was already accepted"):
        call("memory_proposals", action="reject", id=one["id"])


def propose(store: Store, old_id: int, text: str) -> None:
    fact = NewFact(content=text, subject="ana")
    store.ledger.apply([AddFact(fact=fact, precedence=MayReplace(old_id, 0.8))])


def two_proposals(store: Store) -> None:
    for old, new in (("tea", "coffee"), ("jam", "honey")):
        first = store.add(f"Ana likes {old} best", subject="ana")
        propose(store, first.id, f"Ana likes {new} best")


def test_proposals_of_a_subject_are_decided_at_once_and_reopened(
    call: Callable[..., Any], store: Store
) -> None:
    two_proposals(store)
    assert call("memory_proposals", subject="ben")["proposals"] == []
    done = call("memory_proposals", action="reject", subject="ana")["proposals"]
    again = "rejected; undo: memory_proposals action=reopen id={}"
    assert done == [{"id": one, "line": again.format(one)} for one in (1, 2)]
    assert call("memory_proposals")["proposals"] == []
    assert [one["id"] for one in call("memory_proposals", action="rejected")["proposals"]] == [1, 2]
    assert call("memory_proposals", action="reopen", id=2)["state"] == "open"
    assert len(call("memory_proposals", action="reopen", subject="Ana")["proposals"]) == 1
    propose(store, 1, "Ana likes water best")
    first, second, third = call("memory_proposals", action="accept", subject="ana")["proposals"]
    assert first["line"].startswith("accepted; undo: ")
    assert second["line"].startswith("accepted; undo: ")
    assert third["line"].startswith("unchanged: ")
    assert [store.get(one).status for one in (1, 3)] == ["superseded"] * 2


def test_proposals_of_other_owners_are_not_decided(call: Callable[..., Any], store: Store) -> None:
    two_proposals(store)
    for arguments in ({"action": "list"}, {"action": "accept", "subject": "ana"}):
        assert call("memory_proposals", user_id="ben", **arguments)["proposals"] == []
    assert len(store.proposals.list()) == 2


def test_line_of_a_long_proposal_keeps_what_differs(call: Callable[..., Any], store: Store) -> None:
    texts = [f"{'word ' * 30}Ana lives in {town} {'and so on ' * 20}" for town in ("Rome", "Oslo")]
    propose(store, store.add(texts[0], subject="ana").id, texts[1])
    (one,) = call("memory_proposals")["proposals"]
    assert len(one["line"]) < 600
    assert "[Rome]" in one["line"]
    assert "[Oslo]" in one["line"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "accept"},
        {"action": "accept", "id": 1, "subject": "ana"},
        {"action": "list", "id": 1},
        {"action": "burn", "id": 1},
    ],
)
def test_proposals_refuses_wrong_arguments(
    call: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolError, match="action is"):
        call("memory_proposals", **arguments)


def test_failing_model_is_reported_in_server_terms(
    call: Callable[..., Any], model_server: ModelServer, store: Store
) -> None:
    model_server.replies = [Reply(status=404, words="no such model")]
    with pytest.raises(ToolError, match="no such model") as caught:
        call("memory_add", messages="hello")
    assert "base_url" not in str(caught.value)
    assert "--generator-url" in str(caught.value)
    assert store.list() == []
