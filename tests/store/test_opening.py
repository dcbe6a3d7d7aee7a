"""The arguments of `memstore.open`."""

from __future__ import annotations

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

import memstore
from memstore.database.sqlite import copying
from memstore.errors import Remedy
from memstore.file import paths

PRAGMA = {1: "normal", 2: "full"}


@pytest.mark.usefixtures("synced")
@pytest.mark.parametrize(
    ("given", "durability"),
    [
        ({}, "full"),
        ({"durability": "full"}, "full"),
        ({"durability": "normal"}, "normal"),
        ({"synchronous": "FULL"}, "full"),
        ({"synchronous": "NORMAL"}, "normal"),
        ({"synchronous": "NORMAL", "durability": "normal"}, "normal"),
    ],
)
def test_durability_has_two_names(path: Path, given: dict[str, str], durability: str) -> None:
    with memstore.open(path, embedder=None, **given) as store:  # type: ignore[arg-type]
        assert store.status().durability == durability
        with store.file.engine.write() as transaction:
            assert PRAGMA[transaction.scalar("PRAGMA synchronous")] == durability


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"durability": "FULL"}, "durability must be full or normal, not 'FULL'"),
        ({"synchronous": "full"}, "synchronous must be FULL or NORMAL, not 'full'"),
        (
            {"synchronous": "FULL", "durability": "normal"},
            "synchronous 'FULL' contradicts durability 'normal'",
        ),
    ],
)
def test_invalid_values_are_refused(path: Path, given: dict[str, str], message: str) -> None:
    with pytest.raises(memstore.InvalidArgument) as caught:
        memstore.open(path, embedder=None, **given)  # type: ignore[arg-type]
    assert str(caught.value) == message
    assert not path.exists()


def test_a_missing_file_is_not_created_without_create(path: Path) -> None:
    missing = path.with_name("missing.db")
    with pytest.raises(memstore.StorageError, match=r"'.*missing\.db' does not exist") as caught:
        memstore.open(missing, create=False, embedder=None)
    assert caught.value.remedy is Remedy.CREATE_FILE
    assert not missing.exists()
    memstore.open(missing, embedder=None).close()
    memstore.open(missing, create=False, embedder=None).close()


@pytest.mark.parametrize(
    ("address", "scheme"),
    [
        ("mysql://ana:secret@host/db", "mysql"),
        ("sqlite:///memory.db", "sqlite"),
        ("FILE:///tmp/memory.db", "file"),
        ("file:memory.db?mode=memory", "file"),
        ("s3+x.y-z://bucket/key", "s3+x.y-z"),
        (Path("postgresql://host/db"), "postgresql"),
    ],
)
def test_a_url_is_refused_and_its_scheme_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str | Path, scheme: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(memstore.InvalidArgument) as caught:
        memstore.open(address, embedder=None)
    assert str(caught.value).startswith(f"path is a URL with the scheme {scheme!r}")
    assert "secret" not in str(caught.value)
    assert caught.value.remedy is Remedy.NAME_FILE
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgres://ana@host/db?sslmode=require", "postgres://ana@host/db?sslmode=require"),
        ("postgresql://ana:se:cr?et@host:5/db", "postgresql://ana@host:5/db"),
        ("postgresql://:secret@host/db", "postgresql://@host/db"),
        ("postgresql://host/db?user=ana&password=secret", "postgresql://host/db?user=ana"),
        ("postgresql://host/db?p%61ssword=secret", "postgresql://host/db"),
        ("postgresql://ana:secret@/db?host=/run&sslpassword=x", "postgresql://ana@/db?host=/run"),
        ("postgresql://[::1]:5/db", "postgresql://[::1]:5/db"),
        ("postgresql://one:1,two:2/db", "postgresql://one:1,two:2/db"),
    ],
)
def test_an_address_is_shown_without_its_passwords(url: str, shown: str) -> None:
    assert paths.without_secrets(url) == shown


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", ["a:b.db", "C:/memory.db", "c://memory.db"])
def test_a_name_that_is_not_a_url_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    memstore.open(name, embedder=None).close()
    assert Path(name).is_file()


def test_the_names_of_new_folders_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(copying, "sync", synced.append)
    memstore.open(tmp_path / "one" / "two" / "memory.db", embedder=None).close()
    assert synced == [tmp_path, tmp_path / "one", tmp_path / "one" / "two"]


@pytest.mark.skipif(not hasattr(os, "O_DIRECTORY"), reason="Windows syncs no folders")
def test_folder_that_cannot_be_synced_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    for number, refused in ((errno.EINVAL, [file]), (errno.EIO, [file, tmp_path])):

        def fail(_: int, number: int = number) -> None:
            raise OSError(number, "failed")

        monkeypatch.setattr(os, "fsync", fail)
        for path in (file, tmp_path):
            with nullcontext() if path not in refused else pytest.raises(OSError, match="failed"):
                copying.sync(path)
