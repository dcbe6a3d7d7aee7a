"""Folders of Markdown: notes are episodes; observations, relations and instructions are facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memstore import Store, TransferError

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
    report = store.import_from("markdown", vault)
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
    assert store.import_from("markdown", vault).known == 3
    assert store.file.head() == head


@pytest.mark.parametrize("single", [False, True])
def test_instructions_are_items_with_their_headings(
    store: Store, tmp_path: Path, single: bool
) -> None:
    (tmp_path / "secret.md").write_text("- outside")
    project = folder(tmp_path / "p", CLAUDE_md=TOLD, docs__more_md="# More\n\n- Be brief\n")
    report = store.import_from("markdown", project / "CLAUDE.md" if single else project)
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
    assert store.import_from("markdown", vault).facts == 2


def test_what_cannot_be_read_is_named(store: Store, tmp_path: Path) -> None:
    vault = folder(tmp_path / "v", a_md="- [aa] fine", b_md="")
    (vault / "c.md").write_bytes(b"- [bb] \xff")
    with pytest.raises(TransferError, match=r"c\.md: .*nothing was imported"):
        store.import_from("markdown", vault)
    report = store.import_from("markdown", vault, skip_damaged=True)
    assert (report.facts, report.episodes) == (1, 1)
    assert counts(report) == {"damaged records": 1, "empty notes": 1}
    with pytest.raises(TransferError, match="holds no Markdown"):
        store.import_from("markdown", folder(tmp_path / "e", a="x"))
