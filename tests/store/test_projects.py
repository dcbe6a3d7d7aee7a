"""The namespace of a project: which folder determines it, and the use of `default`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import memstore
from memstore import projects
from memstore.domain import chains
from memstore.errors import Conflict, InvalidArgument, NotFound, StorageError
from memstore.projects import Project, project_of, set_name


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    for name in ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return home


def folder(place: Path, *, repository: bool = False) -> Path:
    place.mkdir(parents=True)
    if repository:
        (place / ".git").mkdir()
    return place


def repository(held: Path) -> Path:
    """Make what git keeps of a repository, without a working tree."""
    for part in ("objects", "refs"):
        folder(held / part)
    (held / "HEAD").write_text("ref: refs/heads/main\n")
    return held


def linked(tree: Path, own: Path) -> Path:
    """Link a folder with what git keeps of it, as ``git worktree add`` does."""
    folder(own)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tree / '.git'}\n")
    (tree / ".git").write_text(f"gitdir: {own}\n")
    return own


def test_all_folders_of_a_repository_are_one_project(home: Path) -> None:
    top = folder(home / "work" / "api", repository=True)
    inside = folder(top / "src" / "deep")
    assert project_of(inside) == Project(top, "~/work/api", "repository")


def test_a_folder_outside_a_repository_is_its_own_project(home: Path, tmp_path: Path) -> None:
    assert project_of(folder(home / "notes")).namespace == "~/notes"
    outside = folder(tmp_path / "srv" / "app")
    assert project_of(outside).namespace == outside.as_posix()


def test_the_home_folder_and_the_root_are_not_projects(home: Path) -> None:
    (home / ".git").mkdir()  # as if the user kept settings in a repository
    assert project_of(home)[1:] == ("default", "none")
    assert project_of(Path(home.anchor))[1:] == ("default", "none")
    assert project_of(folder(home / "notes"))[1:] == ("~/notes", "folder")


def test_all_worktrees_of_a_repository_are_one_project(home: Path) -> None:
    top = folder(home / "api", repository=True)
    linked(folder(home / "other"), top / ".git" / "worktrees" / "other")
    assert project_of(home / "other") == Project(top, "~/api", "repository")


def test_a_working_tree_that_was_moved_stays_in_its_project(home: Path) -> None:
    top = folder(home / "api", repository=True)
    linked(folder(home / "other"), top / ".git" / "worktrees" / "other")
    (home / "other").rename(home / "moved")
    assert project_of(home / "moved").folder == top


@pytest.mark.parametrize(
    ("bare", "names", "root"),
    [
        pytest.param("shop/.bare", True, "shop", id="hidden, named by a file .git"),
        pytest.param("shop/.bare", False, "shop", id="hidden"),
        pytest.param("shop/store", True, "shop", id="named by a file .git"),
        pytest.param("shop.git", False, "shop.git", id="beside its trees"),
    ],
)
def test_the_working_trees_of_a_bare_repository_are_one_project(
    home: Path, bare: str, names: bool, root: str
) -> None:
    held = repository(home / bare)
    if names:
        (held.parent / ".git").write_text(f"gitdir: ./{held.name}\n")
    for tree in ("shop/main", "elsewhere/dev", f"{bare}/below"):
        linked(folder(home / tree), held / "worktrees" / tree.replace("/", "-"))
        assert project_of(folder(home / tree / "deep")).folder == home / root
    assert project_of(held / "refs").folder == home / root


def test_a_bare_repository_in_the_home_folder_is_a_project(home: Path) -> None:
    held = repository(home / ".dotfiles")
    linked(folder(home / "dots"), held / "worktrees" / "dots")
    assert project_of(home / "dots").folder == project_of(held).folder == held


def test_the_working_trees_of_a_submodule_are_one_project(home: Path) -> None:
    top = folder(home / "api", repository=True)
    held = repository(top / ".git" / "modules" / ".part")
    (held / "config").write_text("[core]\n\tworktree = ../../../part\n")
    (folder(top / "part") / ".git").write_text("gitdir: ../.git/modules/.part\n")
    linked(folder(home / "part-dev"), held / "worktrees" / "part-dev")
    own = linked(folder(home / "api-dev"), top / ".git" / "worktrees" / "api-dev")
    repository(own / "modules" / ".part")
    (folder(home / "api-dev" / "part") / ".git").write_text(f"gitdir: {own}/modules/.part\n")
    again = own / "modules" / ".part"  # the submodule of the linked tree has one, too
    (again / "config").write_text(f"[core]\n\tworktree = {home}/api-dev/part\n")
    linked(folder(home / "part-too"), again / "worktrees" / "part-too")
    for tree in (top / "part", home / "part-dev", home / "api-dev" / "part", home / "part-too"):
        assert project_of(tree) == Project(top / "part", "~/api/part", "repository")


def test_a_downloaded_folder_cannot_join_the_project_of_another(home: Path) -> None:
    top = folder(home / "api", repository=True)
    linked(folder(home / "api-dev"), top / ".git" / "worktrees" / "api-dev")
    names = folder(home / "names-a-tree")
    (names / ".git").write_text(f"gitdir: {top}/.git/worktrees/api-dev\n")
    claims = folder(home / "claims-to-be-one")
    (linked(claims, claims / "own") / "commondir").write_text(str(top / ".git"))
    has = repository(folder(home / "has-a-repository") / "x")
    (has / "config").write_text(f"[core]\nworktree = {top}\n")
    linked(has.parent, has / "worktrees" / "x")
    inside = folder(home / "inside-a-module")
    (inside / ".git").write_text(f"gitdir: {top}/.git/worktrees/api-dev/modules/x\n")
    for tree in (names, claims, has.parent, inside):
        assert project_of(tree).folder.is_relative_to(tree)


def test_a_submodule_is_a_project_of_its_own(home: Path) -> None:
    part = folder(folder(home / "api", repository=True) / "part")
    (part / ".git").write_text("gitdir: ../.git/modules/part\n")
    assert project_of(part).namespace == "~/api/part"


def test_name_of_the_nearest_parent_folder_takes_precedence(home: Path) -> None:
    top = folder(home / "work" / "api", repository=True)
    set_name(home / "work", "acme")
    assert project_of(top) == Project(home / "work", "acme", "named")
    set_name(top, "acme-api")
    assert project_of(top).namespace == "acme-api"
    set_name(top, None)
    set_name(home / "work", None)
    assert project_of(top).rule == "repository"


@pytest.mark.parametrize("name", ["", "  ", "all", "auto"])
def test_an_invalid_namespace_name_is_refused(home: Path, name: str) -> None:
    with pytest.raises(InvalidArgument):
        set_name(home / "x", name)
    assert projects.named() == {}


def test_damaged_project_names_are_an_error_that_names_the_file(home: Path, tmp_path: Path) -> None:
    set_name(home / "x", "x")
    [file] = tmp_path.rglob("projects.json")
    for damage in ("{", "[]", "7", " " * (projects.MAX_NAMES_BYTES + 1)):
        file.write_text(damage)
        with pytest.raises(StorageError, match=r"projects\.json"):
            project_of(home / "x")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_in_the_place_of_the_project_names_blocks_nothing(
    home: Path, tmp_path: Path
) -> None:
    set_name(home / "x", "x")
    [file] = tmp_path.rglob("projects.json")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(StorageError, match="regular file"):
        project_of(home / "x")


def test_the_host_names_the_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = folder(home / "there")
    monkeypatch.chdir(folder(home / "here"))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(there))
    assert project_of().namespace == "~/there"
    monkeypatch.setenv(
        "MEMSTORE_PROJECT", "${workspaceFolder}"
    )  # a placeholder that the host did not replace
    assert project_of().namespace == "~/there"
    monkeypatch.setenv("MEMSTORE_PROJECT", str(home / "here"))
    assert project_of().namespace == "~/here"


@pytest.fixture
def store(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> memstore.Store:
    monkeypatch.chdir(folder(home / "api", repository=True))
    with memstore.open(tmp_path / "memory.db", namespace="auto", source="test") as store:
        yield store


def test_facts_about_the_user_are_stored_in_default(store: memstore.Store) -> None:
    tea = store.add("Alice prefers tea", subject="alice", category="preference")
    build = store.add("make builds it", subject="api", category="project")
    assert (tea.namespace, build.namespace) == ("default", "~/api")
    assert [fact.namespace for fact in store.within("default").list()] == ["default"]
    with memstore.open(store.path, namespace="~/other", source="test") as other:
        assert other.search("make builds tea") == []


def test_facts_of_an_episode_are_stored_in_its_namespace(store: memstore.Store) -> None:
    said = store.episodes.add("I prefer tea", source="chat", thread="a")
    tea = store.add("Alice prefers tea", subject="a", category="preference", episode_id=said.id)
    assert (tea.namespace, tea.thread, tea.seq) == ("~/api", "a", 1)


def test_search_list_count_and_tasks_read_both(store: memstore.Store) -> None:
    shared, own = store.within("default"), store.within("~/api")
    ids = {s.add(f"tea {n}", subject="x").id for n, s in enumerate((shared, own))}
    assert {hit.fact.id for hit in store.search("tea")} == ids
    assert {fact.id for fact in store.list()} == ids
    assert store.count() == 2
    assert store.exists("tea 0", subject="x")
    assert {fact.id for fact in store.history(subject="x")} == ids
    tasks = {s.tasks.create(f"call {n}").id for n, s in enumerate((shared, own))}
    assert {task.id for task in store.tasks.list(surface="startup")} == tasks
    for task in tasks:
        assert store.tasks.update(task, "completed").status == "completed"
    assert store.searches.note_use(ids) == 2


def test_a_correction_is_stored_where_the_fact_is(store: memstore.Store) -> None:
    old = store.within("default").add("Alice uses vim", subject="alice", category="note")
    new = store.add("Alice uses helix", subject="alice", category="note", supersedes=old.id)
    assert new.namespace == "default"
    assert [fact.id for fact in store.history(old.id)] == [old.id, new.id]
    assert store.confirm(new.id).confirmed_count == 1
    assert store.update_metadata(new.id, {"a": 1}).metadata == {"a": 1}
    assert chains.older(store.history(new.id), new.id) == store.get(old.id)
    assert store.reinstate(old.id).namespace == "default"
    assert store.delete(new.id).deleted_at is not None
    assert store.restore(new.id).id == new.id
    assert {line.fact_id for line in store.ledger.journal(new.id)} == {old.id, new.id}
    with pytest.raises(NotFound):  # the two are in different namespaces
        store.supersede(new.id, store.add("x", subject="alice").id)
    store.erase(new.id)
    with pytest.raises(NotFound):
        store.get(new.id)


def test_facts_for_both_are_stored_together_or_not_at_all(store: memstore.Store) -> None:
    facts = [
        {"content": "one", "subject": "a"},
        {"content": "two", "subject": "a", "category": "identity"},
        {"content": "three", "subject": "a"},
    ]
    assert [f.namespace for f in store.add_many(facts)] == ["~/api", "default", "~/api"]
    assert [f.content for f in store.list()] == ["one", "two", "three"]
    with pytest.raises(Conflict):
        store.add_many([{"content": "four", "subject": "a"}, facts[1] | {"supersedes": 1}] * 2)
    assert store.count() == 3


def test_learning_compares_only_with_the_project(store: memstore.Store) -> None:
    store.within("default").add("Ana drinks tea", subject="ana", category="preference")
    assert store.alone.count() == 0
    assert store.alone.alone.namespace == "~/api"
    memory = memstore.Memory(store)
    [event] = memory.add("I like tea", infer=False)
    assert store.get(event["id"]).namespace == "~/api"


def test_auto_is_not_a_namespace_name(store: memstore.Store) -> None:
    with pytest.raises(InvalidArgument, match="auto"):
        store.within("auto")


def test_a_correction_of_a_shared_fact_keeps_the_thread_of_its_episode(
    store: memstore.Store,
) -> None:
    said = store.episodes.add("tabs now", source="chat", thread="a", valid_at="2026-03-02")
    spaces = store.add("Alice prefers spaces", subject="alice", category="preference")
    tabs = store.add(
        "Alice prefers tabs",
        subject="alice",
        category="preference",
        supersedes=spaces.id,
        episode_id=said.id,
    )
    assert (tabs.namespace, tabs.episode_id) == ("default", None)
    assert (tabs.thread, tabs.seq, tabs.valid_at) == ("a", said.seq, said.valid_at)
