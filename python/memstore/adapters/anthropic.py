"""Claude's memory tool on a memory: a file is a fact under an external key, its path.

======================  ===========================================================================
memory tool             memory
======================  ===========================================================================
file                    fact: path = ``external_key`` and subject, text = ``content``
directory               fact under its path and ``/``, so that an empty one stays, as on a disk
edit                    the next fact of the file's chain
delete                  tombstones, which undo brings back
rename                  the old paths are deleted, the new ones put
command                 one transaction, decided by what it has read (:meth:`Store.keys.change`)
======================  ===========================================================================

Answers and errors are word for word those of the SDK's ``BetaLocalFilesystemMemoryTool``.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from memstore.adapters.frameworks import FRAMEWORKS
from memstore.adapters.opened import Opened
from memstore.adapters.values import check_json, from_json, to_json
from memstore.adapters.waiting import finished
from memstore.domain.arguments import MAX_NAME, fits_a_fact
from memstore.domain.records import NewFact
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.facts.keyed import DeleteKey
from memstore.frozen import frozen

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ImportError as error:
    raise FRAMEWORKS["anthropic"].missing(__name__) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from memstore.adapters.opened import StoreOrPath
    from memstore.domain.records import Fact, Scope

    Found = Mapping[str, Fact]

T = TypeVar("T")

ROOT: Final = "/memories"

DIRECTORY_SIZE: Final = "4K"
"""The size of a small directory on most disks, which the SDK's version shows."""

MAX_LINES: Final = 999_999

BLANK_OR_NUL: Final = {"encoding": "json"}
"""Metadata of a file whose text facts cannot have as it is: it is written as JSON."""


@frozen
class Version:
    """A text that a file has or had."""

    id: int
    """The fact that holds it."""
    text: str
    created_at: datetime
    is_current: bool


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool, for ``client.beta.messages.tool_runner(tools=[…])``.

    Args:
        store: an open store, or the path or URL of a memory, which :meth:`close` then closes.
        namespace: the namespace of the files; by default the store's.
        scope: the owners of the files, such as one user; by default those of the store.
        searched: whether searches of the memory find the files, too; files of more than 1,000,000
            characters never are.
        cache_control: as the SDK has it.
    """

    def __init__(
        self,
        store: StoreOrPath,
        *,
        namespace: str | None = None,
        scope: Scope | None = None,
        searched: bool = False,
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tree = Tree(Opened(store, "anthropic", namespace, scope=scope), searched)

    def view(self, command: Any) -> str:
        return _refusing(self._tree.view, command)

    def create(self, command: Any) -> str:
        return _refusing(self._tree.create, command)

    def str_replace(self, command: Any) -> str:
        return _refusing(self._tree.str_replace, command)

    def insert(self, command: Any) -> str:
        return _refusing(self._tree.insert, command)

    def delete(self, command: Any) -> str:
        return _refusing(self._tree.delete, command)

    def rename(self, command: Any) -> str:
        return _refusing(self._tree.rename, command)

    def clear_all_memory(self) -> str:
        """Delete every file; undo brings them back."""
        return self._tree.clear()

    def history(self, path: str) -> list[Version]:
        """Return every text that the path had, oldest first, without those that were erased."""
        return _refusing(self._tree.history, path)

    def restore(self, path: str, version_id: int | None = None) -> Version:
        """Give a file an earlier text again, as a new version; a deleted file, too.

        Args:
            path: the path of the file.
            version_id: the version; by default the last one that is not current.

        Raises:
            ToolError: there is no such version, or a directory has the path.
        """
        return _refusing(self._tree.restore, path, version_id)

    def close(self) -> None:
        """Close the memory, if it was opened from a path."""
        self._tree.close()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for asynchronous clients; see :class:`MemoryTool`.

    Commands run in threads. A cancelled one ends first.
    """

    def __init__(
        self,
        store: StoreOrPath,
        *,
        namespace: str | None = None,
        scope: Scope | None = None,
        searched: bool = False,
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._blocking = MemoryTool(store, namespace=namespace, scope=scope, searched=searched)

    view = finished(MemoryTool.view)
    create = finished(MemoryTool.create)
    str_replace = finished(MemoryTool.str_replace)
    insert = finished(MemoryTool.insert)
    delete = finished(MemoryTool.delete)
    rename = finished(MemoryTool.rename)
    clear_all_memory = finished(MemoryTool.clear_all_memory)
    history = finished(MemoryTool.history)
    restore = finished(MemoryTool.restore)
    close = finished(MemoryTool.close)


def _refusing(call: Callable[..., T], *args: Any) -> T:
    """Run a command; what the memory cannot store becomes an error of the tool."""
    try:
        return call(*args)
    except (InvalidArgument, InvalidArgumentType) as refused:
        raise ToolError(str(refused)) from refused


class Tree:
    """Files and directories as facts under external keys."""

    def __init__(self, opened: Opened, searched: bool) -> None:
        self._store = opened.owned
        self.close = opened.close
        self._searched = searched

    # -- commands --------------------------------------------------------------------------

    def view(self, command: Any) -> str:
        path = _path(command, "path")
        fact = self._store.keys.get(path)
        found = {path: fact} if fact is not None else self._beneath(path)
        if path in found:
            return _shown(command, _text_of(found[path]))
        if not _is_directory(found, path):
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        listed = "".join(f"\n{size}\t{command.path}{name}" for name, size in _entries(found, path))
        return (
            "Here're the files and directories up to 2 levels deep in "
            f"{command.path}, excluding hidden items:{listed}"
        )

    def create(self, command: Any) -> str:
        path, text = _path(command, "path"), _given_text(command, "file_text")

        def decide(found: Found) -> Iterator[NewFact]:
            if path in found or _is_directory(found, path):
                raise ToolError(f"File {command.path} already exists")
            yield from self._parents(found, path, command.path)
            yield self._file(path, text)

        self._change(decide, path, beneath=path)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        old, new = _given_text(command, "old_str"), _given_text(command, "new_str")
        line = 0

        def replaced(text: str) -> str:
            nonlocal line
            if text.count(old) != 1:
                raise ToolError(_not_replaced(command, text, old))
            line = text[: text.find(old)].count("\n")
            return text.replace(old, new)

        lines = self._edit(command, replaced).split("\n")
        first = max(0, line - 2)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{_numbered(lines[first : line + 3], first)}"
        )

    def insert(self, command: Any) -> str:
        inserted = _given_text(command, "insert_text")
        number = getattr(command, "insert_line", None)
        if not isinstance(number, int):
            raise ToolError(f"`insert_line` must be a whole number, not {number!r}")

        def with_it(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= number <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {number}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(number, inserted.rstrip("\n"))
            return "\n".join(lines).removesuffix("\n") + "\n"

        self._edit(command, with_it)
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        path = _path(command, "path")
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")

        def decide(found: Found) -> Iterable[DeleteKey]:
            if not found:
                raise ToolError(f"The path {command.path} does not exist")
            return self._deleted(found)

        self._change(decide, beneath=path)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        old, new = _path(command, "old_path"), _path(command, "new_path")
        if old == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")

        def decide(found: Found) -> Iterator[NewFact | DeleteKey]:
            moved = {key: fact for key, fact in found.items() if _is_in(key, old)}
            if new in found or _is_directory(found, new):
                raise ToolError(f"The destination {command.new_path} already exists")
            if not moved:
                raise ToolError(f"The path {command.old_path} does not exist")
            if _is_in(new, old):
                raise ToolError(f"Cannot move {command.old_path} into itself: {command.new_path}")
            yield from self._parents(found, new, command.new_path)
            for key, fact in moved.items():
                yield self._kept(new + key.removeprefix(old), fact)
            yield from self._deleted(moved)

        self._change(decide, new, beneath=old)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> str:
        self._change(self._deleted, beneath=ROOT)
        return "All memory cleared"

    # -- versions --------------------------------------------------------------------------

    def history(self, path: str) -> list[Version]:
        return [
            _version(fact)
            for fact in self._store.history(external_key=_resolved(path))
            if fact.status != "erased"
        ]

    def restore(self, path: str, version_id: int | None) -> Version:
        key = _resolved(path)
        wanted = [
            version
            for version in self.history(path)
            if (not version.is_current if version_id is None else version.id == version_id)
        ]
        if not wanted:
            raise ToolError(f"The path {path} has no such version")

        def decide(found: Found) -> Iterator[NewFact]:
            if key not in found and _is_directory(found, key):
                raise ToolError(f"The path {path} is not a file.")
            yield from self._parents(found, key, path)
            yield self._file(key, wanted[-1].text)

        *_, restored = self._change(decide, key, beneath=key)
        return _version(cast("Fact", restored))

    # -- transactions ----------------------------------------------------------------------

    def _change(
        self,
        decide: Callable[[Found], Iterable[NewFact | DeleteKey]],
        *paths: str,
        beneath: str,
    ) -> list[Fact | None]:
        """Change files by what is at the paths, above them, and at one path and beneath it."""
        return self._store.keys.change(
            lambda found: decide({key: found[key] for key in sorted(found)}),
            external_keys=[beneath, *(key for path in paths for key in _keys_to(path))],
            external_key_prefix=f"{beneath}/",
        )

    def _edit(self, command: Any, changed: Callable[[str], str]) -> str:
        """Change a file's text; return it as it is stored."""
        path = _path(command, "path")

        def decide(found: Found) -> list[NewFact]:
            if path in found:
                return [self._file(path, changed(_text_of(found[path])))]
            if _is_directory(found, path):
                raise ToolError(f"The path {command.path} is not a file.")
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")

        (stored,) = self._change(decide, beneath=path)
        return _text_of(cast("Fact", stored))

    def _beneath(self, path: str) -> Found:
        every = self._store.list(external_key_prefix=path)
        keys = ((str(fact.external_key), fact) for fact in every)
        return {key: fact for key, fact in keys if _is_in(key, path)}

    # -- facts -----------------------------------------------------------------------------

    def _file(self, path: str, text: str) -> NewFact:
        is_plain = bool(text) and not text.isspace() and "\x00" not in text
        return NewFact(
            content=text if is_plain else to_json(text, "text"),
            subject=path,
            category="file",
            metadata=None if is_plain else BLANK_OR_NUL,
            external_key=path,
            unsearched=not (self._searched and is_plain and fits_a_fact(text)),
        )

    def _kept(self, key: str, fact: Fact) -> NewFact:
        _check_length(key)
        return self._directory(key) if key.endswith("/") else self._file(key, _text_of(fact))

    def _directory(self, key: str) -> NewFact:
        return NewFact(
            content=key,
            subject=key,
            category="directory",
            external_key=key,
            unsearched=True,
        )

    def _parents(self, found: Found, path: str, given: str) -> Iterator[NewFact]:
        """Yield the directories above a path that do not exist yet."""
        for parent in _above(path):
            if parent in found:
                raise ToolError(f"Cannot create {given}: {parent} is a file")
            if f"{parent}/" not in found:
                yield self._directory(f"{parent}/")

    def _deleted(self, keys: Iterable[str]) -> list[DeleteKey]:
        return [DeleteKey(external_key=key) for key in keys]


# -- paths and keys ------------------------------------------------------------------------


def _path(command: Any, name: str) -> str:
    return _resolved(_given_text(command, name))


def _resolved(given: str) -> str:
    if not f"{given}/".startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {given}")
    path = posixpath.normpath(given)
    if not _is_in(path, ROOT):
        raise ToolError(f"Path {given} would escape {ROOT} directory")
    _check_length(path)
    return path


def _check_length(path: str) -> None:
    if len(path) >= MAX_NAME:
        raise ToolError(f"The path {path} is longer than {MAX_NAME - 1} characters")


def _is_in(key: str, path: str) -> bool:
    return key == path or key.startswith(f"{path}/")


def _is_directory(found: Found, path: str) -> bool:
    return path == ROOT or any(key.startswith(f"{path}/") for key in found)


def _above(path: str) -> list[str]:
    """Return the directories above a path, without the root."""
    places = [place for place, letter in enumerate(path) if letter == "/"]
    return [path[:place] for place in places[2:]]


def _keys_to(path: str) -> Iterator[str]:
    for place in (*_above(path), path):
        yield place
        yield f"{place}/"


def _entries(found: Found, path: str) -> Iterator[tuple[str, str]]:
    """Yield what a listing of a directory shows: names from it on, with sizes."""
    sizes: dict[tuple[str, ...], str] = {(): DIRECTORY_SIZE}
    files = set()
    for key, fact in found.items():
        *parents, name = key.removeprefix(f"{path}/").split("/")
        for depth in range(1, len(parents) + 1):
            sizes[(*parents[:depth],)] = DIRECTORY_SIZE
        if name:
            sizes[(*parents, name)] = _size(len(_text_of(fact).encode()))
            files.add((*parents, name))
    for parts in sorted(sizes):
        if len(parts) <= 2 and not any(part.startswith(".") for part in parts):
            is_inner = bool(parts) and parts not in files
            yield "".join(f"/{part}" for part in parts) + "/" * is_inner, sizes[parts]


# -- texts ---------------------------------------------------------------------------------


def _given_text(command: Any, name: str) -> str:
    text = getattr(command, name, None)
    if not isinstance(text, str):
        raise ToolError(f"`{name}` must be a text, not {text!r}")
    check_json(text, name)
    return text


def _text_of(fact: Fact) -> str:
    return str(from_json(fact.content)) if fact.metadata == BLANK_OR_NUL else fact.content


def _version(fact: Fact) -> Version:
    return Version(fact.id, _text_of(fact), fact.created_at, fact.status == "active")


def _shown(command: Any, text: str) -> str:
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    first, last, part = 0, -1, getattr(command, "view_range", None) or []
    if not isinstance(part, list) or not all(isinstance(number, int) for number in part):
        raise ToolError(f"`view_range` must be two whole numbers, not {part!r}")
    if len(part) == 2:
        first, last = max(1, part[0]) - 1, part[1]
    shown = lines[first : len(lines) if last == -1 else last]
    numbered = _numbered(shown, first)
    return f"Here's the content of {command.path} with line numbers:\n{numbered}"


def _numbered(lines: Iterable[str], skipped: int) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, skipped + 1))


def _not_replaced(command: Any, text: str, old: str) -> str:
    places, place = [], text.find(old)
    while place != -1:
        places.append(text[:place].count("\n") + 1)
        place = text.find(old, place + 1)
    if not places:
        return (
            f"No replacement was performed, old_str `{old}` did not appear verbatim in "
            f"{command.path}."
        )
    return (
        f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
        f"{', '.join(map(str, places))}. Please ensure it is unique"
    )


def _size(count: int) -> str:
    unit = min(max(count.bit_length() - 1, 0) // 10, 3)
    size = count / 1024**unit
    return f"{size:.0f}{'BKMG'[unit]}" if size.is_integer() else f"{size:.1f}{'BKMG'[unit]}"
