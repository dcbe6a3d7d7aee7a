"""Words that are left in the bytes of a file, of what belongs to it, and of its copies."""

from __future__ import annotations

import gzip
import json
import os
import unicodedata
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from memstore.domain.arguments import MAX_NAME, checked_items, checked_text
from memstore.domain.erasures import Remains
from memstore.errors import InvalidArgument, StorageError
from memstore.file import copies
from memstore.text.folding import folded, subject_key
from memstore.text.words import segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from memstore.database.engine import Engine, Progress


UTF_16: Final = ("utf-16-le", "utf-16-be")
"""SQLite keeps the texts of a file that was begun in one of these in it."""


def forms(word: str) -> dict[bytes, str]:
    """Return each form of a word with its name; the word itself is first."""
    found: dict[bytes, str] = {}
    for name, text in _spellings(word):
        found.setdefault(text.encode(), name)
    for name, text in _spellings(word):
        for encoding in UTF_16:
            found.setdefault(text.encode(encoding), f"{name}, in {encoding.upper()}")
    return {form: name for form, name in found.items() if form.strip(b"\x00 ")}


def _spellings(word: str) -> Iterator[tuple[str, str]]:
    yield "as it is", word
    for form in ("NFC", "NFD"):
        yield "in another normal form", unicodedata.normalize(form, word)
    for text in (subject_key(word), folded(word), word.lower(), word.casefold()):
        yield "in lower case", text
    if (cut := segments(word)) is not None:
        yield "cut into characters", cut
    for text in (word, unicodedata.normalize("NFC", word)):
        for is_ascii in (False, True):
            once = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
            yield "in JSON", once
            yield "in JSON", json.dumps(once, ensure_ascii=is_ascii)[1:-1]


READ_BYTES: Final = 1 << 24
"""How much of a file is read at once."""

MIN_CHARACTERS: Final = 3
"""Of a word: shorter ones are in every file by accident."""

GZIP: Final = ".gz"

_kept: list[IO[bytes]] = []
"""Files that stay open, because closing them would release the locks of this process."""


def remains(
    engine: Engine,
    words: Iterable[str],
    folder: Path | None = None,
    progress: Progress | None = None,
) -> list[Remains]:
    """Return where any of these words is left, file by file.

    Args:
        engine: the engine of the file.
        words: the words, as they were written.
        folder: another folder with backups of the file.
        progress: called with the number of files read and the total.
    """
    wanted = [checked_text(one, "words", MAX_NAME) for one in checked_items(words, "words")]
    if not wanted:
        raise InvalidArgument("names no word", argument="words")
    for one in wanted:
        if len(one.strip()) < MIN_CHARACTERS:
            raise InvalidArgument(
                f"must have {MIN_CHARACTERS} characters or more, not {one!r}", argument="words"
            )
    if engine.is_remote:
        raise StorageError(f"the files of the server of {engine.path} cannot be read from here")
    files = _files(engine, folder)
    found = [*_in_index(engine, wanted)]
    for number, (path, kind) in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        found += _in_file(engine, path, kind, wanted)
    return found


def _files(engine: Engine, folder: Path | None) -> list[tuple[str, str]]:
    """Return every file that may hold texts of the database, and what each is."""
    if engine.derived_path is None:
        return []  # in memory
    path = os.path.realpath(engine.path)
    found = dict.fromkeys(copies.known(engine.path, folder), "copy")
    for one in sorted(Path(path).parent.glob(f"{_escaped(Path(path).name)}*")):
        if one.is_file():
            found.setdefault(str(one), _kind(str(one).removeprefix(path)))
    return sorted(found.items(), key=lambda one: (one[1] == "copy", one[0]))


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _kind(suffix: str) -> str:
    known = {"": "file", "-wal": "log", "-shm": "shared memory", "-journal": "log"}
    if suffix in known:
        return known[suffix]
    return "index" if suffix.startswith((".facts-", ".episodes-")) else "file beside it"


def _in_index(engine: Engine, words: Sequence[str]) -> Iterator[Remains]:
    """Yield the words that a full-text index has, though no row has them any more."""
    with engine.read() as transaction:
        tokens = dict(zip(words, transaction.tokens(words), strict=True))
        every = {token for some in tokens.values() for token in some}
        for index in transaction.full_text:
            stray = index.stray(transaction, every)
            for word in words:
                if not stray.isdisjoint(tokens[word]):
                    yield Remains(
                        word=word,
                        path=engine.path,
                        kind="word index",
                        form="as a token",
                        number=1,
                        first=None,
                    )


def _in_file(engine: Engine, path: str, kind: str, words: Sequence[str]) -> Iterator[Remains]:
    texts: dict[bytes, tuple[str, str]] = {}
    for word in words:
        for text, form in forms(word).items():
            texts.setdefault(text, (word, form))
    try:
        with _opened(engine, path) as file:
            places = _places(file, texts)
            for text, at in engine.divided(file, texts.keys()):
                places.setdefault(text, []).append(at)
    except FileNotFoundError:
        return  # the last program that used it has removed it
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(f"{path!r} cannot be read: {why}") from error
    for text, found in places.items():
        word, form = texts[text]
        yield Remains(
            word=word, path=path, kind=kind, form=form, number=len(found), first=min(found)
        )


@contextmanager
def _opened(engine: Engine, path: str) -> Iterator[IO[bytes]]:
    if path.endswith(GZIP):
        with gzip.open(path) as unpacked:
            yield cast("IO[bytes]", unpacked)
        return
    file = open(path, "rb")  # noqa: SIM115 - it may have to stay open
    if engine.locks == "process" and path.startswith(os.path.realpath(engine.path)):
        _kept.append(file)
        yield file
        return
    with file:
        yield file


def _places(file: IO[bytes], texts: Collection[bytes]) -> dict[bytes, list[int]]:
    """Return the places of each text that a file has."""
    longest = max(map(len, texts))
    found: dict[bytes, list[int]] = {}
    tail, start = b"", 0
    while part := file.read(READ_BYTES):
        content = tail + part
        for text in texts:
            at = content.find(text)
            while at >= 0:
                if at + len(text) > len(tail):  # else it was found before
                    found.setdefault(text, []).append(start - len(tail) + at)
                at = content.find(text, at + 1)
        start += len(part)
        tail = content[-(longest - 1) :] if longest > 1 else b""
    return found
