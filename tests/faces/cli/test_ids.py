"""Ids by the last digits of a UUID, which are the same on every device."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.raw import sql

from memstore import settings
from memstore.faces.cli import command, episodes
from memstore.faces.cli.ids import UuidEnd
from memstore.file.paths import is_server


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))


def end_of(cli: CommandLine, id_: int) -> str:
    return str(cli.json("get", id_)["uuid"])[-8:]


def test_the_last_digits_of_a_uuid_stand_for_the_id_everywhere(cli: CommandLine) -> None:
    first, second = cli.add("tea is green"), cli.add("tea is hot")
    end = end_of(cli, first)
    assert cli.json("get", end)["id"] == first
    assert cli.json("get", end.upper())["id"] == first
    assert cli.json("get", cli.json("get", first)["uuid"])["id"] == first
    assert cli.json("confirm", end)["confirmed_count"] == 1
    assert [one["id"] for one in cli.json("history", end)] == [first]
    assert cli.json("explain", end)["fact_id"] == first
    assert cli.json("supersede", end, end_of(cli, second))["superseded_by"] == second
    assert "superseded" in cli("explain", first).out
    cli("delete", end_of(cli, second))
    assert cli.json("get", second)["deleted_at"]
    assert f"fact {second}" in cli("log", "--fact", end_of(cli, second)).out
    assert cli("erase", end, "--yes").code == 0
    assert "was erased" in cli("explain", end).out


def test_a_turn_is_named_by_its_uuid_too(cli: CommandLine) -> None:
    uuid = cli.json("episode", "add", "Where is the key?")["uuid"]
    assert cli.json("episode", "get", uuid[-8:])["content"] == "Where is the key?"
    assert cli.json("episode", "get", uuid)["content"] == "Where is the key?"


def test_digits_that_end_nothing_are_refused(cli: CommandLine) -> None:
    cli.add("tea is green")
    assert cli.error("get", "0badf00d") == (1, "no fact has a UUID that ends with 0badf00d")
    code, said = cli.error("get", "12345678")
    assert (code, "12345678" in said) == (1, True)
    assert cli("get", "badf00d").code == 2  # seven digits


def test_digits_that_end_several_are_asked_for_more(cli: CommandLine) -> None:
    if is_server(cli.db):
        pytest.skip("it writes into a file")
    ids = [cli.add(f"tea {n}") for n in range(2)]
    for id_ in ids:
        uuid = f"0190000{id_}-0000-7000-8000-00000badf00d"
        sql(cli.db, f"UPDATE memstore_facts SET uuid = '{uuid}' WHERE id = {id_}")
    code, said = cli.error("get", "0badf00d")
    assert code == 1
    assert "the UUIDs of 2 facts end with 0badf00d: #1 (01900001-" in said
    assert said.endswith("give a number")
    assert cli.json("get", "02-0000-7000-8000-00000badf00d")["id"] == 2


def test_a_number_of_eight_digits_is_a_number_if_there_is_such_a_fact(cli: CommandLine) -> None:
    if is_server(cli.db):
        pytest.skip("it writes into a file")
    ids = [cli.add(f"tea {n}") for n in range(2)]
    uuid = "01900001-0000-7000-8000-000012345678"
    sql(cli.db, f"UPDATE memstore_facts SET uuid = '{uuid}' WHERE id = {ids[0]}")
    assert cli.json("get", "12345678")["id"] == ids[0]
    sql(cli.db, f"UPDATE memstore_facts SET id = 12345678 WHERE id = {ids[1]}")
    assert cli.json("get", "12345678")["id"] == 12345678


@pytest.mark.parametrize(
    ("text", "number", "is_end"),
    [("12", 12, False), ("#12", 12, False), ("12345678", 12345678, True), ("0badf00d", 0, True)],
)
def test_what_an_id_may_be(text: str, number: int, is_end: bool) -> None:
    assert command.fact_id(text) == number
    assert isinstance(command.fact_id(text), UuidEnd) is is_end


def test_the_sign_of_a_turn_is_also_a_digit() -> None:
    assert episodes.episode_id("e1234567") == 1234567
    assert isinstance(episodes.episode_id("e1234567"), UuidEnd)
    assert episodes.episode_id("e12") == 12


def test_a_fact_of_another_device_names_it_and_has_digits_in_the_log(
    cli: CommandLine, tmp_path: Path
) -> None:
    if is_server(cli.db):
        pytest.skip("it syncs two files")
    place, other = tmp_path / "place", str(tmp_path / "other.db")
    place.mkdir()
    id_ = cli.add("tea is green")
    assert "(" not in cli("log").out
    for words in (("--db", other), ()):
        cli("sync", place, "--yes", *words)
        cli("sync", "--rename", "desktop" if words else "laptop", *words)
        cli("sync", *words)
    cli("sync", "--db", other)
    end = end_of(cli, id_)
    assert f"added fact {id_} ({end}): alice" in cli("log").out
    there = cli("log", "--db", other).out
    assert there.count(f"({end})") == 1
    assert "cli on laptop\t" in there
    assert "stored_on: laptop" in cli("get", end, "--db", other).out
    assert "stored_on" not in cli.json("get", end)
    told = cli("explain", end, "--db", other).out
    assert "(on laptop)" in told
    assert told.endswith(f"its UUID ends with {end}\n")
    assert cli.json("explain", end)["uuid"].endswith(end)
