"""Rules of the judge are switched off for a whole store, on every face."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import Extractor, Store
from memstore.faces import from_settings, options
from memstore.faces.cli import hosts
from memstore.faces.cli.render import JsonShow
from memstore.faces.starting import every_flag, quick_start
from memstore.text.judging.judge import Rule

OLD, NEW = "The timeout is 5 seconds.", "The timeout is 9 seconds."
EVERY = ",".join(Rule.__members__)


class Finding:
    """A model that finds the new fact in any text."""

    model = "scripted"

    def generate(self, prompt: str) -> str:
        return json.dumps({"facts": [{"content": NEW, "subject": "api"}]})


def chosen(path: Path, *flags: str) -> Store:
    parser = argparse.ArgumentParser()
    options.add_store_flags(parser)
    given = parser.parse_args(["--db", str(path), "--embedder", "local", *flags])
    return from_settings.open_store(options.chosen_settings(given), source="test")


def both(store: Store) -> tuple[int, int]:
    return (store.add(OLD, subject="api").id, store.add(NEW, subject="api").id)


def newer_of(store: Store, fact_id: int) -> tuple[int, ...]:
    return next(hit.newer for hit in store.search("timeout 5 seconds") if hit.fact.id == fact_id)


@pytest.mark.model
def test_one_setting_holds_for_flags_near_and_learning(path: Path) -> None:
    with chosen(path) as store:
        old, new = both(store)
        assert newer_of(store, old) == (new,)
        assert [fact.id for fact in store.may_replace(new)] == [old]
    with chosen(path, "--without-rules", EVERY) as store:
        assert newer_of(store, old) == ()
        assert store.may_replace(new) == []
        store.delete(new)
        done = Extractor(store, Finding(), policy="judged").extract("It waits nine seconds.")
        assert [item.outcome for item in done.items] == ["stored"]
    with chosen(path) as store:  # what is known of two texts is of these rules
        assert newer_of(store, old) != ()


@pytest.mark.parametrize(
    ("store_off", "own", "outcome"),
    [
        ((), (), "superseded"),
        (("value",), (), "proposed"),
        ((), ["VALUE"], "proposed"),
        (["gives an attribute another value"], ["NOW"], "proposed"),
    ],
)
@pytest.mark.model
def test_those_of_a_store_and_of_an_extractor_add_up(
    path: Path, store_off: Any, own: Any, outcome: str
) -> None:
    with memstore.open(path, embedder="local", without_rules=store_off) as store:
        store.add(OLD, subject="api")
        extractor = Extractor(store, Finding(), policy="judged", without_rules=own)
        assert [item.outcome for item in extractor.extract("nine").items] == [outcome]


@pytest.mark.model
def test_tool_that_stores_names_nothing_near(tmp_path: Path) -> None:
    for rules, near in (("", True), (EVERY, False)):
        with chosen(tmp_path / f"{near}.db", f"--without-rules={rules or 'NOW'}") as store:
            store.add(OLD, subject="api")
            tool = mcp_tools.offered("facts")["memory_store"]
            told = tool.call(lambda opened=store: opened, {"content": NEW, "subject": "api"})
            assert ("near" in told) == near


def test_an_unknown_rule_is_refused_with_the_flag(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(memstore.InvalidArgument, match="without_rules"):
        memstore.open(tmp_path / "new.db", embedder=None, without_rules=["zebra"])
    assert not (tmp_path / "new.db").exists()
    code, error = cli.error("list", "--without-rules", "zebra")
    assert code == 2
    assert "--without-rules" in error
    monkeypatch.setenv("MEMSTORE_WITHOUT_RULES", "zebra")
    assert "--without-rules" in cli.error("list")[1]


@pytest.mark.parametrize("started", [quick_start.main, every_flag.main])
def test_a_server_refuses_an_unknown_rule_when_it_starts(
    started: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMSTORE_WITHOUT_RULES", "VALUE,zebra")
    with pytest.raises(SystemExit):
        started([])
    assert "--without-rules" in capsys.readouterr().err


def test_setup_registers_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_WITHOUT_RULES", "VALUE,NOW")
    given = argparse.Namespace(
        no_hooks=False,
        no_prompts=False,
        no_transcripts=False,
        server=None,
        user="ana",
        own_memory=None,
    )
    wanted = hosts._wanted(given, None, JsonShow())
    for words in (wanted.flags, wanted.server):
        assert words[words.index("--without-rules") + 1] == "VALUE,NOW"
