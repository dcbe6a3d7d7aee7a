"""Folders of Markdown: notes are episodes; observations, relations and instructions are facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis
import markdown_it
import pytest
from hypothesis import strategies

from memstore import Store, TransferError
from memstore.text import notes

NOTE = """---
title: Green Tea
tags: [food, "drinks"]
created: 2025-03-01
---
# Heading

- [origin] From Lyon #place #old (told by Ana)
- grown_in [[Lyon|the city]] (since 1900)
- [ ] buy some
- [x] done
- [link](https://example.org) to a page
- [[Other note]]
- ![[picture.png]]
- plain item
```
- [code] never a fact
```
<!-- - [comment] never -->
- [^1] a footnote
"""

TOLD = """# Rules

Read @docs/more.md and @../secret.md and @~/x.md, but not `@code.md`.

## Tests

- Run them with pytest -q
  1. Never sleep
- [docs](docs/more.md)

```sh
- not an item
```
"""


def folder(path: Path, **files: str) -> Path:
    for name, text in files.items():
        file = path / name.replace("__", "/")
        file = file.with_name(file.name.replace("_md", ".md"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def counts(report: Any) -> dict[str, int]:
    return {kind: left.count for kind, left in report.left_out.items()}


def test_a_note_is_an_episode_and_its_observations_are_facts(store: Store, tmp_path: Path) -> None:
    vault = folder(tmp_path / "v", tea_md=NOTE)
    hidden = vault / ".obsidian"
    hidden.mkdir()
    (hidden / "x.md").write_text("- [a1] never")
    report = store.transfer.import_from("markdown", vault)
    assert (report.facts, report.episodes, counts(report)) == (2, 1, {})
    facts = {one.category: one for one in store.list()}
    origin = facts["origin"]
    assert (origin.content, origin.subject) == ("From Lyon", "Green Tea")
    assert origin.metadata["tags"] == ["place", "old"]
    assert origin.metadata["context"] == "told by Ana"
    assert origin.metadata["imported"] == {"from": "markdown", "id": "tea.md", "line": 8}
    assert facts["relation"].content == "Green Tea grown in Lyon"
    assert facts["relation"].metadata["relation"]["to"] == "Lyon"
    [episode] = store.episodes.list()
    assert (episode.name, episode.tags) == ("Green Tea", ["food", "drinks"])
    assert episode.created_at.date().isoformat() == "2025-03-01"
    head = store.file.head()
    assert store.transfer.import_from("markdown", vault).known == 3
    assert store.file.head() == head


@pytest.mark.parametrize("single", [False, True])
def test_instructions_are_items_with_their_headings(
    store: Store, tmp_path: Path, single: bool
) -> None:
    (tmp_path / "secret.md").write_text("- outside")
    project = folder(tmp_path / "p", CLAUDE_md=TOLD, docs__more_md="# More\n\n- Be brief\n")
    report = store.transfer.import_from("markdown", project / "CLAUDE.md" if single else project)
    assert counts(report) == {"files outside of the folder": 2}
    assert {one.content: one.subject for one in store.list()} == {
        "Tests: Run them with pytest -q": "Rules",
        "Tests: Never sleep": "Rules",
        "Be brief": "More",
    }
    [fact] = [one for one in store.list() if "pytest" in one.content]
    assert (fact.category, fact.metadata["headings"]) == ("instruction", ["Rules", "Tests"])


def test_files_that_name_each_other_end(store: Store, tmp_path: Path) -> None:
    vault = folder(tmp_path / "v", AGENTS_md="@a.md\n- one", a_md="@AGENTS.md @./a.md\n- two")
    assert store.transfer.import_from("markdown", vault).facts == 2


def test_what_cannot_be_read_is_named(store: Store, tmp_path: Path) -> None:
    vault = folder(tmp_path / "v", a_md="- [aa] fine", b_md="")
    (vault / "c.md").write_bytes(b"- [bb] \xff")
    with pytest.raises(TransferError, match=r"c\.md: .*nothing was imported"):
        store.transfer.import_from("markdown", vault)
    report = store.transfer.import_from("markdown", vault, skip_damaged=True)
    assert (report.facts, report.episodes) == (1, 1)
    assert counts(report) == {"damaged records": 1, "empty notes": 1}
    with pytest.raises(TransferError, match="holds no Markdown"):
        store.transfer.import_from("markdown", folder(tmp_path / "e", a="x"))


def told(store: Store, tmp_path: Path, text: str, name: str = "CLAUDE.md") -> dict[str, int]:
    """Return the facts of an instruction file, with their lines; a second import adds none."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    store.transfer.import_from("markdown", file)
    head = store.file.head()
    store.transfer.import_from("markdown", file)
    assert store.file.head() == head
    assert file.read_text(encoding="utf-8") == text
    return {one.content: one.metadata["imported"]["line"] for one in store.list(limit=100)}


BLOCKS = {
    "1. Run the tests before\n   every commit": ["Run the tests before every commit"],
    "* Keep `a` and\n  `b` equal": ["Keep `a` and `b` equal"],
    "- lazy\ncontinuation": ["lazy continuation"],
    "- a\n\n  second paragraph": ["a\nsecond paragraph"],
    "- a\n  ```sh\n  make\n  ```": ["a\nmake"],
    "- a\n      not code, continued": ["a not code, continued"],
    "- a\n  - b\n    c\n- d": ["a", "b c", "d"],
    "- When it fails:\n  - look at the log\n  - ask Marta": [
        "When it fails: look at the log",
        "When it fails: ask Marta",
    ],
    "10) ten\n11) eleven": ["ten", "eleven"],
    "+ plus\n+ and more": ["plus", "and more"],
    "- \u00dcbung macht\n  den Meister": ["\u00dcbung macht den Meister"],
    "- \u6bce\u56de\n  \u30c6\u30b9\u30c8": ["\u6bce\u56de \u30c6\u30b9\u30c8"],
    "- ends hard  \n  after two blanks\\\n  and a backslash": [
        "ends hard after two blanks and a backslash"
    ],
    "-\n  begins below": ["begins below"],
    "> - quoted\n>   item": ["quoted item"],
    "A rule in\na paragraph.": ["A rule in a paragraph."],
    "Always:\n\n- be brief": ["Always: be brief"],
    "Build with:\n```sh\nmake all\n```": ["Build with:\nmake all"],
    "| Command | Use |\n|---|---|\n| `a\\|b` | one |\n| c | |": [
        "Command: `a|b`; Use: one",
        "Command: c",
    ],
    "- [ ] write the docs\n- [x] done\n- [X] done": ["write the docs"],
    "Testing\n---\n- run them": ["Testing: run them"],
    "Testing\nof all\n===\n- run them": ["run them"],
    "- a <!-- not this -->\n<!--\n- nor this\n-->": ["a"],
    "%%\n- hidden\n\n- too\n%%\n- seen": ["seen"],
    "```\n- code\n%%\n```\n- seen": ["seen"],
    "~~~\n```\n- code\n~~~\n- seen": ["seen"],
    "    - indented code\n\n- seen": ["seen"],
    "- one\n\n\n\n- two": ["one", "two"],
    "text\n- interrupts a paragraph": ["text", "interrupts a paragraph"],
    "* * *\n- seen": ["seen"],
    "[ref]: https://example.org\n\n- seen": ["seen"],
    "<div>\n- html\n</div>\n\n- seen": ["seen"],
    "\t- tabs\n\t  are code": [],
    "- a\r\n  b\r\n": ["a b"],
}


@pytest.mark.parametrize("text", BLOCKS)
@pytest.mark.parametrize("front", ["", "---\nname: x\n---\n\n"])
def test_items_paragraphs_and_rows_are_read_as_commonmark_does(
    store: Store, tmp_path: Path, text: str, front: str
) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_bytes((front + text).encode())
    store.transfer.import_from("markdown", file)
    assert [one.content for one in store.list()] == BLOCKS[text]


def test_lines_are_those_of_the_file(store: Store, tmp_path: Path) -> None:
    text = "---\ntitle: T\n---\n\n\n- one\n\n## H\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nlast\n"
    assert told(store, tmp_path, text) == {"one": 6, "H: a: 1; b: 2": 12, "H: last": 14}


def test_a_block_that_is_too_long_is_counted_and_named(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(f"- short\n- {'word ' * 3000}\n")
    report = store.transfer.import_from("markdown", file)
    [left] = report.left_out.values()
    assert (report.facts, left.count, left.first) == (1, 1, ["CLAUDE.md, line 2"])


FRONTS = {
    'title: "The \\"fast\\" path"': {"title": 'The "fast" path'},
    "description: |\n  two\n  lines": {"description": "two\nlines\n"},
    "description: >-\n  one\n  line": {"description": "one line"},
    "tags: ['a, b', \"c\"]": {"tags": ["a, b", "c"]},
    "metadata:\n  type: user\n  list:\n    - 1": {"metadata": {"type": "user", "list": ["1"]}},
    "a: {b: [c, {d: e}]}": {"a": {"b": ["c", {"d": "e"}]}},
    "date: 2025-03-01\nflag: yes\nversion: 1.10\nempty:": {
        "date": "2025-03-01",
        "flag": "yes",
        "version": "1.10",
        "empty": "",
    },
    "a: b # remark\n'q': it''s": {"a": "b", "q": "it''s"},
    "description: Use this: always\ntags:\n  - x\n  - y": {
        "description": "Use this: always",
        "tags": ["x", "y"],
    },
    "a: &x [1]\nb: *x": {"a": "&x [1]", "b": "*x"},
    "a: !!python/object/apply:os.system [ls]": {"a": ["ls"]},
    "- only\n- a list": {},
}


@pytest.mark.parametrize("front", FRONTS)
def test_front_matter_is_yaml(store: Store, tmp_path: Path, front: str) -> None:
    (tmp_path / "n.md").write_text(f"---\n{front}\n---\ntext")
    store.transfer.import_from("markdown", tmp_path / "n.md")
    [episode] = store.episodes.list()
    assert episode.metadata.get("front", {}) == FRONTS[front]
    assert episode.content == "text"


def test_aliases_do_not_grow(store: Store, tmp_path: Path) -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (tmp_path / "n.md").write_text("\n".join(["---", *lines, "---", "text"]))
    assert store.transfer.import_from("markdown", tmp_path / "n.md").episodes == 1


MEMORY = "---\nname: {0}\ndescription: about it\nmetadata:\n  type: {1}\n---\n\n{2}\n"


def test_a_folder_of_memories_is_a_fact_a_file(store: Store, tmp_path: Path) -> None:
    memory = folder(
        tmp_path / "memory",
        role_md=MEMORY.format("role", "user", "Is a data engineer.\n\n**Why:** said so"),
        tests_md=MEMORY.format("tests", "feedback", "- never mock\n- never sleep"),
        MEMORY_md="- [Role](role.md) — what she does\n- said in the index alone\n",
    )
    report = store.transfer.import_from("markdown", memory)
    assert (report.facts, report.episodes) == (3, 0)
    assert counts(report) == {"lines of an index": 1}
    assert {one.content: (one.subject, one.category) for one in store.list()} == {
        "Is a data engineer.\n\n**Why:** said so": ("user", "identity"),
        "- never mock\n- never sleep": ("user", "preference"),
        "said in the index alone": ("project", "project"),
    }
    assert store.transfer.import_from("markdown", memory).known == 3


def test_a_note_with_a_type_of_its_own_stays_a_note(store: Store, tmp_path: Path) -> None:
    text = "---\nname: X\ntype: project\nstatus: open\ndescription: d\n---\n- [aa] claim\n"
    report = store.transfer.import_from("markdown", folder(tmp_path / "v", x_md=text))
    assert (report.facts, report.episodes) == (1, 1)


WORDS = strategies.text("ab `*_[]()#-+.1>\\é語", min_size=1, max_size=12)
DOCUMENTS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["", "- ", "1. ", "  - ", "  ", "# ", "> ", "```", "    ", "| "]),
        WORDS,
    ).map("".join),
    max_size=12,
).map("\n".join)


@hypothesis.given(text=DOCUMENTS)
@hypothesis.settings(max_examples=200, deadline=None)
def test_no_text_of_an_item_or_paragraph_is_lost(text: str) -> None:
    """Against the reader itself: every paragraph is in one block, with the line it begins on."""
    note = notes.read(text, "stem")
    said = "\n".join(" ".join([*one.introduced, one.text]) for one in note.blocks)
    reader = markdown_it.MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
    reader.core.ruler.disable("inline")
    inside = None
    for token in reader.parse(text):
        inside = token.type if token.type.endswith("_open") else inside
        if token.type == "inline" and inside in ("paragraph_open", "td_open"):
            for line in token.content.split("\n"):
                assert line.strip().removesuffix("\\").removesuffix(":").strip() in said
    for one in note.blocks:
        assert text.split("\n")[one.line - 1].strip() or one.kind == "item"
