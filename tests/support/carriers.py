"""How devices of a history reach their place: a shelf, a sealed one, or a repository of git."""

from __future__ import annotations

import random
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from unittest import mock

from tests.support.places import git, repository
from tests.support.syncing import Killed, Shelf, device_of, sync

from memstore import Store, SyncError
from memstore.errors import NotFound, Remedy
from memstore.file import syncing
from memstore.sync import remembered, sealing, segments
from memstore.sync import status as statuses
from memstore.sync.places import OtherKey, names
from memstore.sync.places.git import REMOTE_REF, GitPlace
from memstore.sync.places.names import Named
from memstore.sync.remembered import Remembered
from memstore.sync.segments import Segment

CHEAP = sealing.Cost(memory_kib=64, passes=1, lanes=1)


class Carrier(Protocol):
    """A place, as the devices of one history reach it."""

    shares_trust: bool
    """Whether it can travel how much sources count."""

    def __init__(self, folder: Path) -> None: ...

    def sync(
        self,
        store: Store,
        *,
        namespaces: Collection[str] | None,
        rnd: random.Random | None = None,
        lives: int | None = None,
        trust: bool = False,
    ) -> None:
        """Let a device meet the others.

        Args:
            namespaces: those that travel; ``None`` for all.
            rnd: spoils what the device sees; ``None`` if all is as it was written.
            lives: after how many steps the process is killed.
            trust: whether it travels how much sources count, where that can.
        """

    def leave(self, store: Store) -> None:
        """Let a file be no device any more."""

    def change_key(self, store: Store) -> None:
        """Give the place a new key, if it is sealed."""

    def lose(self) -> None:
        """Lose all that lies in the place."""

    @property
    def mark(self) -> object:
        """What is another one when anything was written."""

    def lines(self, stores: list[Store]) -> Iterator[tuple[Named, Segment]]:
        """Yield the files of lines that any of the devices can read."""

    def rest(self, stores: list[Store]) -> bytes:
        """Return all that else is kept of what was once in the place."""


class OnShelf:
    """The devices run the exchange itself; files come late, cut, or with other hashes."""

    shares_trust = False

    def __init__(self, folder: Path) -> None:
        self.shelf = Shelf()

    def sync(
        self,
        store: Store,
        *,
        namespaces: Collection[str] | None,
        rnd: random.Random | None = None,
        lives: int | None = None,
        trust: bool = False,
    ) -> None:
        view = self.shelf.view(rnd).own(device_of(store))
        view.lives = lives
        sync(store, view, namespaces=namespaces)

    def leave(self, store: Store) -> None:
        statuses.leave(store.file.engine)

    def change_key(self, store: Store) -> None:
        pass

    def lose(self) -> None:
        self.shelf.versions.clear()

    @property
    def mark(self) -> object:
        return sum(len(versions) for versions in self.shelf.versions.values())

    def lines(self, stores: list[Store]) -> Iterator[tuple[Named, Segment]]:
        yield from _lines(self.shelf.files)

    def rest(self, stores: list[Store]) -> bytes:
        return b""


class Sealed(OnShelf):
    """The devices run what a person runs, with passphrases, so that trust travels, too."""

    shares_trust = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.phrases: list[str] = []
        """All that were ever chosen; a person tries one after the other."""

    def sync(
        self,
        store: Store,
        *,
        namespaces: Collection[str] | None,
        rnd: random.Random | None = None,
        lives: int | None = None,
        trust: bool = False,
    ) -> None:
        state = remembered.folder_of(store.file.path)
        chosen = remembered.read(state) or Remembered(self.shelf.address)
        chosen = chosen._replace(
            namespaces=None if namespaces is None else tuple(namespaces), trust=trust
        )
        view = self.shelf.view(rnd).own(device_of(store))
        view.lives = lives
        with self._reached(view):
            if not sealing.is_kept(state) and not sealing.is_sealed(view, view.list()):
                phrase = self._new_phrase()
                syncing.sync(store.file, chosen, passphrase=phrase, begin_sealing=True)
                return
            for phrase in (None, *reversed(self.phrases)):
                try:
                    syncing.sync(store.file, chosen, passphrase=phrase)
                except SyncError as error:
                    if error.remedy is not Remedy.SAY_PASSPHRASE and "passphrase" not in error.text:
                        raise
                else:
                    return
        raise SyncError("no passphrase opens the place")

    def leave(self, store: Store) -> None:
        with suppress(NotFound):
            syncing.leave(store.file)

    def change_key(self, store: Store) -> None:
        if remembered.read(remembered.folder_of(store.file.path)) is not None:
            with self._reached(self.shelf.view().own(device_of(store))), suppress(SyncError):
                syncing.new_key(store.file, self._new_phrase())

    def lines(self, stores: list[Store]) -> Iterator[tuple[Named, Segment]]:
        view = self.shelf.view()
        states = [remembered.folder_of(store.file.path) for store in stores]
        seals = [sealing.seal_of(view, [], state=state) for state in states]
        opened = {}
        for name, data in view.seen.items():
            for seal in filter(None, seals if names.read(name) else ()):
                with suppress(OtherKey):
                    opened[name] = seal.open(data, device=name.partition("/")[0], name=name)
        yield from _lines(opened)

    def _new_phrase(self) -> str:
        self.phrases.append(f"passphrase number {len(self.phrases)}")
        return self.phrases[-1]

    @contextmanager
    def _reached(self, view: object) -> Iterator[None]:
        with (
            mock.patch.object(syncing, "place_of", return_value=view),
            mock.patch.object(sealing, "COST", CHEAP),
        ):
            yield


def _lines(files: Mapping[str, bytes]) -> Iterator[tuple[Named, Segment]]:
    for name, data in files.items():
        named = names.read(name)
        if named is not None and not named.is_state:
            yield named, segments.read(data, named)


class MortalPlace(GitPlace):
    """A repository that a device reaches until its process is killed."""

    lives: int | None = None

    def _run(self, *arguments: str, **options: Any) -> bytes:
        if self.lives is not None:
            self.lives -= 1
            if self.lives < 0:
                raise Killed
        return super()._run(*arguments, **options)


class InRepository:
    """The devices run the exchange itself over git, each with a clone of its own."""

    shares_trust = False

    def __init__(self, folder: Path) -> None:
        self.remote = repository(folder / "remote.git")
        self.tips: list[str] = []
        """All that the branch ever was."""

    def sync(
        self,
        store: Store,
        *,
        namespaces: Collection[str] | None,
        rnd: random.Random | None = None,
        lives: int | None = None,
        trust: bool = False,
    ) -> None:
        place = MortalPlace(str(self.remote), self._clone(store))
        place.lives = None if lives is None else lives * 8
        if rnd is not None and self.tips and rnd.random() < 0.1:  # the host restored a backup
            git(self.remote, "update-ref", REMOTE_REF, rnd.choice(self.tips))
        try:
            sync(store, place, namespaces=namespaces)
        finally:
            if (tip := self.mark) and tip not in self.tips:
                self.tips.append(tip)

    def leave(self, store: Store) -> None:
        statuses.leave(store.file.engine)

    def change_key(self, store: Store) -> None:
        pass

    def lose(self) -> None:
        git(self.remote, "update-ref", "-d", REMOTE_REF)

    @property
    def mark(self) -> str:
        return git(self.remote, "for-each-ref", "--format=%(objectname)", REMOTE_REF).strip()

    def lines(self, stores: list[Store]) -> Iterator[tuple[Named, Segment]]:
        place = GitPlace(str(self.remote), self.remote.with_name("reader"))
        yield from _lines({name: place.get(name, most=2**24) for name in place.list()})

    def rest(self, stores: list[Store]) -> bytes:
        git(self.remote, "gc", "-q", "--prune=now")
        held = []
        for folder in (self.remote, *(self._clone(store) for store in stores)):
            said = GitPlace(str(self.remote), folder)._run(
                "cat-file", "--batch-all-objects", "--batch", "--buffer"
            )
            held += _blobs(said)
        return b" ".join(held)

    def _clone(self, store: Store) -> Path:
        return self.remote.with_name(f"clone of {Path(store.path).name}")


def _blobs(objects: bytes) -> Iterator[bytes]:
    """Yield the files among the objects of a repository, lines of devices as text."""
    at = 0
    while at < len(objects):
        head = objects.index(b"\n", at)
        _, kind, size = objects[at:head].split()
        at = head + 1 + int(size) + 1
        if kind == b"blob":
            said, _, lines = objects[head + 1 : at - 1].partition(b"\n")
            try:
                yield said + zlib.decompress(lines)
            except zlib.error:
                yield said + lines
