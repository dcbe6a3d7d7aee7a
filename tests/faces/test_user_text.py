"""Errors repeat user input unchanged, even if it is the name of a flag or a parameter."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import mcp_tools
from tests.support.clock import ManualClock
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import errors
from memstore.domain.tasks import TaskScope, TaskStatus
from memstore.errors import Explained, Reason, Remedy
from memstore.faces import wording
from memstore.faces.cli import main as command_line
from memstore.faces.escaping import counted
from memstore.faces.mcp.tool import ToolError
from memstore.faces.starting import every_flag as server
from memstore.settings import Settings

ONCE_ALTERED = (
    "user_id", "agent_id", "run_id", "api_key", "base_url", "again=True", "keep_namespaces=True",
    "embedder=None", "with db=", "without read_only", "open it with one", "graph.build()",
    "word_weight", "created_after", "valid_before", "valid_at", "expired_at", "expires_at",
    "secret must be", "call supersede(1, 2)", "update the task instead",
)  # fmt: skip


def flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from flags(inner)


def parameters() -> Iterator[str]:
    yield from inspect.signature(memstore.open).parameters
    exported = [getattr(memstore, name) for name in memstore.__all__]
    for kind in filter(inspect.isclass, exported):
        for _, verb in inspect.getmembers(kind, inspect.isfunction):
            yield from inspect.signature(verb).parameters


def names() -> list[str]:
    """Return every flag, parameter and setting, and the names in the tables of the interfaces."""
    found = {*ONCE_ALTERED, *parameters(), *flags(command_line.parser()), *flags(server._parser())}
    found |= {*Settings._fields, *(f"MEMSTORE_{name.upper()}" for name in Settings._fields)}
    found |= {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", *mcp_tools.offered("facts,tasks")}
    for table in (wording.COMMAND_LINE_ARGUMENTS, wording.SERVER_ARGUMENTS):
        found |= {*table, *table.values()}
    return sorted(found | {remedy.value for remedy in Remedy})


NAMES = names()
ARGUMENTS = sorted({*wording.COMMAND_LINE_ARGUMENTS, *wording.SERVER_ARGUMENTS, "limit"})
ERRORS = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Explained)
]
FACES = (wording.on_command_line, wording.in_server)


def test_enough_names_are_checked() -> None:
    assert len(NAMES) > 200
    assert len(ERRORS) > 20


@given(
    typed=st.sampled_from(NAMES),
    kind=st.sampled_from(ERRORS),
    remedy=st.none() | st.sampled_from(Remedy),
    argument=st.none() | st.sampled_from(ARGUMENTS),
)
def test_no_error_message_alters_what_was_typed(
    typed: str, kind: type[Explained], remedy: Remedy | None, argument: str | None
) -> None:
    text = f"has {typed!r} and {typed} in {{{typed}}}, {typed}"
    error = kind(text, remedy=remedy)
    error.argument, error.place = argument, typed
    for face in FACES:
        told = face(error)
        assert told.startswith(f"{typed}: ")
        assert text.rstrip(".") in told
        assert told.count(typed) >= text.count(typed)


@given(typed=st.sampled_from(NAMES), remedy=st.none() | st.sampled_from(Remedy))
def test_no_words_only_reason_alters_what_was_typed(typed: str, remedy: Remedy | None) -> None:
    text = f"http://localhost/{typed} answered 500: {typed!r}"
    for face in FACES:
        assert face(Reason(text, remedy)).startswith(text)
    assert wording.on_command_line(ValueError(text)) == text


def test_the_command_line_echoes_input_unaltered(
    cli: CommandLine, manual_clock: ManualClock
) -> None:
    cli.add("text")
    cli("graph", "build")
    metadata: dict[str, int] = {}
    for typed in ONCE_ALTERED:
        assert f"namespace {typed!r}" in cli.error("get", "3", "--namespace", typed)[1]
        assert f"entity {typed!r}" in cli.error("graph", "neighbours", typed)[1]
        metadata[typed] = 1
        told = cli.json("update", "1", "--metadata", f'{{"{typed}": 1}}')
        assert told["metadata"] == metadata
        assert repr(typed) in cli.error("task", "add", "x", "--priority", typed)[1]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_search", {"query": "x", "metadata": {"KEY": {"nonsense": 1}}}),
        ("memory_task_create", {"content": "x", "scope": "KEY"}),
        ("memory_task_create", {"content": "x", "scope": "user", "priority": "KEY"}),
        ("memory_task_list", {"status": "KEY"}),
    ],
)
def test_a_tool_echoes_input_unaltered(tool: str, arguments: dict[str, object]) -> None:
    offered = mcp_tools.offered("facts,tasks")

    def put(value: object, typed: str) -> object:
        if isinstance(value, dict):
            return {put(key, typed): put(inner, typed) for key, inner in value.items()}
        return typed if value == "KEY" else value

    with memstore.open(":memory:", embedder=None) as store:
        store.add("text", subject="s")
        for typed in NAMES:
            if len(typed) > 60 or typed in ("all", *TaskScope, *TaskStatus):
                continue
            with pytest.raises(ToolError) as caught:
                offered[tool].call(lambda: store, put(arguments, typed))  # type: ignore[arg-type]
            assert repr(typed) in str(caught.value)


@pytest.mark.parametrize(
    ("number", "noun", "told"),
    [
        (1, "key", "1 key"),
        (2, "key", "2 keys"),
        (0, "entity", "0 entities"),
        (1234, "fact", "1,234 facts"),
    ],
)
def test_counted_nouns_have_their_plural(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told
