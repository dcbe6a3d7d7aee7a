"""The hooks of hosts on other machines: what the server answers, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.gated import Gated, run
from tests.support.identity_provider import providing, settings

import memstore
from memstore.episodes import parts
from memstore.faces.http.gate import has_too_many_values
from memstore.faces.http.hooks import MAX_GIVEN, MAX_TURNS

TURN = {"mark": "1", "role": "user", "text": "the ferry to Naxos leaves at nine", "at": None}
KEEP: dict[str, Any] = {"event": "keep", "host": "codex", "session": "s1", "turns": [TURN]}


WRONG: list[dict[str, Any]] = [
    {},
    {"event": "drop"},
    {"event": ["keep"]},
    {**KEEP, "host": "memstore"},
    {**KEEP, "host": 7},
    {**KEEP, "session": ""},
    {**KEEP, "session": "s" * 201},
    {**KEEP, "turns": TURN},
    {**KEEP, "turns": [TURN] * (MAX_TURNS + 1)},
    {**KEEP, "turns": [{**TURN, "role": "system"}]},
    {**KEEP, "turns": [{**TURN, "text": 7}]},
    {**KEEP, "turns": ["hello"]},
    {**KEEP, "trace": []},
    {**KEEP, "trace": {"changed": [7]}},
    {**KEEP, "user": 7},
    {"event": "prompt", "host": "codex", "prompt": ""},
    {"event": "prompt", "host": "codex", "prompt": "x", "known": ["#1"] * (MAX_GIVEN + 1)},
    {"event": "prompt", "host": "codex", "prompt": "x", "emptied_at": "noon"},
]


@pytest.fixture
def tokens(path: Path) -> dict[str, str]:
    with memstore.open(path, embedder=None) as store:
        made = store.file.tokens.create
        return {
            "work": made("work", namespace="work")[1],
            "reader": made("reader", namespace="work", access="read")[1],
            "other": made("other", namespace="other")[1],
        }


def contents(path: Path, namespace: str) -> list[str]:
    with memstore.open(path, embedder=None, read_only=True) as store:
        return [one.content for one in store.within(namespace).of("all").episodes.list()]


def test_a_start_and_a_prompt_get_the_texts_of_the_namespace(
    path: Path, tokens: dict[str, str]
) -> None:
    with memstore.open(path, embedder=None) as store:
        fact = store.within("work").add(
            "The ferry to Naxos leaves at nine", subject="ferry", category="project"
        )

    async def use(server: Gated) -> None:
        started = await server.hook(tokens["reader"], event="start", host="codex", session="s1")
        assert (started.status_code, started.headers["cache-control"]) == (200, "no-store")
        told = started.json()
        assert told["given"] == [f"#{fact.id}"]
        assert "leaves at nine" in told["text"]
        asking = {"event": "prompt", "host": "codex", "prompt": "when does the Naxos ferry leave?"}
        assert "leaves at nine" in (await server.hook(tokens["work"], **asking)).json()["text"]
        again = await server.hook(tokens["work"], **asking, known=told["given"])
        assert again.json() == {"text": None, "given": []}
        assert (await server.hook(tokens["other"], **asking)).json()["text"] is None

    run(path, use)


@pytest.mark.parametrize("records", [True, False])
def test_a_prompt_is_recorded_with_what_it_was_given(
    path: Path, tokens: dict[str, str], records: bool
) -> None:
    with memstore.open(path, embedder=None) as store:
        fact = store.within("work").add("The ferry to Naxos leaves at nine", subject="ferry")

    async def use(server: Gated) -> None:
        event = {"event": "prompt", "host": "codex"}
        await server.hook(tokens["work"], **event, prompt="when does the Naxos ferry leave?")
        await server.hook(tokens["work"], **event, prompt="how tall is the tower?")

    run(path, use, records=records)
    with memstore.open(path, embedder=None) as store:
        found = store.within("work").searches.list(tool="prompt")
        assert store.searches.list() == []
    assert [(one.query, one.facts, one.client) for one in found] == (
        [
            ("how tall is the tower?", (), "codex"),
            ("when does the Naxos ferry leave?", (fact.id,), "codex"),
        ]
        if records
        else []
    )


def test_a_conversation_that_is_sent_twice_is_stored_once(
    path: Path, tokens: dict[str, str]
) -> None:
    trace = {"changed": ["a.py"], "committed": [], "failed": [], "began": None, "ended": None}

    async def use(server: Gated) -> None:
        for _ in range(2):
            kept = await server.hook(tokens["work"], **KEEP, trace=trace)
            assert kept.json() == {"kept": 1, "left_out": {}}

    run(path, use)
    assert len(contents(path, "work")) == 2
    assert contents(path, "other") == []
    with memstore.open(path, embedder=None, read_only=True) as store:
        assert {one.source for one in store.within("work").episodes.list()} == {"codex"}


def test_a_read_only_token_keeps_nothing(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        refused = await server.hook(tokens["reader"], **KEEP)
        assert (refused.status_code, "read-only" in refused.json()["error"]) == (403, True)

    run(path, use)
    assert contents(path, "work") == []


def test_a_hook_needs_a_token(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        assert (await server.hook(None, **KEEP)).status_code == 401
        assert (await server.hook("mst_" + "x" * 43, **KEEP)).status_code == 401
        assert (await server.get("/mcp/hook")).status_code == 401
        refused = await server.get("/mcp/hook", Authorization=f"Bearer {tokens['work']}")
        assert refused.status_code == 405

    run(path, use)


def test_a_check_says_what_the_token_gives_access_to(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        told = (await server.hook(tokens["reader"], event="check", user="ana")).json()
        assert told == {
            "version": memstore.__version__,
            "namespace": "work",
            "access": "read",
            "user": "ana",
        }

    run(path, use)


def test_a_user_of_the_identity_provider_is_only_that_user(path: Path) -> None:
    async def use(server: Gated) -> None:
        token = provider.token("ana", groups=["search"])
        assert (await server.hook(token, **KEEP)).status_code == 200
        assert (await server.hook(token, **KEEP, user="ana")).status_code == 200
        assert (await server.hook(token, **KEEP, user="bo")).status_code == 403

    with providing() as provider:
        run(path, use, settings(provider))
    with memstore.open(path, embedder=None, read_only=True) as store:
        assert [one.user_id for one in store.within("search").of("all").episodes.list()] == ["ana"]


def test_a_request_of_another_form_is_refused(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        for event in WRONG:
            refused = await server.hook(tokens["work"], **event)
            assert refused.status_code == 400, (event, refused.text)
            assert refused.json()["error"]

    run(path, use)
    assert contents(path, "work") == []


def test_what_the_store_refuses_is_counted(path: Path, tokens: dict[str, str]) -> None:
    turns = [TURN, {**TURN, "mark": "2", "at": "noon"}, {**TURN, "mark": "3", "text": "one\0two"}]

    async def use(server: Gated) -> None:
        kept = await server.hook(tokens["work"], **{**KEEP, "turns": turns})
        assert kept.json() == {"kept": 1, "left_out": {"refused by the store": 2}}

    run(path, use)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b"[" + b"[]," * 200_000 + b"[]]", True),
        (b"[" + b"0," * 200_000 + b"0]", True),
        (b'{"a": [' + b'"",' * 200_000 + b'""]}', True),
        (b'{"a": "' + b"[,{" * 200_000 + b'"}', False),
        (b'{"a": "' + b'\\",' * 200_001 + b'"}', False),
        (b'{"a": "' + b"\\\\" * 200_000 + b'"}', False),
        (b'"' + b'\\"' * 500_000 + b"," * 300_000, False),
        (b"x" * 300_000, False),
    ],
)
def test_json_of_very_many_values_is_counted_without_reading_it(
    body: bytes, *, refused: bool
) -> None:
    assert has_too_many_values(body) == refused


def test_json_of_very_many_values_is_refused(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        for send in (server.hook(tokens["work"], **KEEP, known=[0] * 300_000),
                     server.post(tokens["work"], [0] * 300_000)):  # fmt: skip
            answer = await send
            assert answer.status_code == 413
            assert "200,000" in answer.text

    run(path, use)


def test_long_turn_is_kept_in_parts_and_others_are_answered(
    path: Path, tokens: dict[str, str]
) -> None:
    text = "the harbour of Rotterdam is closed. " * 60_000

    async def use(server: Gated) -> None:
        event = KEEP | {"turns": [TURN, {**TURN, "mark": "2", "text": text}]}
        for _ in range(2):
            answer = await server.hook(tokens["work"], **event)
            assert answer.json() == {"kept": 2, "left_out": {}}

    run(path, use)
    with memstore.open(path, embedder=None, read_only=True) as store:
        held = store.within("work").of("all").episodes.list()
    assert [one.content for one in parts.joined(held)] == [TURN["text"], text]
    assert len(held) > 3
