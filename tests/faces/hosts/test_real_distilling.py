"""The real programs, if installed: an agent turns what an earlier session said into facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.faces.hosts.test_real_hosts import set_up
from tests.support.host_models import HostModels
from tests.support.host_sessions import HOSTS

import memstore
from memstore.faces.cli.main import main

pytestmark = [pytest.mark.process, pytest.mark.slow]

SAID = "Staging moves to port 5499, Marta owns the migration"
CLAIM = "Staging runs on port 5499"
STORED = {"content": CLAIM, "subject": "staging", "category": "project", "episode": "e1"}
TASK = "Turn conversations that no language model has read yet into facts."
PROMPTS = {"claude-code": "/mcp__memstore__distil"}
"""How a person asks for the prompt without a terminal; elsewhere the command prints its text."""


def commanded(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main([*words.split(), "--namespace", "~/work/api"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_distils_what_was_said(
    home: Path,
    programs: Path,
    models: HostModels,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    host: str,
) -> None:
    monkeypatch.setenv("MEMSTORE_TRANSCRIPTS", "off")
    session = set_up(home, programs, models, monkeypatch, host)
    session.environment["MEMSTORE_TRANSCRIPTS"] = "off"
    database = home / "data" / "memstore" / "memory.db"
    with memstore.open(database, namespace="~/work/api") as store:
        turn = {"source": host, "thread": "monday", "speaker": "user", "tags": ["session"]}
        store.episodes.add(SAID, **turn)
        store.episodes.add("What is left to do?", **turn)

    asked = PROMPTS.get(host) or commanded("distil --show", capsys)
    session.run(*HOSTS[host](session, "which tea is it"))
    assert models.requests
    assert TASK not in json.dumps(models.requests)  # nobody asked
    models.tool, models.arguments = "memory_store", STORED
    session.run(*HOSTS[host](session, asked))
    assert any(f"e1 user: {SAID}" in json.dumps(request) for _, request in models.requests)

    with memstore.open(database, namespace="~/work/api") as store:
        (fact,) = store.list()
        assert (fact.content, fact.episode_id, fact.thread) == (CLAIM, 1, "monday")
    # It was stopped before it said that it is done: both turns are given again.
    assert SAID in commanded("distil --show", capsys)
    assert f"#{fact.id} {CLAIM}" in commanded("distil --show", capsys)
    commanded("distil --done e1", capsys)
    models.tool = ""
    models.requests.clear()
    session.run(*HOSTS[host](session, PROMPTS.get(host) or commanded("distil --show", capsys)))
    texts = [json.dumps(request) for _, request in models.requests]
    assert any("e2 user: What is left to do?" in text for text in texts)
    assert not any(f"e1 user: {SAID}" in text for text in texts)
