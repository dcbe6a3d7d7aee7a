"""Numbers of thousands of digits, which Python refuses to read, are told in words of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

from memstore import InvalidArgument, Store
from memstore.domain.arguments import why_no_json
from memstore.faces.hosts import jsonc, toml
from memstore.history import reverting

LONG = "9" * 5000
OBJECT = f'{{"id": {LONG}}}'
PYTHONS = ("Exceeds", "set_int_max_str_digits", "recursion depth")


def is_ours(text: str) -> bool:
    return "too many digits" in text and not any(one in text for one in PYTHONS)


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "x", "--subject", "s", "--metadata", OBJECT),
        ("remember", "--messages", "FILE"),
        ("import", "FILE"),
        *(("import", "--from", name, "FILE") for name in ("chatgpt", "claude", "mem0", "letta")),
    ],
)
def test_json_with_a_long_number_is_refused_in_our_words(
    cli: CommandLine, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    file = tmp_path / "long.json"
    file.write_text(f"[{OBJECT}]")
    told = cli(*(str(file) if one == "FILE" else one for one in arguments))
    assert told.code in (1, 2)
    assert is_ours(told.err), told.err


@pytest.mark.parametrize("value", [LONG, str(2**70), "١", "-1", "1e3", "0x1"])
@pytest.mark.parametrize(
    "arguments", [("history",), ("pin",), ("erase", "--dry-run"), ("list", "--limit")]
)
def test_ids_and_limits_are_small_numbers(
    cli: CommandLine, value: str, arguments: tuple[str, ...]
) -> None:
    told = cli(*arguments, value)
    assert told.code == 2
    assert not any(one in told.err for one in PYTHONS)


def test_settings_of_hosts_with_long_numbers_are_named() -> None:
    for read, text in ((jsonc.value, OBJECT), (toml.value, f"a = {LONG}")):
        with pytest.raises(ValueError, match="too many digits"):
            read(text)


def test_library_arguments_of_thousands_of_digits_are_named(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="thousands of digits"):
        store.search("x", limit=10**5000)
    with pytest.raises(InvalidArgument, match="thousands of digits"):
        store.file.backup_in_background(3600, 10**5000)


def test_a_text_that_names_a_fact_of_thousands_of_digits_names_none() -> None:
    assert reverting.FACT.findall(f"fact {LONG} and fact 12") == ["12"]


def test_reasons_are_in_our_words() -> None:
    for text in (OBJECT, "[" * 100_000):
        with pytest.raises((ValueError, RecursionError)) as caught:
            json.loads(text)
        assert not any(one in why_no_json(caught.value) for one in PYTHONS)
    with pytest.raises(ValueError, match="Expecting") as plain:
        json.loads("{")
    assert why_no_json(plain.value) == str(plain.value)
