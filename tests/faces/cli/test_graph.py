"""The graph on the command line."""

from __future__ import annotations

import json

import pytest
from tests.support.clock import ManualClock
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.model_server import ModelServer, Reply


@pytest.fixture
def filled(cli: CommandLine, manual_clock: ManualClock) -> CommandLine:
    cli.add("Alice works at GitHub")
    cli.add("Alice knows Bob Smith")
    cli.add("Bob Smith works at GitHub", "bob smith")
    return cli


def test_build_reports_what_is_in_the_graph(filled: CommandLine) -> None:
    answer = filled("graph", "build")
    assert (answer.code, answer.out) == (0, "built from 3 facts: 3 entities, 3 relations\n")
    built = filled.json("graph", "build")
    assert (built["status"]["entities"], built["refused"]) == (3, [])


def test_status_reports_the_age_of_the_graph(filled: CommandLine) -> None:
    assert filled("graph", "status").out == "the graph is not built yet; run memstore graph build\n"
    filled("graph", "build")
    assert "by rules, up to date" in filled("graph", "status").out
    filled.add("Alice left")
    assert "1 fact changed since" in filled("graph", "status").out
    assert filled.json("graph", "status")["changed"] == 1


def test_entities_are_printed_as_rows(filled: CommandLine) -> None:
    assert "not built yet" in filled("graph", "entities").err
    filled("graph", "build")
    filled("graph", "merge", "Alice", "Bob Smith")
    assert filled("graph", "entities").out == "Bob Smith\t3 facts\tAlice\nGitHub\t2 facts\t\n"
    assert filled("graph", "entities", "--limit", 1, "--offset", 1).out == "GitHub\t2 facts\t\n"


def test_neighbours_are_printed_with_their_path_and_facts(filled: CommandLine) -> None:
    filled.add("Alice likes GitHub")
    filled("graph", "build")
    assert filled("graph", "neighbours", "alice").out.splitlines() == [
        "GitHub\t1\tAlice —likes→ GitHub (#4)\tAlice —works at→ GitHub (#1)",
        "Bob Smith\t1\tAlice —knows→ Bob Smith (#2)",
    ]
    answer = filled("graph", "neighbours", "alice", "--depth", 2, "--limit", 1)
    assert (
        answer.err
        == "incomplete: 1 more, and everything more than 1 step away; use a larger limit\n"
    )
    told = filled.json("graph", "neighbours", "alice", "--limit", 1)
    assert told["entity"]["name"] == "Alice"
    assert told["neighbours"][0]["path"][0][0]["facts"][0]["content"] == "Alice likes GitHub"
    assert told["cut"] == "1 more; use a larger limit"


def test_an_unconnected_entity_has_no_neighbours(filled: CommandLine) -> None:
    filled.add("Nothing at all", "lonely")
    filled("graph", "build")
    answer = filled("graph", "neighbours", "lonely")
    assert (answer.code, answer.out, answer.err) == (0, "", "nothing is related to lonely\n")


def test_errors_name_the_commands(filled: CommandLine) -> None:
    code, text = filled.error("graph", "neighbours", "Zoe")
    assert (code, "Build the graph: memstore graph build." in text) == (1, True)
    filled("graph", "build")
    code, text = filled.error("graph", "neighbours", "Zoe")
    assert (code, "memstore graph entities." in text) == (1, True)
    code, text = filled.error("graph", "neighbours", "Alice", "--depth", 6)
    assert (code, "depth must be" in text) == (2, True)
    code, text = filled.error("graph", "forget", "Alice", "Bob")
    assert (code, "memstore graph decisions." in text) == (1, True)


def test_decisions_are_made_listed_and_withdrawn(filled: CommandLine) -> None:
    filled.add("Nothing", "Alice Jones")
    filled("graph", "build")
    assert filled("graph", "likely").out == "Alice\tAlice Jones\ta part of the name\n"
    said = filled("graph", "merge", "Alice", "Alice Jones").out
    assert said.startswith(
        "Alice and Alice Jones are the same entity; memstore graph forget Alice 'Alice Jones' "
    )
    assert "no two entities" in filled("graph", "likely").err
    assert "are different entities" in filled("graph", "apart", "Alice", "Bob Smith").out
    code, text = filled.error("graph", "merge", "Alice Jones", "Bob Smith")
    assert (code, "'Alice' is not 'Bob Smith'" in text) == (1, True)
    rows = [line.split("\t") for line in filled("graph", "decisions").out.splitlines()]
    assert [row[:3] + row[4:] for row in rows] == [
        ["Alice", "is", "Alice Jones", "user"],
        ["Alice", "is not", "Bob Smith", "user"],
    ]
    filled("graph", "forget", "Alice Jones", "Alice")
    assert [one["same"] for one in filled.json("graph", "decisions")] == [False]
    assert filled("graph", "drop").code == 0
    assert len(filled.json("graph", "decisions")) == 1


def test_generator_from_the_environment_is_not_used(
    filled: CommandLine, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_GENERATOR", "ollama")
    monkeypatch.setenv("MEMSTORE_GENERATOR_URL", model_server.url)
    filled("graph", "build")
    assert model_server.prompts == []
    triples = [{"fact": 1, "source": "Alice", "label": "works at", "target": "GitHub"}]
    triples += [
        {"fact": 1, "source": "Alice", "label": "owns", "target": f"X{n}"} for n in range(12)
    ]
    model_server.replies = [json.dumps({"relations": triples})]
    answer = filled("graph", "build", "--generator", "ollama", "--generator-url", model_server.url)
    assert answer.code == 0
    notes = answer.err.splitlines()
    assert notes[0] == "rejected, from fact 1: its target does not occur in the fact: 'X0'"
    assert notes[-1] == "2 more refusals; --json has all of them"
    assert len(model_server.prompts) == 1


def test_a_failing_generator_has_its_exit_code(
    filled: CommandLine, model_server: ModelServer
) -> None:
    model_server.replies = [Reply(status=400, words="no")]
    flags = ("--generator", "ollama", "--generator-url", model_server.url)
    assert filled("graph", "build", *flags).code == 4
    assert filled("graph", "build", "--generator-model", "x").code == 2


def test_hidden_characters_in_a_name_are_escaped(cli: CommandLine) -> None:
    cli.add("Nothing", "evil\x1b[31m\u202e")
    cli("graph", "build")
    assert cli("graph", "entities").out == "evil\\x1b[31m\\u202e\t1 fact\t\n"
