"""A project is the same project on several machines, by its repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.places import git

from memstore import projects, repositories, settings
from memstore.sync import project_files
from memstore.sync.places import names
from memstore.sync.places.folder import FolderPlace

DEVICE, OTHER = "a" * 16, "b" * 16


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))


def repository(folder: Path, remote: str = "git@example.com:me/api.git") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", f"first of {folder.name}")
    git(folder, "remote", "add", "origin", remote)
    return folder


def cloned(of: Path, folder: Path, remote: str = "https://example.com/me/api") -> Path:
    git(of.parent, "clone", "-q", str(of), str(folder))
    git(folder, "remote", "set-url", "origin", remote)
    return folder


@pytest.mark.parametrize(
    "remote",
    [
        "git@example.com:me/api.git",
        "ssh://git@example.com:22/me/api.git",
        "https://example.com/me/api",
        "https://token@EXAMPLE.com/me/api.git/",
    ],
)
def test_a_remote_is_the_same_however_it_is_reached(remote: str) -> None:
    assert repositories.plain_address(remote) == "example.com/me/api"


@pytest.mark.process
def test_clones_are_one_repository_and_forks_are_not(tmp_path: Path) -> None:
    first = repository(tmp_path / "work" / "api")
    clone = cloned(first, tmp_path / "src")
    fork = cloned(first, tmp_path / "fork", "https://example.com/you/api")
    other = repository(tmp_path / "other")
    found = [repositories.identity_of(one) for one in (first, clone, fork, other)]
    assert found[0] == found[1]
    assert len({*found}) == 3
    (tmp_path / "plain").mkdir()
    assert repositories.identity_of(tmp_path / "plain") is None


@pytest.mark.process
def test_a_shallow_clone_is_not_taken_for_another_repository(tmp_path: Path) -> None:
    first = repository(tmp_path / "api")
    git(first, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{first}", "shallow")
    assert repositories.identity_of(tmp_path / "shallow") is None


@pytest.mark.process
def test_a_folder_uses_what_another_device_calls_its_repository(tmp_path: Path) -> None:
    folder = repository(tmp_path / "src" / "api")
    assert projects.project_of(folder).namespace == "~/src/api"
    identity = repositories.identity_of(folder)
    assert identity is not None
    twice = project_files.settle({}, {"~/work/api": identity}, {"default"})
    assert twice == ()
    assert projects.project_of(folder).namespace == "~/work/api"
    assert projects.project_of(repository(tmp_path / "web")).namespace == "~/web"


@pytest.mark.process
def test_two_namespaces_that_hold_memories_are_named_and_stay(tmp_path: Path) -> None:
    folder = repository(tmp_path / "src" / "api")
    own = project_files.of_this_machine(["~/src/api", "default"])
    (identity,) = own.values()
    twice = project_files.settle(own, {"~/work/api": identity}, {"~/src/api", "~/work/api"})
    assert twice == (project_files.Twice("~/src/api", "~/work/api", str(folder)),)
    assert projects.project_of(folder).namespace == "~/src/api"
    projects.set_name(folder, "~/work/api")  # as `memstore where --set` does
    own = project_files.of_this_machine(["~/src/api", "~/work/api"])
    assert own == {"~/work/api": identity}
    assert project_files.settle(own, {"~/work/api": identity}, {"~/src/api", "~/work/api"}) == ()


def test_what_a_device_says_of_its_projects_is_read_by_others(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    place = FolderPlace(tmp_path / "place")
    project_files.put(place, place.list(), {"~/work/api": "1f"}, DEVICE, None)
    assert project_files.of_others(place, place.list(), OTHER, None) == {"~/work/api": "1f"}
    assert project_files.of_others(place, place.list(), DEVICE, None) == {}
    tag = place.list()[names.of_projects(DEVICE)].tag
    project_files.put(place, place.list(), {"~/work/api": "1f"}, DEVICE, None)
    assert place.list()[names.of_projects(DEVICE)].tag == tag


@pytest.mark.parametrize("spoiled", [b"", b"[]", b'{"memstore": "projects"}', b"[" * 9999])
def test_a_hostile_file_of_projects_says_nothing(tmp_path: Path, spoiled: bytes) -> None:
    (tmp_path / "place").mkdir()
    place = FolderPlace(tmp_path / "place")
    place.put(names.of_projects(OTHER), spoiled)
    assert project_files.of_others(place, place.list(), DEVICE, None) == {}


@pytest.mark.parametrize("spoiled", ["", "[]", '{"folders": 7}', '{"namespaces": [1]}'])
def test_a_damaged_file_of_repositories_is_as_if_there_were_none(
    tmp_path: Path, spoiled: str
) -> None:
    file = Path(settings.repositories_file())
    file.parent.mkdir()
    file.write_text(spoiled)
    (tmp_path / "api" / ".git").mkdir(parents=True)
    assert projects.project_of(tmp_path / "api").namespace == "~/api"
