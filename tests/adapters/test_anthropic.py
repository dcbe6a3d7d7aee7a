"""Claude's memory tool on a memory, compared with the SDK's tool on a folder."""

from __future__ import annotations

import asyncio
import posixpath
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.racing import race

import memstore
from memstore import AccessDenied, Scope, Store, StoreClosed
from memstore.adapters.frameworks import FRAMEWORKS

pytest.importorskip("anthropic", reason=str(FRAMEWORKS["anthropic"].missing("the adapter")))

import anthropic
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from memstore.adapters.anthropic import AsyncMemoryTool, MemoryTool, ToolError


@pytest.fixture
def store() -> Iterator[Store]:
    with memstore.open(":memory:", embedder=None) as opened:
        yield opened


@pytest.fixture
def tool(store: Store) -> MemoryTool:
    return MemoryTool(store)


def create(tool: MemoryTool, path: str, text: str = "text") -> None:
    tool.call({"command": "create", "path": path, "file_text": text})


def text_at(tool: MemoryTool, path: str) -> str:
    (current,) = (version for version in tool.history(path) if version.is_current)
    return current.text


def answer(tool: Any, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as refused:
        return f"error: {refused}"


# -- the same answers as on a folder ---------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "B", "a.txt", ".h", "é", "e\u0301", "a b"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/memories/" + "/".join(names))
GIVEN = st.one_of(
    *[PATHS] * 6,
    st.sampled_from(
        "/memories /memories/ /memories//a/ /memories/a/../b /memories/./a /tmp/a memories/a"
        " /memories/../a /memories/../memories/a /memories/a/../../x".split()
    ),
)
TEXTS = st.one_of(
    st.text(alphabet="ab\n", max_size=8),
    st.sampled_from([" ", "\n\n", "a\r\nb\r\n", "\x00", "a\x00b\n", "ä\u2028b\x0cb", "💾"]),
)
COMMANDS = st.one_of(
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": GIVEN},
        optional={"view_range": st.lists(st.integers(-3, 6), min_size=1, max_size=3)},
    ),
    *[st.fixed_dictionaries({"command": st.just("create"), "path": GIVEN, "file_text": TEXTS})] * 2,
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": GIVEN, "old_str": TEXTS, "new_str": TEXTS}
    ),
    st.fixed_dictionaries(
        {
            "command": st.just("insert"),
            "path": GIVEN,
            "insert_line": st.integers(-1, 4),
            "insert_text": TEXTS,
        }
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": GIVEN}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": GIVEN, "new_path": GIVEN}),
)


class Folder:
    """The SDK's tool on a folder of its own, with what differs for a reason evened out."""

    def __init__(self, path: Path) -> None:
        shutil.rmtree(path, ignore_errors=True)
        self._tool = BetaLocalFilesystemMemoryTool(str(path))
        self._root = path / "memories"

    def call(self, command: dict[str, Any]) -> str:
        before = {*self._root.rglob("*")}
        try:
            text = str(self._tool.call(command))
        except ToolError:
            self._remove_new(before)
            raise
        except OSError as error:  # not an error of the tool, there
            self._remove_new(before)
            raise NoToolError from error
        return self._with_equal_sizes(text) if command["command"] == "view" else text

    def _remove_new(self, before: set[Path]) -> None:
        """Remove the directories that a refused command made."""
        for made in sorted({*self._root.rglob("*")} - before, reverse=True):
            made.rmdir()

    def _with_equal_sizes(self, text: str) -> str:
        """Replace the sizes of directories, which depend on the disk."""
        head, *lines = text.split("\n")
        if not head.startswith("Here're the files"):
            return text
        own, *entries = (line.split("\t", 1) for line in lines)
        return "\n".join(
            [head, f"4K\t{own[1]}"]
            + [f"{'4K' if name.endswith('/') else size}\t{name}" for size, name in entries]
        )


IS_OLD = tuple(map(int, anthropic.__version__.split(".")[:2])) < (1, 2)


def differs_in_old(command: dict[str, Any]) -> bool:
    """Whether the SDK before 1.2 may give another answer to a command than the newest, and ours.

    It splits lines at more characters where it inserts, and takes another spelling of the root,
    such as ``/memories/``, for a directory that can be deleted and moved.
    """
    if command["command"] == "insert":
        return True
    path = command.get("old_path", command.get("path", ""))
    return command["command"] in {"delete", "rename"} and posixpath.normpath(path) == "/memories"


class NoToolError(Exception):
    """The folder's tool let an error of the operating system through."""


@given(commands=st.lists(COMMANDS, min_size=1, max_size=50))
@settings(max_examples=examples(20), deadline=None)
def test_any_commands_get_the_answers_of_the_tool_on_a_folder(
    tmp_path_factory: pytest.TempPathFactory, commands: list[dict[str, Any]]
) -> None:
    folder = Folder(tmp_path_factory.getbasetemp() / "folder")
    with memstore.open(":memory:", embedder=None) as store:
        tool = MemoryTool(store)
        for command in commands:
            if IS_OLD and differs_in_old(command):
                continue
            ours = answer(tool, command)
            try:
                assert ours == answer(folder, command)
            except NoToolError:
                assert "into itself" in ours or "is a file" in ours or "not exist" in ours
        assert store.ledger.verify() == []


def test_what_differs_from_a_folder(tool: MemoryTool) -> None:
    create(tool, "/memories/a.txt")
    create(tool, "/memories/dir/b.txt")
    as_folder = {"command": "create", "path": "/memories/a.txt/b/c", "file_text": ""}
    refused = "error: Cannot create /memories/a.txt/b/c: /memories/a.txt is a file"
    assert answer(tool, as_folder) == refused
    into = {"command": "rename", "old_path": "/memories/dir", "new_path": "/memories/dir/x"}
    refused = "error: Cannot move /memories/dir into itself: /memories/dir/x"
    assert answer(tool, into) == refused
    missing = {"command": "rename", "old_path": "/memories/no", "new_path": "/memories/new/x"}
    assert answer(tool, missing) == "error: The path /memories/no does not exist"
    unmade = "error: The path /memories/new does not exist. Please provide a valid path."
    assert answer(tool, {"command": "view", "path": "/memories/new"}) == unmade
    outside = {"command": "view", "path": "/memories-of-others/a"}
    refused = "error: Path must start with /memories, got: /memories-of-others/a"
    assert answer(tool, outside) == refused


@pytest.mark.parametrize(
    "command",
    [
        {"command": "create", "path": "/memories/\ud800", "file_text": ""},
        {"command": "create", "path": "/memories/a\x00", "file_text": ""},
        {"command": "create", "path": "/memories/" + "a" * 490, "file_text": ""},
        {"command": "create", "path": "/memories/a", "file_text": "\udc00"},
        {"command": "create", "path": "/memories/a", "file_text": 7},
        {"command": "create", "path": "/memories/a", "file_text": "x" * (2**24 + 1)},
        {"command": "create", "path": "/memories/a"},
        {"command": "view"},
        {"command": "view", "path": "/memories/kept", "view_range": ["one", 2]},
        {"command": "view", "path": "/memories/kept", "view_range": 7},
        {"command": "insert", "path": "/memories/kept", "insert_line": "one", "insert_text": "x"},
        {"command": "insert", "path": "/memories/kept", "insert_text": "x"},
        {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/" + "b" * 488},
    ],
)
def test_what_cannot_be_kept_is_an_error_of_the_tool(
    store: Store, tool: MemoryTool, command: dict[str, Any]
) -> None:
    create(tool, "/memories/kept")
    create(tool, "/memories/d/e")
    before = [*store.list()]
    with pytest.raises(ToolError):
        tool.call(command)
    assert [*store.list()] == before


def test_a_file_may_have_16_mib(tool: MemoryTool) -> None:
    create(tool, "/memories/large", "x" * 2**24)
    assert text_at(tool, "/memories/large") == "x" * 2**24
    assert "16M\t/memories/large" in tool.call({"command": "view", "path": "/memories"})


# -- the memory behind it --------------------------------------------------------------------


def test_a_file_is_a_fact_under_its_path(store: Store, tool: MemoryTool) -> None:
    create(tool, "/memories/notes.txt", "Ana lives in Porto.")
    fact = store.keys.get("/memories/notes.txt")
    assert fact is not None
    assert (fact.content, fact.subject, fact.category) == (
        "Ana lives in Porto.",
        "/memories/notes.txt",
        "file",
    )
    assert [*store.search("Porto")] == []
    assert {act.source for act in store.ledger.log()} == {"anthropic"}


def test_searches_find_the_files_if_they_shall(store: Store) -> None:
    tool = MemoryTool(store, searched=True)
    create(tool, "/memories/notes.txt", "Ana lives in Porto.")
    create(tool, "/memories/long.txt", "Porto\n" * 200_000)
    assert [hit.fact.subject for hit in store.search("Porto")] == ["/memories/notes.txt"]


def test_files_belong_to_their_owners_and_namespace(store: Store, tool: MemoryTool) -> None:
    hers = MemoryTool(store, scope=Scope(user_id="ann"))
    there = MemoryTool(store, namespace="team")
    for text, one in (("ours", tool), ("hers", hers), ("theirs", there)):
        create(one, "/memories/a/b.txt", text)
    hers.clear_all_memory()
    there.call({"command": "delete", "path": "/memories/a"})
    assert text_at(tool, "/memories/a/b.txt") == "ours"
    assert hers.restore("/memories/a/b.txt").text == "hers"
    with pytest.raises(AccessDenied):
        MemoryTool(store.within("team", confined=True), namespace="others")


def test_every_version_can_be_restored(store: Store, tool: MemoryTool) -> None:
    create(tool, "/memories/a/b.txt", "one")
    for old, new in (("one", " "), (" ", "three")):
        tool.call(
            {"command": "str_replace", "path": "/memories/a/b.txt", "old_str": old, "new_str": new}
        )
    first, second, third = tool.history("/memories/a/b.txt")
    assert [first.text, second.text, third.text] == ["one", " ", "three"]
    assert tool.restore("/memories/a/b.txt", first.id).text == "one"
    assert tool.restore("/memories/a/b.txt").text == "three"
    tool.call({"command": "delete", "path": "/memories/a"})
    store.ledger.revert(acts=[store.ledger.log(limit=1)[0].line]).apply()
    assert text_at(tool, "/memories/a/b.txt") == "three"
    tool.clear_all_memory()
    assert tool.restore("/memories/a/b.txt", second.id).is_current
    with pytest.raises(ToolError, match="no such version"):
        tool.restore("/memories/a/b.txt", 12_345)
    tool.call({"command": "delete", "path": "/memories/a"})
    create(tool, "/memories/a/b.txt/c")
    with pytest.raises(ToolError, match="is not a file"):
        tool.restore("/memories/a/b.txt")


def test_a_directory_is_there_while_anything_is_in_it(store: Store, tool: MemoryTool) -> None:
    create(tool, "/memories/a/b.txt")
    store.keys.delete(["/memories/a/"])
    assert tool.call({"command": "view", "path": "/memories/a"}).endswith("4B\t/memories/a/b.txt")
    create(tool, "/memories/a/c.txt")
    assert store.keys.get("/memories/a/") is not None


def test_a_memory_opened_from_a_path_is_closed(tmp_path: Path) -> None:
    tool = MemoryTool(tmp_path / "memory.db")
    create(tool, "/memories/a")
    tool.close()
    with pytest.raises(StoreClosed):
        create(tool, "/memories/b")


def test_the_asynchronous_tool_does_the_same(store: Store, tmp_path: Path) -> None:
    tool, folder = AsyncMemoryTool(store), BetaLocalFilesystemMemoryTool(str(tmp_path))
    path = "/memories/a.txt"
    commands: list[dict[str, Any]] = [
        {"command": "create", "path": path, "file_text": "one\n"},
        {"command": "str_replace", "path": path, "old_str": "one", "new_str": "two"},
        {"command": "insert", "path": path, "insert_line": 1, "insert_text": "three"},
        {"command": "view", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/b.txt"},
        {"command": "delete", "path": "/memories/b.txt"},
    ]

    async def answers() -> list[object]:
        found = [await tool.call(command) for command in commands]
        texts = [version.text for version in await tool.history(path)]
        assert texts == ["one\n", "two\n", "two\nthree\n"]
        assert (await tool.restore(path)).text == texts[-1]
        with pytest.raises(ToolError):
            await tool.call(commands[0])
        assert await tool.clear_all_memory() == folder.clear_all_memory()
        await tool.close()
        return found

    assert asyncio.run(answers()) == [folder.call(command) for command in commands]


def test_the_definition_is_the_sdks(store: Store) -> None:
    control = {"type": "ephemeral"}
    for kind in (MemoryTool, AsyncMemoryTool):
        made = kind(store, cache_control=control).to_dict()
        assert made == {"type": "memory_20250818", "name": "memory", "cache_control": control}


# -- several writers -------------------------------------------------------------------------


def edit(tool: MemoryTool, name: str, number: int) -> None:
    """Insert a line at the top, and count in another one."""
    path = "/memories/shared.txt"
    line = f"{name} {number}"
    tool.call({"command": "insert", "path": path, "insert_line": 0, "insert_text": line})
    old, new = f"<{name}={number}>", f"<{name}={number + 1}>"
    tool.call({"command": "str_replace", "path": path, "old_str": old, "new_str": new})


def check_edits(tool: MemoryTool, times: dict[str, int]) -> None:
    lines = text_at(tool, "/memories/shared.txt").split("\n")
    for name, number in times.items():
        own = [line for line in lines if line.startswith(f"{name} ")]
        assert own == [f"{name} {count}" for count in reversed(range(number))]
        assert f"<{name}={number}>" in lines[-2]


@pytest.mark.parametrize("searched", [False, True])
def test_four_threads_lose_no_edit(store: Store, searched: bool) -> None:
    tool, times = MemoryTool(store, searched=searched), 4
    names = ["w0", "w1", "w2", "w3"]
    create(tool, "/memories/shared.txt", "".join(f"<{name}=0>" for name in names) + "\n")

    def work(name: str) -> None:
        for number in range(times):
            edit(tool, name, number)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_edits(tool, dict.fromkeys(names, times))
    assert len(tool.history("/memories/shared.txt")) == 1 + 2 * 4 * times


WORK = """
import sys
import memstore
from memstore.adapters.anthropic import MemoryTool
from tests.adapters.test_anthropic import edit
tool = MemoryTool(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    edit(tool, sys.argv[2], number)
    print(number, flush=True)
tool.close()
"""


@pytest.mark.process
def test_four_processes_lose_no_edit_and_a_kill_none_that_was_answered(tmp_path: Path) -> None:
    path, times = tmp_path / "memory.db", 4
    names = ["w0", "w1", "w2", "killed"]
    tool = MemoryTool(path)
    create(tool, "/memories/shared.txt", "".join(f"<{name}=0>" for name in names) + "\n")
    workers = ((path, name, 99 if name == "killed" else times) for name in names)
    said = race(WORK, workers, answers=2)
    check_edits(tool, dict.fromkeys(names[:-1], times))
    text = text_at(tool, "/memories/shared.txt")
    counted = int(text.partition("<killed=")[2].partition(">")[0])
    inserted = sum(line.startswith("killed ") for line in text.split("\n"))
    assert len(said) <= counted <= len(said) + 1
    assert counted <= inserted <= counted + 1
    assert tool.history("/memories/shared.txt")[-1].is_current
    tool.close()
    with memstore.open(path, embedder=None) as store:
        assert store.ledger.verify() == []


# -- the page --------------------------------------------------------------------------------


def test_the_example_of_the_page_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).parents[2] / "docs" / "adapters" / "anthropic.md"
    command = {"command": "create", "path": "/memories/ana.md", "file_text": "Ana: Porto"}
    use = {"type": "tool_use", "id": "t", "name": "memory", "input": command}
    replies = [("tool_use", use), ("end_turn", {"type": "text", "text": "Remembered."})]

    http = sys.modules[anthropic.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]]

    def reply(_: object) -> object:
        reason, block = replies.pop(0)
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "stub"}
        return http.Response(
            200, json=message | {"content": [block], "stop_reason": reason, "usage": usage}
        )

    client = partial(
        anthropic.Anthropic,
        api_key="none",
        http_client=anthropic.DefaultHttpxClient(transport=http.MockTransport(reply)),
    )
    monkeypatch.setattr(anthropic, "Anthropic", client)
    monkeypatch.chdir(tmp_path)
    sample = page.read_text(encoding="utf-8").split("```python\n")[1].partition("```")[0]
    exec(compile(sample, page.name, "exec"), {})
    said = capsys.readouterr().out
    assert "Remembered." in said
    assert "/memories/ana.md Ana: Porto" in said
