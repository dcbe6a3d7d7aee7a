"""Distilling from the command line and by the prompt, over pipes and over HTTP."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import wait_until
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.mcp_sessions import Client, connected, ours
from tests.support.model_server import ModelServer
from tests.support.served import Served

from memstore import Memory, Store
from memstore.domain import clock
from memstore.faces import distilling
from memstore.faces.mcp import catalogue, prompts
from memstore.faces.mcp.protocol import Refused

MOVED = "Staging moves to port 5499, Marta owns the migration"


def keep(store: Store, content: str, thread: str = "s1", **more: Any) -> int:
    return store.episodes.add(
        content, source="claude-code", thread=thread, speaker="user", tags=["session"], **more
    ).id


@pytest.fixture
def kept(store: Store) -> Store:
    keep(store, MOVED)
    keep(store, "I prefer tabs", "s2")
    keep(store.of(user_id="ana"), "hers", "s3")
    store.add("Marta works in Berlin", subject="marta")
    return store


# -- the command line ----------------------------------------------------------------------------


def test_the_command_shows_which_conversations_are_unread(cli: CommandLine, kept: Store) -> None:
    answer = cli("distil")
    assert [row.split("\t")[:2] for row in answer.out.splitlines()] == [
        ["s1", "claude-code"],
        ["s2", "claude-code"],
    ]
    assert "no model has read 2 turns of 2 conversations" in answer.err
    assert [one["thread"] for one in cli.json("distil", "--user", "ana")] == ["s3"]
    assert kept.status().not_learned == 0


def test_a_portion_is_shown_until_it_is_done(cli: CommandLine, kept: Store) -> None:
    first = cli("distil", "--show", "--characters", "200").out
    assert f"e1 user: {MOVED}" in first
    assert "#1 Marta works in Berlin" in first
    (command,) = re.findall(r"`memstore (distil --done e2 --show[^`]*)`", first)
    assert cli("distil", "--show", "--characters", "200").out == first
    assert cli(*shlex.split(command)).out == f"{distilling.NOTHING}\n"
    assert "every conversation has been read" in cli("distil").err
    shown = cli("distil", "--show", "--user", "ana").out
    assert "e3 user: hers" in shown
    assert re.search(r"--done e3 --show .*--user ana`", shown)


@pytest.mark.parametrize("id_", ["e3", "e99"])
def test_turns_of_others_are_not_marked(cli: CommandLine, kept: Store, id_: str) -> None:
    assert cli.error("distil", "--done", id_)[0] != 0
    assert len(Memory(kept).unread(user_id="ana")) == 1


@pytest.mark.process
def test_a_model_reads_in_the_background(
    cli: CommandLine,
    kept: Store,
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "own"))
    assert "--generator" in cli.error("distil", "--learn", "--background")[1]
    monkeypatch.setenv("MEMSTORE_GENERATOR", "openai")
    monkeypatch.setenv("MEMSTORE_GENERATOR_URL", model_server.url)
    assert cli.error("distil", "--background")[0] == 2
    reading, go_on = threading.Event(), threading.Event()

    def replied(_prompt: str) -> str:
        reading.set()
        assert go_on.wait(60)
        return '{"facts": []}'

    model_server.replies = replied
    command = [sys.executable, "-m", "memstore", "distil", "--learn", "--background"]
    told = subprocess.check_output(command, encoding="utf-8")
    [log] = re.findall(r"background; (.*) will say", told)
    try:
        assert reading.wait(60), Path(log).read_text()
        with clock.use(clock.Clock()):  # the other process's
            assert "a process is learning from them" in cli("distil").err
            assert "a process is learning" in cli("distil", "--learn", "--background").out
    finally:
        go_on.set()
    assert wait_until(lambda: "learned from 2 conversations" in Path(log).read_text())
    assert Memory(kept).unread() == []
    assert len(model_server.prompts) == 2
    if sys.platform != "win32":
        assert Path(log).stat().st_mode & 0o077 == 0


def test_the_command_lets_a_model_read(
    cli: CommandLine, kept: Store, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--show" in cli.error("distil", "--learn")[1]
    monkeypatch.setenv("MEMSTORE_GENERATOR", "openai")
    monkeypatch.setenv("MEMSTORE_GENERATOR_URL", model_server.url)
    assert cli.error("distil", "--learn", "--show")[0] == 2
    model_server.replies = ['{"facts": []}']
    assert "learned from 2 conversations" in cli("distil", "--learn").err
    assert len(model_server.prompts) == 2
    assert Memory(kept).unread() == []


# -- the prompt ----------------------------------------------------------------------------------


def asked(client: Client, number: int, **arguments: str) -> dict[str, Any]:
    params = {"name": "distil", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "prompts/get", "params": params}
    client.write(json.dumps(message).encode())
    return client.wait_for(number)


def greet(client: Client) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}}
    params["clientInfo"] = {"name": "t", "version": "1"}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    client.write(json.dumps(hello).encode())
    client.wait_for(0)


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["messages"][0]["content"]["text"])


def test_the_prompt_gives_the_next_turns_when_told_the_last(kept: Store) -> None:
    with connected(ours(lambda: kept)) as client:
        greet(client)
        first = text_of(asked(client, 1)["result"])
        assert f"e1 user: {MOVED}" in first
        assert "memory_store with episode" in first
        assert f"memstore distil --done e2 --db {kept.path} --namespace default`" in first
        assert "with e2 as its argument done" in first
        assert text_of(asked(client, 2)["result"]) == first
        assert "e2 user: I prefer tabs" in text_of(asked(client, 3, done="e1")["result"])
        assert text_of(asked(client, 4, done=" e2 ")["result"]) == distilling.NOTHING
        assert "e3 user: hers" in text_of(asked(client, 5, user_id="ana")["result"])
        for number, wrong in enumerate(("e3", "e99", "all of it"), 6):
            assert asked(client, number, done=wrong)["error"]["message"]
        assert len(Memory(kept).unread(user_id="ana")) == 1


def test_the_prompt_is_about_the_owner_of_the_server(kept: Store) -> None:
    offered = catalogue.offered()._replace(owners={"user_id": "ana"})
    text = text_of(prompts.got(offered, lambda: kept, "distil", {}))
    assert "e3 user: hers" in text
    assert MOVED not in text
    assert "--user ana`" in text
    prompts.got(offered, lambda: kept, "distil", {"done": "e3"})
    assert Memory(kept).unread(user_id="ana") == []
    assert len(Memory(kept).unread()) == 2


def test_the_prompt_names_only_tools_that_are_offered(kept: Store) -> None:
    few = catalogue.offered("facts,-memory_confirm,-memory_supersede")
    text = text_of(prompts.got(few, lambda: kept, "distil", {}))
    assert "memory_confirm" not in text
    assert "memory_supersede" not in text
    with pytest.raises(Refused):
        prompts.got(catalogue.offered("tasks"), lambda: kept, "distil", {})


def test_the_other_prompts_open_no_store() -> None:
    def never() -> Store:
        raise AssertionError("opened")

    assert prompts.got(catalogue.offered(), never, "recall", {"topic": "tea"})["messages"]


@pytest.mark.process
def test_the_prompt_over_http(path: Path, kept: Store) -> None:
    served = Served(path)
    try:
        text = text_of(served.ask("prompts/get", name="distil", arguments={}))
        assert f"e1 user: {MOVED}" in text
        done = served.ask("prompts/get", name="distil", arguments={"done": "e2"})
        assert text_of(done) == distilling.NOTHING
    finally:
        served.close()
    assert Memory(kept).unread() == []


@pytest.mark.process
def test_a_read_only_token_marks_nothing(path: Path, kept: Store) -> None:
    _, secret = kept.file.tokens.create("reader", namespace=kept.namespace, access="read")
    served = Served(path)
    try:
        params = {"name": "distil", "arguments": {"done": "e2"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params}
        assert served.post(message, secret).status_code == 403
    finally:
        served.close()
    assert len(Memory(kept).unread()) == 2
