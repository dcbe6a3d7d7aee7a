"""Notes for people: equal states give equal bytes, and edits come back as a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memstore
from memstore import StorageError, Store, TransferError
from memstore.notes import plan_edits, write_notes


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def kinds(store: Store, folder: Path) -> list[str]:
    return [one.kind for one in plan_edits(store, folder).edits]


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> Path:
    store.add("Ana likes green tea", subject="Ana", category="preference")
    store.add("Ana works with Ben Low", subject="Ana")
    store.add("Ben Low lives in Lyon", subject="Ben Low")
    write_notes(store, tmp_path / "notes")
    return tmp_path / "notes"


def test_a_note_has_facts_links_history_and_the_source(store: Store, tmp_path: Path) -> None:
    old = store.add("Ana likes tea", subject="Ana", created_at="2025-03-01")
    store.add("Ana likes coffee", subject="Ana", supersedes=old.id, created_at="2025-03-02")
    store.add("Ben lives in Lyon", subject="Ben", created_at="2025-03-03")
    store.add("Ana knows Ben", subject="Ana", created_at="2025-03-03")
    write_notes(store, tmp_path / "n")
    assert (tmp_path / "n" / "Ana.md").read_text("utf-8") == (
        "---\nsubject: Ana\nfacts: [2, 4]\n---\n# Ana\n\n"
        "- [note] Ana likes coffee (2025-03-02) ^m2\n"
        "- [note] Ana knows Ben (2025-03-03) ^m4\n"
        "\n## Links\n\n- [[Ben]]\n"
        "\n> [!note]- History\n> - ~~Ana likes tea~~ (superseded, replaced by 2) #m1\n"
    )


def test_equal_states_give_equal_bytes_and_no_writes(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    done = write_notes(store, folder)
    assert (done.written, done.removed, done.unchanged) == ([], [], 2)
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before
    write_notes(store, tmp_path / "other")
    assert bytes_of(tmp_path / "other") == bytes_of(folder)
    store.add("Ben Low sings", subject="Ben Low")
    assert write_notes(store, folder).written == ["Ben Low.md"]


def test_edits_come_back(store: Store, folder: Path) -> None:
    note = folder / "Ana.md"
    assert kinds(store, folder) == []
    edit(note, "green tea", "black tea")
    edit(note, "- [note] Ana works", "- [event] Ana moved to Paris\n- [note] Ana works")
    plan = plan_edits(store, folder)
    assert [(one.kind, one.fact_id) for one in plan.edits] == [("supersede", 1), ("add", None)]
    assert store.count() == 3, "a plan changes nothing"
    assert plan.apply()["supersede"] == 1
    assert {fact.content for fact in store.list(subject="Ana")} == {
        "Ana likes black tea",
        "Ana moved to Paris",
        "Ana works with Ben Low",
    }
    assert store.get(1).superseded_by is not None  # type: ignore[union-attr]
    assert kinds(store, folder) == [], "twice changes nothing"


def test_a_removed_line_deletes_only_if_asked(store: Store, folder: Path) -> None:
    note = folder / "Ben Low.md"
    lines = note.read_text("utf-8").splitlines(keepends=True)
    note.write_text("".join(line for line in lines if "^m3" not in line), "utf-8")
    assert kinds(store, folder) == ["delete"]
    assert plan_edits(store, folder).apply() == {
        "add": 0, "supersede": 0, "delete": 0, "propose": 0, "skip": 1,
    }  # fmt: skip
    assert store.count() == 3
    plan_edits(store, folder).apply(delete=True)
    assert store.get(3).status == "deleted"  # type: ignore[union-attr]


def test_a_line_changed_on_both_sides_is_a_proposal(store: Store, folder: Path) -> None:
    edit(folder / "Ana.md", "green tea", "black tea")
    newer = store.add("Ana likes mate", subject="Ana", supersedes=1)
    [planned] = plan_edits(store, folder).edits
    assert (planned.kind, planned.fact_id) == ("propose", newer.id)
    plan_edits(store, folder).apply()
    [proposal] = store.proposals.list()
    assert [one.id for one in proposal.sources] == [newer.id]
    assert store.get(newer.id).status == "active"  # type: ignore[union-attr]


def test_foreign_files_and_edits_are_not_touched(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    (folder / "Carl.md").write_text("mine")
    (folder / "diary.md").write_text("mine, too")
    outside = tmp_path / "outside.md"
    outside.write_text("not a note")
    (folder / "Dan.md").symlink_to(outside)
    edit(folder / "Ana.md", "green tea", "black tea")
    for name in ("Carl", "Dan", "Ana"):
        store.add(f"{name} sings", subject=name)
    done = write_notes(store, folder)
    assert (done.foreign, done.edited) == (["Carl.md", "Dan.md"], ["Ana.md"])
    assert "black tea" in (folder / "Ana.md").read_text("utf-8")
    assert (folder / "Carl.md").read_text() == "mine"
    assert (folder / "diary.md").read_text() == "mine, too"
    assert outside.read_text() == "not a note"


def test_what_was_erased_is_gone_after_the_next_run(store: Store, folder: Path) -> None:
    edit(folder / "Ana.md", "works with", "knows")
    store.erase(1)
    store.erase(3)
    done = write_notes(store, folder)
    assert (done.removed, done.edited) == (["Ben Low.md"], ["Ana.md"])
    whole = b"".join(bytes_of(folder).values())
    assert b"green tea" not in whole
    assert b"Lyon" not in whole
    assert b"Ana knows Ben Low" in whole, "the edit is kept"


@pytest.mark.parametrize(
    "subject", ["a/b", "..", "CON", "x" * 300, "é", "e\u0301", "[[x]]", "-", "a\nb", "ana", "ANA"]
)
def test_any_subject_has_a_file_of_the_folder(store: Store, tmp_path: Path, subject: str) -> None:
    store.add("said so", subject=subject)
    store.add("another", subject="ana-")
    folder = tmp_path / "n"
    assert write_notes(store, folder).foreign == []
    assert sorted(one.parent for one in folder.rglob("*")) == [folder] * 3
    assert kinds(store, folder) == []


def test_damage_is_named(store: Store, folder: Path, open_store: Callable[..., Store]) -> None:
    with pytest.raises(StorageError, match="the notes of the namespace 'default'"):
        write_notes(open_store(namespace="other"), folder)
    edit(folder / "Ana.md", "facts:", "fact:")
    with pytest.raises(TransferError, match=r"Ana\.md: its front matter is damaged"):
        plan_edits(store, folder)


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6, unique=True), st.data())
def test_export_edit_and_plan_agree(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str]], data: st.DataObject
) -> None:
    base = tmp_path_factory.mktemp("notes")
    with memstore.open(base / "m.db", embedder=None, durability="normal") as store:
        for subject, text in said:
            if subject.strip() and text.strip():
                store.add(f"a {text}\nb", subject=subject)
        write_notes(store, base / "n")
        assert kinds(store, base / "n") == []
        facts = store.list(limit=None)
        chosen = (
            data.draw(st.sets(st.sampled_from([fact.id for fact in facts]))) if facts else set()
        )
        for file in (base / "n").glob("*.md"):
            lines = file.read_text("utf-8").split("\n")
            lines = [
                line.replace(" (20", " changed (20", 1)
                if any(line.endswith(f"^m{one}") for one in chosen) and line.count(" (20") == 1
                else line
                for line in lines
            ]
            file.write_text("\n".join(lines), "utf-8")
        plan = plan_edits(store, base / "n")
        assert {one.kind for one in plan.edits} <= {"supersede"}
        assert {one.fact_id for one in plan.edits} <= chosen
        plan.apply()
        assert kinds(store, base / "n") == []
        write_notes(store, base / "second")
        again = write_notes(store, base / "second")
        assert (again.written, again.removed, again.edited) == ([], [], [])
