"""Disk faults and power cuts, with ``rust/faults`` preloaded before the C library."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTOR = 512


class Kind(IntEnum):
    WRITE = 0
    SYNC = 1
    TRUNCATE = 2
    OPEN = 3
    REMOVE = 4
    RENAME = 5


@cache
def library() -> Path:
    """Build the library; skip the test if that is not possible."""
    if sys.platform != "linux":
        pytest.skip("faults are those of Linux")
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo to build rust/faults")
    built = subprocess.run(
        ["cargo", "build", "--quiet", "--locked", "--release", "--package", "memstore-faults"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        pytest.skip(f"rust/faults is not built: {built.stderr.strip().splitlines()[-1]}")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "libfaults.so"


def run(program: str, *arguments: object) -> str:
    """Run a program with the library preloaded, and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=os.environ | {"LD_PRELOAD": str(library())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Call:
    """The change of one call: ``data`` written at ``offset``, a new length, or a new name."""

    kind: Kind
    path: str
    offset: int
    data: bytes


def read_record(file: Path) -> Iterator[Call]:
    told = file.read_bytes()
    at = 0
    while at < len(told):
        kind, length = struct.unpack_from("<BI", told, at)
        at += 5
        path = told[at : at + length].decode()
        at += length
        offset, length = struct.unpack_from("<QI", told, at)
        at += 12
        yield Call(Kind(kind), path, offset, told[at : at + length])
        at += length


@dataclass
class _File:
    """The synced content, and the calls since then, any of which may be on the disk."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[Call] = field(default_factory=list)

    def sync(self) -> None:
        for call in self.pending:
            _apply(self.synced, call)
        self.pending.clear()

    def after_cut(self, chance: random.Random) -> bytes:
        """Return a possible content of the file after a power cut now."""
        found = bytearray(self.synced)
        for call in self.pending:
            match chance.randrange(3):
                case 0:
                    _apply(found, call)
                case 1 if call.kind is Kind.WRITE:
                    for part in _sectors(call):
                        if chance.random() < 0.5:
                            _apply(found, part)
        return bytes(found)


def _apply(content: bytearray, call: Call) -> None:
    if call.kind is Kind.TRUNCATE:
        del content[call.offset :]
        content.extend(bytes(call.offset - len(content)))
    else:
        content.extend(bytes(max(0, call.offset - len(content))))
        content[call.offset : call.offset + len(call.data)] = call.data


def _sectors(call: Call) -> Iterator[Call]:
    start = 0
    while start < len(call.data):
        stop = start + SECTOR - (call.offset + start) % SECTOR
        yield Call(call.kind, call.path, call.offset + start, call.data[start:stop])
        start = stop


class Disk:
    """A folder on a disk: unsynced data may be there completely, in part, or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._files: dict[str, _File] = {}
        self._named: dict[str, _File] = {}
        """The names that are certain to be on the disk."""
        self._renamings: list[dict[str, _File]] = []
        """The names after each change of them since then."""

    def do(self, call: Call) -> None:
        match call.kind:
            case Kind.WRITE | Kind.TRUNCATE if call.path in self._files:
                self._files[call.path].pending.append(call)
            case Kind.SYNC if call.path == self._folder:
                self._named = dict(self._files)
                self._renamings.clear()
            case Kind.SYNC:
                self._files[call.path].sync()
            case Kind.OPEN:
                self._files[call.path] = _File()
                self._renamings.append(dict(self._files))
            case Kind.REMOVE:
                del self._files[call.path]
                self._renamings.append(dict(self._files))
            case Kind.RENAME:
                self._files[call.data.decode()] = self._files.pop(call.path)
                self._renamings.append(dict(self._files))

    def cut_power(self, target: Path, chance: random.Random) -> None:
        """Write a possible state after a power cut into a new folder."""
        target.mkdir()
        names = chance.choice([self._named, *self._renamings])
        for name, file in names.items():
            target.joinpath(os.path.relpath(name, self._folder)).write_bytes(file.after_cut(chance))
