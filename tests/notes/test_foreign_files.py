"""What others put into a folder of notes, its list included: nothing of it is lost or believed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memstore
from memstore import StorageError, Store, TransferError
from memstore.notes import page, plan_edits, write_notes
from memstore.store.copying import copy

LIST = ".memstore-notes.json"


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> Path:
    store.add("Ana likes green tea", subject="Ana")
    store.add("Ana works with Ben Low", subject="Ana")
    store.add("Ben Low lives in Lyon", subject="Ben Low")
    write_notes(store, tmp_path / "notes")
    return tmp_path / "notes"


@pytest.fixture
def of_files(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--engine", "sqlite") == "postgres":
        pytest.skip("a file is copied")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def listed(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / LIST).read_bytes())
    return value


def write_list(folder: Path, value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    (folder / LIST).write_text(text, "utf-8")


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


# -- lists that name what is not ours ----------------------------------------------------------


@pytest.mark.parametrize("form", ["earlier", "forged", "repeated"])
def test_a_list_that_came_with_a_folder_removes_and_overwrites_nothing(
    store: Store, folder: Path, form: str
) -> None:
    mine = {"LICENSE.md": b"a well-known text", "todo.txt": b"todo\n", "Dan.md": b"my Dan"}
    for name, text in mine.items():
        (folder / name).write_bytes(text)
    value = listed(folder)
    if form == "earlier":
        files = {name: digest(text) for name, text in bytes_of(folder).items()}
        value = {"files": files, "namespace": "default"}
    for name, text in mine.items():
        entry = {"facts": [1], "text": digest(text), "proof": "0" * 64}
        if form == "repeated":  # with a proof of another note
            entry |= {"proof": value["notes"]["Ana.md"][0]["proof"]}
        if form != "earlier":
            value["notes"][name] = [entry]
    write_list(folder, value)
    store.add("Dan sings", subject="Dan")
    done = write_notes(store, folder)
    assert {name: (folder / name).read_bytes() for name in mine} == mine
    assert {"LICENSE.md", "Dan.md"} <= {*done.foreign}
    assert "Dan sings" in (folder / done.elsewhere["Dan.md"]).read_text("utf-8")
    assert done.removed == []
    assert [one.kind for one in plan_edits(store, folder).edits if one.place == "Ana.md"] == []


HOSTILE_NAMES = [
    "", ".", "..", "../a.md", "/etc/passwd", "a/b.md", "a\\b.md", "a\0b.md", "\ud800.md", "CON.md",
    "x" * 400 + ".md", "-rf.md", " .md", LIST, ".hidden.md", "é.md", "a:b.md", "Ana.md ", "Ana.md.",
]  # fmt: skip


@pytest.mark.parametrize("form", ["earlier", "present"])
def test_hostile_names_in_a_list_do_nothing(store: Store, folder: Path, form: str) -> None:
    before = bytes_of(folder)
    value = listed(folder)
    if form == "earlier":
        value = {"files": dict.fromkeys(HOSTILE_NAMES, digest(b"\0")), "namespace": "default"}
    else:
        value["notes"] |= dict.fromkeys(HOSTILE_NAMES, value["notes"]["Ana.md"])
    write_list(folder, value)
    done = write_notes(store, folder)
    assert (done.removed, done.written, done.unchanged) == ([], [], 2)
    assert bytes_of(folder) == before
    assert plan_edits(store, folder).edits == []


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.one_of(st.text(max_size=12), st.sampled_from(["LICENSE.md", "Ana.md", "..", LIST])),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["facts", "text", "proof"]), inner, max_size=3)
            ),
            max_leaves=8,
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_any_list_is_refused_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, notes: dict[str, Any], earlier: bool
) -> None:
    base = tmp_path_factory.mktemp("list")
    with memstore.open(base / "m.db", embedder=None, durability="normal") as store:
        store.add("Ana sings", subject="Ana")
        write_notes(store, base / "n")
        (base / "n" / "LICENSE.md").write_bytes(b"a well-known text")
        before = bytes_of(base / "n")
        value = listed(base / "n")
        write_list(base / "n", {"files": notes, "namespace": "default"} if earlier else
                   value | {"notes": value["notes"] | notes})  # fmt: skip
        try:
            plan_edits(store, base / "n")
            write_notes(store, base / "n")
        except StorageError as error:
            assert "damaged" in str(error)  # noqa: PT017
        after = bytes_of(base / "n")
        assert {name: after[name] for name in ("LICENSE.md", "Ana.md")} == {
            name: before[name] for name in ("LICENSE.md", "Ana.md")
        }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "damaged"),
        ("{", "damaged"),
        ("[" * 100_000, "damaged"),
        ("[]", "damaged"),
        ("null", "damaged"),
        ('{"namespace": "default"}', "damaged"),
        ('{"format": 2, "namespace": "default", "memory": null, "notes": 1}', "damaged"),
        ('{"format": %s}' % ("9" * 5000), "damaged"),
        ('{"format": 3, "namespace": "default"}', "a newer version"),
        ('{"files": {}, "namespace": "other"}', "the notes of the namespace 'other'"),
        ('{"files": {}, "namespace": 7}', "the notes of another namespace"),
        ("\0", "no regular file"),
    ],
)
def test_a_list_that_cannot_be_read_is_named_and_nothing_is_changed(
    store: Store, folder: Path, text: str, message: str
) -> None:
    write_list(folder, text)
    store.add("Ana sings", subject="Ana")
    before = bytes_of(folder)
    for call in (write_notes, plan_edits):
        with pytest.raises(StorageError, match=message):
            call(store, folder)
    assert bytes_of(folder) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe", "sparse"])
def test_what_is_no_file_is_never_followed_or_waited_for(
    store: Store, folder: Path, tmp_path: Path, kind: str
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes((folder / "Ana.md").read_bytes())

    def put(place: Path) -> None:
        place.unlink(missing_ok=True)
        if kind == "link":
            place.symlink_to(outside)
        elif kind == "dangling":
            place.symlink_to(tmp_path / "nowhere")
        elif kind == "folder":
            place.mkdir()
        elif kind == "pipe":
            os.mkfifo(place)
        else:
            with place.open("wb") as file:
                file.truncate(1 << 40)

    put(folder / "Ana.md")
    store.add("Ana sings", subject="Ana")
    before = os.lstat(folder / "Ana.md")
    done = write_notes(store, folder)
    assert done.foreign == ["Ana.md"]
    assert "Ana sings" in (folder / done.elsewhere["Ana.md"]).read_text("utf-8")
    assert os.lstat(folder / "Ana.md").st_ino == before.st_ino
    assert b"sings" not in outside.read_bytes()
    assert not (tmp_path / "nowhere").exists()
    assert plan_edits(store, folder).edits == []
    put(folder / LIST)
    with pytest.raises(StorageError, match="no regular file"):
        write_notes(store, folder)


def test_a_list_that_is_lost_leaves_the_notes_ours_that_did_not_change(
    store: Store, folder: Path
) -> None:
    store.add("Ana sings", subject="Ana")
    (folder / LIST).unlink()
    done = write_notes(store, folder)
    assert (done.unchanged, done.foreign) == (1, ["Ana.md"])
    assert "sings" not in (folder / "Ana.md").read_text("utf-8")
    assert "sings" in (folder / done.elsewhere["Ana.md"]).read_text("utf-8")
    again = write_notes(store, folder)
    assert (again.written, again.removed, again.elsewhere) == ([], [], done.elsewhere)


# -- other memories, and other states of this one ----------------------------------------------


def test_another_memory_is_refused_and_nothing_is_lost(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    before = bytes_of(folder)
    with memstore.open(tmp_path / "other.db", embedder=None) as other:
        for call in (write_notes, plan_edits):
            with pytest.raises(StorageError, match="the notes of another memory"):
                call(other, folder)
        other.add("Ana likes green tea", subject="Ana")
        for call in (write_notes, plan_edits):
            with pytest.raises(StorageError, match="the notes of another memory"):
                call(other, folder)
        assert write_notes(other, tmp_path / "its own").written == ["Ana.md"]
    assert bytes_of(folder) == before


def test_what_was_exported_and_imported_is_another_memory(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    with memstore.open(tmp_path / "other.db", embedder=None) as other:
        other.transfer.import_(store.transfer.export())
        assert other.transfer.identity() != store.transfer.identity()
        with pytest.raises(StorageError, match="the notes of another memory"):
            write_notes(other, folder)


@pytest.mark.parametrize("how", ["backup", "copy", "recover"])
def test_a_copy_of_the_memory_goes_on_with_its_notes(
    tmp_path: Path, how: str, of_files: None
) -> None:
    folder = tmp_path / "n"
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.add("Ana sings", subject="Ana")
        gone = store.add("Ben sings", subject="Ben")
        write_notes(store, folder)
        if how == "copy":
            copy(tmp_path / "a.db", tmp_path / "b.db")
        else:
            store.file.backup(tmp_path / "b.db")
    path = tmp_path / "b.db"
    if how == "recover":
        path = tmp_path / "a.db"
        memstore.recover(tmp_path / "b.db", path)
    with memstore.open(path, embedder=None) as store:
        store.delete(gone.id)
        store.add("Ana dances", subject="Ana")
        done = write_notes(store, folder)
        assert (done.written, done.removed, done.foreign) == (["Ana.md"], ["Ben.md"], [])


def test_notes_of_facts_that_a_restored_backup_lacks_stay(tmp_path: Path, of_files: None) -> None:
    folder, path = tmp_path / "n", tmp_path / "a.db"
    with memstore.open(path, embedder=None) as store:
        store.add("Ana sings", subject="Ana")
        store.file.backup(tmp_path / "b.db")
        store.add("Ana dances", subject="Ana")
        store.add("Carl sings", subject="Carl")
        write_notes(store, folder)
    memstore.recover(tmp_path / "b.db", path)
    with memstore.open(path, embedder=None) as store:
        # The same ids, but other facts.
        store.add("Dan sings", subject="Dan")
        carl = store.add("Carl swims", subject="Carl")
        store.erase(carl.id)
        done = write_notes(store, folder)
        assert done.foreign == ["Ana.md", "Carl.md"]
        assert done.removed == []
        assert "Ana dances" in (folder / "Ana.md").read_text("utf-8")
        assert "Carl sings" in (folder / "Carl.md").read_text("utf-8")
        assert "Ana dances" not in (folder / done.elsewhere["Ana.md"]).read_text("utf-8")
        assert {one.kind for one in plan_edits(store, folder).edits} <= {"skip"}
        again = write_notes(store, folder)
        assert (again.written, again.removed, again.elsewhere) == ([], [], done.elsewhere)


def test_an_empty_memory_takes_nothing_away(tmp_path: Path, folder: Path) -> None:
    before = bytes_of(folder)
    with memstore.open(tmp_path / "empty.db", embedder=None) as empty:
        with pytest.raises(StorageError, match="another memory"):
            write_notes(empty, folder)
        assert write_notes(empty, tmp_path / "new").written == []
        empty.add("Ana sings", subject="Ana")
        assert write_notes(empty, tmp_path / "new").written == ["Ana.md"]
    assert bytes_of(folder) == before


def test_another_namespace_is_refused(
    store: Store, folder: Path, open_store: Callable[..., Store]
) -> None:
    other = open_store(namespace="other")
    other.add("Ana sings", subject="Ana")
    before = bytes_of(folder)
    with pytest.raises(StorageError, match="the notes of the namespace 'default'"):
        write_notes(other, folder)
    assert bytes_of(folder) == before


def test_a_confined_store_has_notes_too(tmp_path: Path) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as whole:
        store = whole.within("own", confined=True)
        store.add("Ana sings", subject="Ana")
        assert write_notes(store, tmp_path / "n").written == ["Ana.md"]
        assert write_notes(store, tmp_path / "n").unchanged == 1


# -- names -------------------------------------------------------------------------------------


def test_a_subject_whose_place_is_taken_has_another_name_that_stays(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "n"
    folder.mkdir()
    for name in ("README.md", "Ana.md"):
        (folder / name).write_text("mine")
    store.add("README is long", subject="README")
    store.add("Ana reads the README", subject="Ana")
    done = write_notes(store, folder)
    assert done.foreign == ["Ana.md", "README.md"]
    ana, readme = (folder / done.elsewhere[name] for name in done.foreign)
    assert f"[[{readme.stem}]]" in ana.read_text("utf-8")
    (folder / readme.name).write_text(
        readme.read_text("utf-8").replace("is long", "is short"), "utf-8"
    )
    [edit] = plan_edits(store, folder).edits
    assert (edit.kind, edit.fact_id, edit.subject) == ("supersede", 1, "README")
    plan_edits(store, folder).apply()
    again = write_notes(store, folder)
    assert (again.elsewhere, again.removed, again.written) == (done.elsewhere, [], [readme.name])
    (folder / ana.name).unlink()
    (folder / ana.name).write_text("mine as well")
    third = write_notes(store, folder)
    assert third.foreign == sorted(["Ana.md", ana.name, "README.md"])
    assert "reads" in (folder / third.elsewhere["Ana.md"]).read_text("utf-8")
    for name in ("README.md", "Ana.md", ana.name):
        (folder / name).unlink()
    last = write_notes(store, folder)
    assert sorted(last.written) == ["Ana.md", "README.md"]
    assert sorted(file.name for file in folder.glob("*.md")) == ["Ana.md", "README.md"]


def test_spellings_of_one_subject_have_one_file(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "n"
    old = store.add("Zoé sings", subject=unicodedata.normalize("NFD", "zoé"))
    write_notes(store, folder)
    [name] = [file.name for file in folder.glob("*.md")]
    for spelt in ("Zoé", "ZOÉ", unicodedata.normalize("NFD", "Zoé")):
        store.add(f"{len(spelt)} {spelt} dances", subject=spelt)
        done = write_notes(store, folder)
        assert (done.removed, done.foreign) == ([], [])
    store.delete(old.id)
    write_notes(store, folder)
    assert [file.name for file in folder.glob("*.md")] == [name]


@pytest.mark.parametrize("subject", ["com¹", "LPT³.x", "CONIN$", "-rf", "…", "a?", "‮gpj.exe"])
def test_odd_subjects_come_back(store: Store, tmp_path: Path, subject: str) -> None:
    fact = store.add("said so", subject=subject)
    write_notes(store, tmp_path / "n")
    [file] = (tmp_path / "n").glob("*.md")
    assert not file.name.startswith(("-", "."))
    file.write_text(file.read_text("utf-8").replace("said so", "said otherwise"), "utf-8")
    [edit] = plan_edits(store, tmp_path / "n").edits
    assert (edit.kind, edit.fact_id) == ("supersede", fact.id)


# -- what was erased ---------------------------------------------------------------------------


def test_erased_facts_leave_every_note(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "n"
    store.add("Ana sings", subject="Ana")
    only = store.add("Secretia Smith swims", subject="Secretia Smith")
    store.add("Ben knows Secretia Smith", subject="Ben")
    store.add("Ben sings", subject="Ben")
    write_notes(store, folder)
    for name in ("Ana.md", "Ben.md", "Secretia Smith.md"):
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace("s ", "z ", 1).replace("sings", "hums"), "utf-8")
    store.erase(only.id)
    store.erase(3)
    done = write_notes(store, folder)
    whole = b"".join(bytes_of(folder).values())
    assert b"Secretia" not in whole
    assert done.removed == ["Secretia Smith.md"]
    assert b"Ben hums" in whole


def test_what_is_taken_out_of_a_note_with_edits() -> None:
    text = (
        "---\nsubject: Ana\nfacts: [1, 2]\n---\n# Ana\n\n- [note] mine (2026-01-01) ^m1 and more\n"
        "  > The code is tulip. #m1\n- [note] sings, see #m1 (2026-01-01) ^m2\n  > She sings. #m2\n"
        "\n## Links\n\n- [[Ben]]\n- [[Carl]]\n\n> [!note]- History\n> - ~~old~~ (deleted) #m4\n"
    )
    left = page.without(text, {1, 4}, set(), {"Ben"})
    assert left.splitlines()[6:] == [
        "- [note] sings, see #m1 (2026-01-01) ^m2", "", "## Links", "", "- [[Carl]]", "",
        "> [!note]- History",
    ]  # fmt: skip
    assert not page.is_bare(left)
    assert page.is_bare(page.without(text, {1, 2, 4}, set(), set()))
    assert page.without(text, set(), {1, 2}, set()) == text


def test_a_note_of_which_only_erased_lines_were_edited_is_written_anew(
    store: Store, folder: Path
) -> None:
    file = folder / "Ben Low.md"
    file.write_text(file.read_text("utf-8").replace("Lyon", "Paris"), "utf-8")
    for number in range(3):
        store.add(f"Ben Low counts {number}", subject="Ben Low")
        assert write_notes(store, folder).edited == ["Ben Low.md"]
        assert len(listed(folder)["notes"]["Ben Low.md"]) == 1
    store.erase(3)
    assert write_notes(store, folder).written == ["Ben Low.md"]
    assert "Paris" not in file.read_text("utf-8")
    assert "counts 2" in file.read_text("utf-8")
    again = write_notes(store, folder)
    assert (again.unchanged, again.edited) == (2, [])


def test_a_line_that_only_names_an_erased_fact_stays(store: Store, folder: Path) -> None:
    file = folder / "Ana.md"
    mine = "See [[Ben Low#^m3]] and [[Ana#^m1]]\n"
    file.write_text(file.read_text("utf-8") + mine, "utf-8")
    store.erase(1)
    write_notes(store, folder)
    assert mine in file.read_text("utf-8")
    assert "green tea" not in file.read_text("utf-8")


def test_foreign_lines_with_marks_stay(store: Store, folder: Path) -> None:
    (folder / "diary.md").write_text("- tea again (2026-01-01) ^m1\n", "utf-8")
    value = listed(folder)
    value["notes"]["diary.md"] = value["notes"]["Ana.md"]
    write_list(folder, value)
    store.erase(1)
    write_notes(store, folder)
    assert (folder / "diary.md").read_text("utf-8") == "- tea again (2026-01-01) ^m1\n"


# -- edits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["9" * 5000, str(2**70), "١", "1x", "0", "99"])
def test_a_mark_that_is_no_fact_of_the_note_deletes_nothing(
    store: Store, folder: Path, mark: str
) -> None:
    file = folder / "Ana.md"
    file.write_text(file.read_text("utf-8").replace("^m1\n", f"^m{mark}\n"), "utf-8")
    plan = plan_edits(store, folder)
    assert {one.kind for one in plan.edits} == {"skip"}
    assert all(len(one.reason or "") < 100 for one in plan.edits)
    plan.apply(delete=True)
    assert store.count() == 3
    assert write_notes(store, folder).edited == ["Ana.md"]


@pytest.mark.parametrize("ids", ["9" * 5000, "١", "1, x", "1; 2", "-1"])
def test_front_matter_with_other_ids_is_named(store: Store, folder: Path, ids: str) -> None:
    file = folder / "Ana.md"
    file.write_text(file.read_text("utf-8").replace("[1, 2]", f"[{ids}]"), "utf-8")
    with pytest.raises(TransferError, match=r"Ana\.md: its front matter is damaged"):
        plan_edits(store, folder)
    assert write_notes(store, folder).edited == ["Ana.md"]


def test_a_note_is_written_again_once_its_edits_are_imported(store: Store, folder: Path) -> None:
    file = folder / "Ana.md"
    file.write_text(file.read_text("utf-8").replace("green", "black") + "\nmy own words\n", "utf-8")
    assert write_notes(store, folder).edited == ["Ana.md"]
    plan = plan_edits(store, folder)
    assert write_notes(store, folder).edited == ["Ana.md"]
    plan.apply()
    file.write_text(file.read_text("utf-8") + "\nand more\n", "utf-8")
    assert write_notes(store, folder).edited == ["Ana.md"], "edited again since the plan"
    plan_edits(store, folder).apply()
    assert write_notes(store, folder).written == ["Ana.md"]
    text = file.read_text("utf-8")
    assert "black tea" in text
    assert "^m1" not in text


def test_a_note_whose_edits_were_not_all_taken_is_kept(store: Store, folder: Path) -> None:
    file = folder / "Ana.md"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "^m1" not in line), "utf-8")
    plan_edits(store, folder).apply()
    assert write_notes(store, folder).edited == ["Ana.md"]
    plan_edits(store, folder).apply(delete=True)
    assert write_notes(store, folder).written == ["Ana.md"]


def test_a_line_that_lost_its_mark_is_not_deleted(store: Store, folder: Path) -> None:
    file = folder / "Ana.md"
    lines = file.read_text("utf-8").splitlines()
    lines = ["- Ana likes green tea" if "^m1" in line else line for line in lines]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    assert plan_edits(store, folder).edits == []


def test_a_list_of_an_earlier_form_brings_edits_back(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    before = {name: digest(text) for name, text in bytes_of(folder).items() if name != LIST}
    write_list(folder, {"files": before, "namespace": "default"})
    file = folder / "Ana.md"
    file.write_text(file.read_text("utf-8").replace("green tea", "black tea"), "utf-8")
    assert [(one.kind, one.fact_id) for one in plan_edits(store, folder).edits] == [
        ("supersede", 1)
    ]
    with memstore.open(tmp_path / "other.db", embedder=None) as other:
        for fact in reversed(store.list(limit=None)):
            other.add(f"{fact.content} today", subject=fact.subject)
        assert {one.kind for one in plan_edits(other, folder).edits} == {"skip"}


# -- at the same time --------------------------------------------------------------------------


def test_what_is_saved_during_exports_is_not_lost(store: Store, folder: Path) -> None:
    """Another program saves over a note as editors do, while exports write and remove it."""
    ended = threading.Event()
    saved: list[bytes] = []

    def save() -> None:
        for number in range(200):
            text = b"mine %d" % number
            draft = folder / "draft"
            draft.write_bytes(text)
            try:
                os.link(draft, folder / "Ben Low.md")
                saved.append(text)
            except FileExistsError:
                pass
            draft.unlink()
        ended.set()

    thread = threading.Thread(target=save)
    thread.start()
    while not ended.is_set():
        fact = store.add("Ben Low sings", subject="Ben Low")
        write_notes(store, folder)
        store.delete(fact.id)
        store.delete(3)
        write_notes(store, folder)
        store.restore(3)
        for file in folder.glob("*.md"):
            if file.read_bytes() in saved:
                saved.remove(file.read_bytes())
                file.unlink()
    thread.join()
    left = [file.read_bytes() for file in folder.glob("*.md")]
    assert [text for text in saved if text not in left] == []


def test_exports_at_once_leave_one_state(store: Store, folder: Path) -> None:
    failed: list[Exception] = []

    def export(number: int) -> None:
        try:
            for turn in range(5):
                store.add(f"Ana counts {number} {turn}", subject=f"Ana {turn}")
                write_notes(store, folder)
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=export, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    done = write_notes(store, folder)
    assert (done.edited, done.foreign) == ([], [])
    assert done.unchanged + len(done.written) == 7
    assert not [file for file in folder.iterdir() if file.name.startswith(".memstore-") and
                file.name != LIST]  # fmt: skip


KILLED = """
import os, sys
import memstore
from memstore.notes import write_notes
store = memstore.open(sys.argv[1], embedder=None)
left = int(sys.argv[3])
store.list()
def kill(event, arguments):
    global left
    if event in ("os.rename", "os.link", "os.remove") or (
        event == "open" and str(arguments[0]).startswith(".memstore-") and arguments[2] & 1
    ):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
sys.addaudithook(kill)
write_notes(store, __import__("pathlib").Path(sys.argv[2]))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_an_export_that_is_killed_anywhere_is_completed_by_the_next(tmp_path: Path) -> None:
    import shutil
    import subprocess

    path, first = tmp_path / "m.db", tmp_path / "first"
    with memstore.open(path, embedder=None) as store:
        store.add("Ana sings", subject="Ana")
        store.add("Ben sings", subject="Ben")
        store.add("Carl sings", subject="Carl")
        write_notes(store, first)
        edited = (first / "Carl.md").read_text("utf-8").replace("sings", "hums")
        (first / "Carl.md").write_text(edited, "utf-8")
        store.add("Ana dances", subject="Ana")
        store.erase(2)
        store.add("Dan sings", subject="Dan")
        write_notes(store, tmp_path / "wanted")
    kills = 0
    while True:
        folder = tmp_path / f"n{kills}"
        shutil.copytree(first, folder)
        command = [sys.executable, "-c", KILLED, str(path), str(folder), str(kills)]
        code = subprocess.run(command, check=False, timeout=60).returncode
        with memstore.open(path, embedder=None) as store:
            assert [one.fact_id for one in plan_edits(store, folder).edits] == [3]
            done = write_notes(store, folder)
            assert (done.foreign, done.edited) == ([], ["Carl.md"]), kills
        names = sorted(os.listdir(folder))
        assert names == [LIST, "Ana.md", "Carl.md", "Dan.md"], kills
        for name in ("Ana.md", "Dan.md"):
            wanted = (tmp_path / "wanted" / name).read_bytes()
            assert (folder / name).read_bytes() == wanted, kills
        assert (folder / "Carl.md").read_text("utf-8") == edited
        if code == 0:
            break
        assert code == -9
        kills += 1
    assert kills > 8


# -- notes under other names ---------------------------------------------------------------------


@pytest.mark.parametrize("exported_between", [False, True])
def test_a_renamed_note_of_erased_facts_is_removed(
    store: Store, folder: Path, exported_between: bool
) -> None:
    (folder / "Ben Low.md").rename(folder / "people - Ben.md")
    if exported_between:
        write_notes(store, folder)
    (ben,) = store.list(subject="Ben Low")
    store.erase(ben.id)
    done = write_notes(store, folder)
    assert "people - Ben.md" in done.removed
    assert not any(b"Lyon" in text for text in bytes_of(folder).values())


def test_a_copied_note_loses_the_lines_of_erased_facts(store: Store, folder: Path) -> None:
    (folder / "copy.md").write_bytes((folder / "Ana.md").read_bytes())
    (tea,) = store.list(subject="Ana", limit=1)
    store.erase(tea.id)
    done = write_notes(store, folder)
    assert (done.edited, done.keeping_erased) == (["copy.md"], [])
    text = (folder / "copy.md").read_text("utf-8")
    assert ("Ana works" in text, "green tea" in text) == (
        tea.content != "Ana works with Ben Low",
        tea.content != "Ana likes green tea",
    )
    assert write_notes(store, folder).edited == []


def test_a_renamed_and_edited_note_is_named_and_not_touched(store: Store, folder: Path) -> None:
    edited = (folder / "Ben Low.md").read_bytes().replace(b"Lyon", b"Lyon, near the river")
    (folder / "Ben Low.md").unlink()
    (folder / "mine.md").write_bytes(edited)
    assert write_notes(store, folder).keeping_erased == []
    (ben,) = store.list(subject="Ben Low")
    store.erase(ben.id)
    for _ in range(2):
        assert write_notes(store, folder).keeping_erased == ["mine.md"]
        assert (folder / "mine.md").read_bytes() == edited


@pytest.mark.parametrize(
    "text",
    [
        b"- [note] a list of mine (2024-01-01) ^m3\n",
        b"---\ntitle: mine\n---\n- [note] x (2024-01-01) ^m3\n",
        b"---\nsubject: Ben\nfacts: [3]\n---\n# Ben\n",
        b"---\nsubject: Ben\nfacts: [99]\n---\n- [note] x (2024-01-01) ^m99\n",
        b"---\nsubject: Ben\nfacts: [1]\n---\n- [note] x (2024-01-01) ^m" + b"9" * 19 + b"\n",
        b"---\n\xff\xfe",
        b"",
    ],
)
def test_other_files_are_neither_touched_nor_named(store: Store, folder: Path, text: bytes) -> None:
    (folder / "mine.md").write_bytes(text)
    (folder / "mine.txt").write_bytes(text)
    (ben,) = store.list(subject="Ben Low")
    store.erase(ben.id)
    done = write_notes(store, folder)
    assert done.keeping_erased == []
    assert (folder / "mine.md").read_bytes() == text
