"""The corpus of forms: what other programs write, each file with what must come out of it.

A file of ``forms/PROGRAM/`` begins with front matter: ``writes`` says which version writes this
layout; ``facts`` and ``episodes`` are the texts that must come out (or their number), ``left out``
what is counted, ``turns`` what a host's transcript must give, ``refused`` the error. After it comes
the file itself; ``.sql`` makes a database. A new layout is a file there and nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import InvalidArgument, InvalidArgumentType, MemstoreError, Store
from memstore.faces.hosts import record_kinds, transcripts
from memstore.importing import (
    chatgpt,
    claude,
    claude_mem,
    engram,
    letta,
    likely_source,
    long_json,
    mcp_memory_service,
    mem0,
    server_memory,
)
from memstore.importing.importer import SOURCES

FORMS = Path(__file__).parent / "forms"
HOSTS = {row.host for row in record_kinds.TABLE}
REFUSED = "refused"
KEYS = {"writes", "facts", "episodes", "left out", "turns", "refused", "from", "encoding", "title",
        "lines"}  # fmt: skip


class Form(NamedTuple):
    program: str
    name: str
    expected: dict[str, Any]
    body: str

    def write(self, folder: Path) -> Path:
        """Write the file as the program does."""
        file = folder / self.name
        if file.suffix == ".sql":
            file = file.with_suffix(".db")
            with raw(file) as there:
                there.executescript(self.body)
        else:
            file.write_text(self.body, encoding=self.expected.get("encoding", "utf-8"))
        return file


def read(file: Path) -> Form:
    _, head, body = file.read_text(encoding="utf-8").split("---\n", 2)
    return Form(file.parent.name, file.name, yaml.safe_load(head), body)


ALL = {f"{file.parent.name}/{file.name}": read(file) for file in sorted(FORMS.glob("*/*"))}
IMPORTED = {name: form for name, form in ALL.items() if form.program in SOURCES}
TURNS = {name: form for name, form in ALL.items() if form.program in HOSTS}
OTHERS = {name: form for name, form in ALL.items() if form.program == REFUSED}


def counts(report: Any) -> dict[str, int]:
    return {kind: left.count for kind, left in report.left_out.items()}


def contents(store: Store) -> tuple[list[str], list[str]]:
    facts = [one.content for one in store.of("all").list(limit=1000)]
    return sorted(facts), sorted(one.content for one in store.of("all").episodes.list(limit=1000))


def matches(found: list[str], expected: list[Any] | int) -> bool:
    return len(found) == expected if isinstance(expected, int) else found == sorted(expected)


def test_every_form_says_who_writes_it_and_belongs_to_a_program() -> None:
    assert ALL.keys() == IMPORTED.keys() | TURNS.keys() | OTHERS.keys()
    for name, form in ALL.items():
        assert form.expected["writes"], name
        assert form.expected.keys() <= KEYS, name
    assert {form.program for form in IMPORTED.values()} == SOURCES.keys() - {"memstore"}


@pytest.mark.parametrize("name", IMPORTED)
def test_what_a_program_writes_is_imported_whole_and_once(
    name: str, store: Store, tmp_path: Path
) -> None:
    form = IMPORTED[name]
    file = form.write(tmp_path)
    before = file.read_bytes()
    assert likely_source(file) in (form.program, None)
    tried = store.transfer.import_from(form.program, file, dry_run=True)
    report = store.transfer.import_from(form.program, file)
    assert (report.facts, report.episodes) == (tried.facts, tried.episodes)
    facts, episodes = contents(store)
    expected = form.expected
    assert matches(facts, expected.get("facts", []))
    assert matches(episodes, expected.get("episodes", []))
    left = counts(report)
    left.pop("embeddings", None)
    assert left == expected.get("left out", {})
    head = store.file.head()
    again = store.transfer.import_from(form.program, file)
    assert (again.facts, again.episodes) == (0, 0)
    assert again.known == report.facts + report.episodes
    assert store.file.head() == head
    assert file.read_bytes() == before
    for text, line in expected.get("lines", {}).items():
        [fact] = [one for one in store.list() if one.content == text]
        assert fact.metadata["imported"]["line"] == line
    if "title" in expected:
        assert store.episodes.list()[0].name == expected["title"]
    assert store.file.doctor() == []


@pytest.mark.parametrize("name", TURNS)
def test_what_a_host_records_gives_its_turns(name: str, tmp_path: Path) -> None:
    form = TURNS[name]
    left_out: Counter[str] = Counter()
    turns = [*transcripts.turns(form.write(tmp_path), left_out)]
    assert [[turn.role, turn.text] for turn in turns] == form.expected["turns"]
    assert left_out == form.expected.get("left out", {})
    assert len({turn.mark for turn in turns}) == len(turns)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_file_of_no_program_is_refused_with_what_it_seems_to_be(
    name: str, skip: bool, store: Store, tmp_path: Path
) -> None:
    form = OTHERS[name]
    file = form.write(tmp_path)
    with pytest.raises(MemstoreError, match=form.expected["refused"]):
        store.transfer.import_from(form.expected["from"], file, skip_damaged=skip)
    assert contents(store) == ([], [])


@pytest.mark.parametrize("source", SOURCES)
def test_each_cause_is_one_error(source: str, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    for text in ('{"a": [1, 2', '[{"a": ', "nothing", "two\nlines", ""):
        file.write_text(text)
        with pytest.raises(MemstoreError) as caught:
            store.transfer.import_from(source, file)
        assert " more)" not in str(caught.value)


# -- forms at random -------------------------------------------------------------------------

READERS = {
    one.NAME: one.FORM
    for one in (
        chatgpt, claude, claude_mem, engram, letta, mcp_memory_service, mem0, server_memory,
    )
}  # fmt: skip


def tells_nothing(value: Any) -> bool:
    """Return whether a record only says what others belong to, or marks the file."""
    marks = {"content_session_id", "memory_session_id", "project"}
    return value.keys() <= marks or value.keys() == {"type", "source"}


def records_of(program: str, folder: Path) -> Iterator[Any]:
    """Yield the records of the forms of a program."""
    for form in IMPORTED.values():
        if form.program == program and not form.name.endswith(".sql"):
            with open(form.write(folder), encoding=form.expected.get("encoding", "utf-8")) as file:
                for one in long_json.records(file, READERS[program]):
                    held = one.value if isinstance(one, long_json.JsonItem) else None
                    if isinstance(held, dict) and not tells_nothing(held):
                        yield held


LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "a list": lambda values: json.dumps(values),
    "an indented list": lambda values: json.dumps(values, indent=2, ensure_ascii=False),
    "lines": lambda values: "\n".join(map(json.dumps, values)),
    "lines with blank ones": lambda values: "\n\n" + "\n\n".join(map(json.dumps, values)) + "\n",
    "documents": lambda values: "\n".join(json.dumps(one, indent=1) for one in values),
    "a wrapper": lambda values: json.dumps({"version": "1", "exported": values, "more": {}}),
    "a wrapper inside": lambda values: json.dumps({"data": {"held": values}}),
    "a string": lambda values: json.dumps(json.dumps(values)),
}


@pytest.mark.parametrize("program", READERS)
@settings(
    deadline=None,
    max_examples=examples(15),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_layout_of_records_changes_nothing_of_what_is_imported(
    program: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Counted and left out are the same as of each record by itself: nothing is lost between."""
    folder = tmp_path_factory.mktemp("x")
    known = {json.dumps(one, sort_keys=True): one for one in records_of(program, folder)}
    values = data.draw(
        st.lists(st.sampled_from([*known.values()]), min_size=1, unique_by=json.dumps)
    )
    layout = data.draw(st.sampled_from(sorted(LAYOUTS)))
    chunk = data.draw(st.sampled_from([5, 100, long_json.CHUNK]))
    file = folder / "whole"
    file.write_text(LAYOUTS[layout](values), encoding="utf-8")
    before = file.read_bytes()
    singly, left = 0, Counter[str]()
    with memstore.open(":memory:", embedder=None) as apart:
        for one in values:
            single = folder / "single"
            single.write_text(json.dumps(one), encoding="utf-8")
            report = apart.transfer.import_from(program, single)
            singly += report.facts + report.episodes + report.known
            left.update(counts(report))
        expected = contents(apart)
    with pytest.MonkeyPatch.context() as patch, memstore.open(":memory:", embedder=None) as store:
        patch.setattr(long_json, "CHUNK", chunk)
        report = store.transfer.import_from(program, file)
        assert contents(store) == expected, layout
        if program not in (server_memory.NAME, letta.NAME):  # which take what is there twice once
            assert report.facts + report.episodes + report.known == singly
        assert Counter(counts(report)) == left
        head = store.file.head()
        again = store.transfer.import_from(program, file)
        assert (again.facts, again.episodes) == (0, 0)
        assert store.file.head() == head
    assert file.read_bytes() == before


@pytest.mark.parametrize("program", READERS)
@settings(
    deadline=None,
    max_examples=examples(15),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_what_is_no_record_among_records_is_counted(
    program: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("x")
    values = [*records_of(program, folder)]
    others = data.draw(st.lists(st.sampled_from([5, None, "text", {"zzz": 1}, {}, [], [1]])))
    one = data.draw(st.sampled_from(values))
    mixed = data.draw(st.permutations([one, *others]))
    file = folder / "mixed.json"
    file.write_text(json.dumps(mixed), encoding="utf-8")
    with memstore.open(":memory:", embedder=None) as store:
        report = store.transfer.import_from(program, file, skip_damaged=True)
        assert counts(report).get("damaged records", 0) == len(others)
        if others:
            with pytest.raises(MemstoreError, match="nothing was imported"):
                store.transfer.import_from(program, file)


@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_form_that_was_changed_at_random_is_imported_or_refused_by_name(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    form = data.draw(st.sampled_from([*IMPORTED.values()]))
    program = data.draw(st.sampled_from([form.program, form.program, *SOURCES]))
    file = form.write(tmp_path_factory.mktemp("x"))
    changed = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, max(0, len(changed) - 1)))
        match data.draw(st.sampled_from(["cut", "byte", "insert", "twice"])):
            case "cut":
                del changed[place:]
            case "byte" if changed:
                changed[place] = data.draw(st.sampled_from(b'"{}[]:,\\ \n\x00\xff0a'))
            case "insert":
                changed[place:place] = data.draw(st.binary(max_size=4))
            case _:
                changed = changed + changed
    file.write_bytes(changed)
    skip = data.draw(st.booleans())
    with memstore.open(":memory:", embedder=None) as store:
        refused = (MemstoreError, InvalidArgument, InvalidArgumentType)
        with suppress(*refused):
            first = store.transfer.import_from(program, file, skip_damaged=skip)
            assert store.of("all").count(active_only=False) >= (1 if first.facts else 0)
            again = store.transfer.import_from(program, file, skip_damaged=skip)
            assert (again.facts, again.episodes) == (0, 0)
            assert again.known >= first.facts + first.episodes
        assert store.file.doctor() == []
    assert file.read_bytes() == bytes(changed)
