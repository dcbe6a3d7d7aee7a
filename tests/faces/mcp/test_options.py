"""Flags override the environment: the store that a command opens."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.clock import wait_until

import memstore
from memstore import Embedder
from memstore.faces import wording
from memstore.faces.from_settings import open_store
from memstore.faces.mcp import session
from memstore.faces.mcp.catalogue import Catalogue
from memstore.faces.options import (
    add_store_flags,
    backup_schedule,
    check_learning,
    chosen_settings,
)
from memstore.faces.serving import opening
from memstore.faces.starting import quick_start
from memstore.settings import Settings


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings._fields:
        monkeypatch.delenv(f"MEMSTORE_{name.upper()}", raising=False)


@pytest.fixture(name="served")
def served_fixture(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Catalogue]:
    """Starts the server with flags, and returns what it would offer."""
    offered: list[Catalogue] = []

    def run(catalogue: Catalogue, *_others: object, **_more: object) -> None:
        offered.append(catalogue)
        raise SystemExit

    def served(*argv: str) -> Catalogue:
        with pytest.raises(SystemExit):
            quick_start.main(argv)
        return offered.pop()

    monkeypatch.setattr(session, "run", run)
    return served


def chosen(*flags: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_store_flags(parser)
    return chosen_settings(parser.parse_args(flags))


def test_no_flags_mean_the_default_settings() -> None:
    assert chosen() == Settings()
    assert chosen().embedder_name == "local"


def test_a_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_DB", "/there.db")
    monkeypatch.setenv("MEMSTORE_NAMESPACE", "work")
    assert chosen().db == "/there.db"
    assert chosen("--db", "/here.db") == Settings(db="/here.db", namespace="work")


@pytest.mark.parametrize(
    ("flags", "variable", "expected"),
    [
        ([], None, "full"),
        ([], "normal", "normal"),
        (["--durability", "full"], "normal", "full"),
        (["--durability", "normal"], None, "normal"),
    ],
)
def test_durability_is_chosen_by_flag_or_variable(
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    flags: list[str],
    variable: str | None,
    expected: str,
) -> None:
    if variable is not None:
        monkeypatch.setenv("MEMSTORE_DURABILITY", variable)
    settings = chosen("--db", str(path), "--embedder", "none", *flags)
    with open_store(settings, source="test") as store:
        assert store.status().durability == expected


def test_an_unknown_durability_is_refused(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setenv("MEMSTORE_DURABILITY", "FULL")
    with pytest.raises(ValueError, match="must be full or normal, not 'FULL'") as caught:
        open_store(chosen("--db", str(path), "--embedder", "none"), source="test")
    assert "--durability" in wording.on_command_line(caught.value)
    assert not path.exists()


def test_a_flag_before_the_subcommand_is_kept() -> None:
    parser = argparse.ArgumentParser()
    add_store_flags(parser)
    add_store_flags(parser.add_subparsers().add_parser("list"))
    assert chosen_settings(parser.parse_args(["--db", "a", "list"])).db == "a"
    assert chosen_settings(parser.parse_args(["--db", "a", "list", "--db", "b"])).db == "b"


def test_a_server_url_selects_that_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen("--ollama", "http://x").embedder_name == "ollama"
    monkeypatch.setenv("MEMSTORE_OPENAI", "http://y/v1")
    assert chosen().embedder_name == "openai"
    assert chosen("--embedder", "local").embedder_name == "local"


def test_model_without_an_embedder_selects_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen("--model", "m").embedder_name == "ollama"
    assert chosen("--model", "m", "--embedder", "openai").embedder == "openai"
    with open_store(chosen("--model", "m")._replace(db=":memory:"), source="test") as store:
        assert store.status().embedder == "m"
    monkeypatch.setenv("MEMSTORE_MODEL", "nomic-embed-text")
    assert chosen().embedder_name == "ollama"
    assert chosen("--embedder", "local").model is None
    monkeypatch.setenv("MEMSTORE_OPENAI", "http://y/v1")
    assert chosen().embedder_name == "openai"
    assert chosen().model == "nomic-embed-text"


def test_contradictory_options_are_refused() -> None:
    with pytest.raises(ValueError, match="--embedder is local"):
        chosen("--ollama", "http://x", "--embedder", "local")


def test_the_environments_model_applies_only_to_its_embedder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMSTORE_OLLAMA", "http://x")
    monkeypatch.setenv("MEMSTORE_MODEL", "nomic-embed-text")
    assert chosen().model == "nomic-embed-text"
    assert chosen("--embedder", "none").model is None
    assert chosen("--embedder", "openai", "--model", "m").model == "m"


@pytest.mark.parametrize(
    ("settings", "embedder"),
    [
        (Settings(embedder="none"), None),
        (Settings(ollama="http://x", model="m"), "m"),
        (Settings(openai="http://x/v1", model="n"), "n"),
    ],
)
def test_the_described_store_is_opened(settings: Settings, embedder: str | None) -> None:
    with open_store(settings._replace(db=":memory:"), source="test") as store:
        assert store.namespace == "default"
        assert store.status().embedder == embedder


def test_a_server_without_a_model_uses_the_default_one() -> None:
    with open_store(Settings(db=":memory:", embedder="ollama"), source="test") as store:
        embedder = store.status().embedder
    assert embedder is not None
    assert embedder.startswith('embeddinggemma [query "')


@pytest.mark.parametrize(
    ("given", "schedule"),
    [
        (Settings(), None),
        (Settings(backup_every="1h"), (3600.0, 24, None)),
        (Settings(backup_every="7d", backup_keep="3", backup_folder="/b"), (604_800.0, 3, "/b")),
    ],
)
def test_backups_of_a_server(given: Settings, schedule: object) -> None:
    assert backup_schedule(given) == schedule


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Settings(backup_every="often"), "--backup-every is a time such as 30m"),
        (Settings(backup_every="1h", backup_keep="0"), "--backup-keep is a whole number"),
        (Settings(backup_keep="3"), "go with --backup-every"),
        (Settings(backup_every="1h", read_only=True), "leave --read-only out"),
    ],
)
def test_invalid_backup_settings_are_refused(given: Settings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        backup_schedule(given)


@pytest.mark.parametrize("over_http", [False, True])
@pytest.mark.parametrize(
    ("flags", "environment"),
    [
        (["--backup-every", "1h"], {}),
        ([], {"MEMSTORE_BACKUP_EVERY": "1h"}),
        (["--durability", "full"], {}),
        ([], {"MEMSTORE_DURABILITY": "normal"}),
    ],
)
def test_what_is_for_files_is_refused_at_start_on_a_server(
    flags: list[str],
    environment: dict[str, str],
    over_http: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    http = ["--http", "127.0.0.1:0"] if over_http else []
    with pytest.raises(SystemExit) as ended:
        quick_start.main([*http, *flags, "--db", "postgresql://ana:hunter2@127.0.0.1:1/db"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "names a database on a server: leave it out" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Settings(learn_unread=True), "--learn-unread needs a language model"),
        (Settings(learn_unread=True, generator="none"), "--learn-unread needs a language model"),
        (Settings(learn_unread=True, generator="ollama", read_only=True), "leave --read-only out"),
    ],
)
def test_invalid_settings_for_learning_are_refused(given: Settings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_learning(given)


def test_a_server_stops_learning_when_it_closes(path: Path) -> None:
    stopped: list[float] = []

    class Job:
        def stop(self, wait_seconds: float) -> None:
            stopped.append(wait_seconds)

    given = Settings(db=str(path), embedder="none")
    opened = opening.Opening(lambda: opening.open_store(given), learn=lambda _: Job())  # type: ignore[arg-type, return-value]
    opened.store()
    assert stopped == []
    opened.close()
    assert stopped == [0]


def test_a_server_creates_backups(path: Path) -> None:
    settings = Settings(db=str(path), embedder="none", backup_every="1h")
    store = opening.open_store(settings, backup_schedule(settings))
    assert wait_until(lambda: list(Path(f"{path}.backups").glob("memory-*Z.db")))
    store.close()


@pytest.mark.model
def test_the_default_file_of_another_model_is_searched_by_words(
    path: Path, monkeypatch: pytest.MonkeyPatch, embedder: Embedder
) -> None:
    """Without a chosen file or embedder, words are searched, and a remedy is shown."""
    with memstore.open(path, embedder=embedder) as store:
        store.add("Ana drinks tea", subject="ana")
    monkeypatch.setattr("memstore.settings.default_path", lambda: path)
    with open_store(chosen(), source="test") as store:
        hits = store.search("tea")
        assert [hit.fact.content for hit in hits] == ["Ana drinks tea"]
        assert hits.words_only is not None
        assert hits.words_only.code == "other_model"
        told = wording.in_server(hits.words_only.reason)
        assert "'words-64'" in told
        assert "Start the server with the model the file holds" in told
        assert wording.in_server(store.file.embedder_trouble or "") == told
        assert store.status().model == "words-64"


@pytest.mark.model
@pytest.mark.parametrize("flags", [["--db", "FILE"], ["--embedder", "local"]])
def test_file_or_embedder_chosen_by_flag_is_refused_if_they_mismatch(
    path: Path, monkeypatch: pytest.MonkeyPatch, embedder: Embedder, flags: list[str]
) -> None:
    with memstore.open(path, embedder=embedder) as store:
        store.add("Ana drinks tea", subject="ana")
    monkeypatch.setattr("memstore.settings.default_path", lambda: path)
    with pytest.raises(memstore.EmbedderMismatch):
        open_store(
            chosen(*[str(path) if flag == "FILE" else flag for flag in flags]), source="test"
        )


@pytest.mark.parametrize(
    ("argv", "variable"),
    [
        ([], "ana"),
        (["--db", "memory.db"], "ana"),
        (["--user", "ana"], "ben"),
        (["--user=ana", "--secrets", "keep"], ""),
    ],
)
def test_a_server_has_the_user_of_its_flag_or_variable(
    served: Callable[..., Catalogue],
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    variable: str,
) -> None:
    monkeypatch.setenv("MEMSTORE_USER", variable)
    offered = served(*argv)
    assert (offered.owners, offered.confined) == ({"user_id": "ana"}, True)
    opened = served(*argv, "--any-user")
    assert (opened.owners, opened.confined) == ({"user_id": "ana"}, False)
    monkeypatch.setenv("MEMSTORE_ANY_USER", "yes")
    assert not served(*argv).confined


@pytest.mark.parametrize("argv", [[], ["--user", "none"], ["--any-user"]])
def test_a_server_without_a_user_lets_calls_name_any(
    served: Callable[..., Catalogue], argv: list[str]
) -> None:
    offered = served(*argv)
    assert (offered.owners, offered.confined) == ({}, False)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (["-memory_delete"], {"memory_delete"}),
        (["-memory_delete,-memory_update"], {"memory_delete", "memory_update"}),
        (["-memory_delete, -memory_update"], {"memory_delete", "memory_update"}),
    ],
)
@pytest.mark.parametrize("more", [[], ["--read-only"], ["--secrets", "keep"]])
def test_tools_are_left_out_by_a_value_that_begins_with_a_dash(
    served: Callable[..., Catalogue], given: list[str], missing: set[str], more: list[str]
) -> None:
    default = set(served(*more).tools)
    assert set(served("--tools", *given, *more).tools) == default - missing
    assert set(served(f"--tools={given[0]}", *more).tools) == default - missing
