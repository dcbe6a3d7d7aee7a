"""Secrets in new texts: the library keeps them, tools and the command line redact them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.raw import stored
from tests.text.test_secrets import EXAMPLES

import memstore
from memstore import NewEpisode, Store
from memstore.faces import from_settings, options
from memstore.faces.mcp.tool import ToolError
from memstore.facts.batch import AddFact

KEY = EXAMPLES["github-pat"]
BLOCK = EXAMPLES["private-key"]
OFFERED = mcp_tools.offered("facts,tasks,episodes")

WRITES: dict[str, Callable[[Store], object]] = {
    "add": lambda store: store.add(f"the key is {KEY}", subject="s"),
    "subject": lambda store: store.add("a fact", subject=f"key {KEY}"),
    "metadata": lambda store: store.add("a fact", subject="s", metadata={"key": [KEY]}),
    "add_many": lambda store: store.add_many([{"content": KEY, "subject": "s"}]),
    "apply": lambda store: store.ledger.apply(
        [AddFact(fact=memstore.NewFact(content=KEY, subject="s"))]
    ),
    "update_metadata": lambda store: store.update_metadata(
        store.add("a fact", subject="s").id, {"key": KEY}
    ),
    "task": lambda store: store.tasks.create(f"rotate {KEY}", scope="user"),
    "note of a task": lambda store: store.tasks.update(
        store.tasks.create("rotate", scope="user").id, "completed", note=f"it is {KEY}"
    ),
    "episode": lambda store: store.episodes.add(f"said {KEY}", source="chat"),
    "episodes": lambda store: store.episodes.add_many([NewEpisode(content=KEY, source="chat")]),
    "record": lambda store: store.episodes.record(f"said {KEY}"),
    "name of an episode": lambda store: store.episodes.add("said", source="chat", name=KEY),
    "speaker of an episode": lambda store: store.episodes.add("said", source="x", speaker=KEY),
    "tags": lambda store: store.episodes.add("said", source="chat", tags=[KEY]),
    "update of an episode": lambda store: store.episodes.update(
        store.episodes.add("said", source="chat").id, tags=[KEY], metadata={"key": KEY}
    ),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_redacted_secret_is_not_in_the_file(
    open_store: Callable[..., Store], write: Callable[[Store], object]
) -> None:
    store = open_store(secrets="redact")
    write(store)
    held = stored(store.path)
    assert KEY.encode() not in held
    assert b"[redacted github-pat]" in held
    assert store.file.doctor() == []


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_refused_text_is_not_stored(
    open_store: Callable[..., Store], write: Callable[[Store], object]
) -> None:
    store = open_store(secrets="refuse")
    with pytest.raises(memstore.InvalidArgument, match=r"a secret \(github-pat\)") as caught:
        write(store)
    assert KEY not in str(caught.value)
    assert caught.value.remedy is not None
    assert KEY.encode() not in stored(store.path)


def test_the_library_does_not_redact(open_store: Callable[..., Store]) -> None:
    store = open_store()
    assert store.add(f"the key is {KEY}", subject="s").content == f"the key is {KEY}"
    assert open_store(secrets="redact").within("other").add(KEY, subject="s").content != KEY
    with pytest.raises(memstore.InvalidArgument, match="secrets must be keep, redact or refuse"):
        open_store(secrets="hide")


def test_the_same_text_is_the_same_episode_and_key(open_store: Callable[..., Store]) -> None:
    store = open_store(secrets="redact")
    first = store.episodes.record(f"said {KEY}")
    assert store.episodes.record(f"said {KEY}").id == first.id
    again = [store.add(KEY, subject="s", idempotency_key="k").id for _ in range(2)]
    assert again[0] == again[1]


CALLS: dict[str, dict[str, Any]] = {
    "memory_store": {"content": f"it is {KEY}", "subject": "s", "metadata": {"block": BLOCK}},
    "memory_update": {"id": 1, "metadata": {"key": KEY, "block": BLOCK}},
    "memory_task_create": {"content": f"rotate {KEY} and {BLOCK}", "scope": "user"},
    "add_memory": {"content": f"said {KEY}\n{BLOCK}", "source": "chat"},
    "update_episode": {"id": 1, "tags": [KEY], "metadata": {"block": BLOCK}},
}


@pytest.mark.parametrize("tool", CALLS)
def test_tool_names_redacted_kinds_but_not_the_secret(
    path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.delenv("MEMSTORE_SECRETS", raising=False)
    for flags, expected in ((["--secrets", "refuse"], "refuse"), ([], "redact")):
        with chosen(path, *flags) as store:
            if not store.count():
                store.add("a fact", subject="s")
                store.episodes.add("said", source="chat")
            if expected == "refuse":
                with pytest.raises(ToolError, match="Store it without the secret"):
                    OFFERED[tool].call(lambda store=store: store, CALLS[tool])  # type: ignore[misc]
                continue
            answer = OFFERED[tool].call(lambda store=store: store, CALLS[tool])  # type: ignore[misc]
            assert answer["redacted"] == ["github-pat", "private-key"]
            assert KEY not in json.dumps(answer)
            assert KEY.encode() not in stored(store.path)
            plain = OFFERED["memory_store"].call(
                lambda store=store: store,  # type: ignore[misc]
                {"content": "plain", "subject": "s"},
            )
            assert "redacted" not in plain


def chosen(path: Path, *flags: str) -> Store:
    parser = argparse.ArgumentParser()
    options.add_store_flags(parser)
    given = parser.parse_args(["--db", str(path), "--embedder", "none", *flags])
    return from_settings.open_store(options.chosen_settings(given), source="test")


@pytest.mark.parametrize(
    ("flags", "variable", "stored"),
    [
        ([], None, "[redacted github-pat]"),
        ([], "keep", KEY),
        (["--secrets", "redact"], "keep", "[redacted github-pat]"),
        (["--secrets", "keep"], "refuse", KEY),
    ],
)
def test_the_policy_is_chosen_by_flag_or_variable(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    variable: str | None,
    stored: str,
) -> None:
    monkeypatch.delenv("MEMSTORE_SECRETS", raising=False)
    if variable is not None:
        monkeypatch.setenv("MEMSTORE_SECRETS", variable)
    with chosen(path, *flags) as store:
        assert store.add(KEY, subject="s").content == stored


def test_the_command_line_reports_what_it_redacted(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMSTORE_SECRETS", raising=False)
    told = cli("add", f"the key is {KEY}", "--subject", "s")
    assert "redacted text that looks like a secret: github-pat" in told.err
    assert KEY not in told.out + told.err
    assert cli.json("get", 1)["content"] == "the key is [redacted github-pat]"
    told = cli("episode", "add", f"said {BLOCK}", "--source", "chat")
    assert "redacted text that looks like a secret: private-key" in told.err
    assert "redacted" not in cli("add", "a plain fact", "--subject", "s").err
    code, error = cli.error("add", KEY, "--subject", "s", "--secrets", "refuse")
    assert code == 2
    assert "content holds what looks like a secret (github-pat)" in error
    assert "--secrets" in error
    monkeypatch.setenv("MEMSTORE_SECRETS", "hide")
    code, error = cli.error("list")
    assert (code, "--secrets must be keep, redact or refuse" in error) == (2, True)
