"""The files of devices on a server: who may read and write which, and within what limits."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import anyio
import pytest
from tests.support.engines import engine_of
from tests.support.gated import Gated, gated, run
from tests.support.raw import sql

import memstore
from memstore.faces.http import device_files
from memstore.sync.places import names

ONE, TWO = "a" * 16, "b" * 16
STATE = names.of_state(ONE)


@pytest.fixture
def tokens(path: Path) -> dict[str, str]:
    with memstore.open(path, embedder=None) as store:
        made = store.file.tokens.create
        return {
            "laptop": made("laptop", namespace="work")[1],
            "desktop": made("desktop", namespace="work")[1],
            "reader": made("reader", namespace="work", access="read")[1],
            "other": made("other", namespace="other")[1],
        }


async def listed(server: Gated, token: str) -> list[str]:
    return list((await server.files("GET", token)).json()["files"])


def test_a_file_is_listed_read_and_removed_in_its_namespace_alone(
    path: Path, tokens: dict[str, str]
) -> None:
    async def use(server: Gated) -> None:
        assert await listed(server, tokens["laptop"]) == []
        put = await server.files("PUT", tokens["laptop"], STATE, b"\x00\xff")
        assert put.status_code == 201
        for reader in ("laptop", "desktop", "reader"):
            assert await listed(server, tokens[reader]) == [STATE]
            got = await server.files("GET", tokens[reader], STATE)
            assert (got.content, got.headers["etag"]) == (b"\x00\xff", put.headers["etag"])
            assert got.headers["x-content-type-options"] == "nosniff"
        assert await listed(server, tokens["other"]) == []
        assert (await server.files("GET", tokens["other"], STATE)).status_code == 404
        assert (await server.files("DELETE", tokens["laptop"], STATE)).status_code == 204
        assert await listed(server, tokens["desktop"]) == []

    run(path, use)


def test_a_token_writes_only_to_devices_that_it_began(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        await server.files("PUT", tokens["laptop"], STATE, b"1")
        for method in ("PUT", "DELETE"):
            for name in (STATE, names.of_key(ONE)):
                refused = await server.files(method, tokens["desktop"], name, b"2")
                assert refused.status_code == 403
                assert "another token began this device" in refused.json()["error"]
        assert (await server.files("GET", tokens["laptop"], STATE)).content == b"1"
        own = await server.files("PUT", tokens["desktop"], names.of_state(TWO), b"2")
        assert own.status_code == 201

    run(path, use)


def test_a_device_of_a_revoked_token_is_removed_by_others_and_still_not_written(
    path: Path, tokens: dict[str, str]
) -> None:
    async def use(server: Gated) -> None:
        await server.files("PUT", tokens["laptop"], STATE, b"1")
        with memstore.open(path, embedder=None) as store:
            store.file.tokens.revoke("laptop")
        assert (await server.files("PUT", tokens["desktop"], STATE, b"2")).status_code == 403
        assert (await server.files("DELETE", tokens["desktop"], STATE)).status_code == 204
        assert await listed(server, tokens["desktop"]) == []

    run(path, use)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_token_for_reading_changes_nothing(
    path: Path, tokens: dict[str, str], method: str
) -> None:
    async def use(server: Gated) -> None:
        await server.files("PUT", tokens["laptop"], STATE, b"1")
        refused = await server.files(method, tokens["reader"], STATE, b"2")
        assert (refused.status_code, refused.json()["error"]) == (403, "the token is read-only")
        assert (await server.files("GET", tokens["laptop"], STATE)).content == b"1"

    run(path, use)


def test_without_a_token_nothing_is_answered(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        for method in device_files.METHODS:
            assert (await server.files(method, None, STATE)).status_code == 401
            assert (await server.files(method, "x" * 43, STATE)).status_code == 401

    run(path, use)


@pytest.mark.parametrize(
    "name", ["x", f"{ONE}/.owner", f"{ONE}/%2e%2e/{TWO}/state", f"{ONE}/%2e%2e/x", f"{ONE}/State"]
)
def test_no_other_name_is_answered(path: Path, tokens: dict[str, str], name: str) -> None:
    async def use(server: Gated) -> None:
        for method in device_files.METHODS:
            refused = await server.files(method, tokens["laptop"], name, b"x")
            assert refused.status_code == 404
        assert await listed(server, tokens["laptop"]) == []

    run(path, use)


def test_tags_say_whether_something_changed(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        token = tokens["laptop"]
        first = (await server.files("PUT", token, STATE, b"1")).headers["etag"]
        same = await server.files("GET", token, STATE, if_none_match=first)
        assert (same.status_code, same.content) == (304, b"")
        tag = (await server.files("GET", token)).headers["etag"]
        assert (await server.files("GET", token, if_none_match=tag)).status_code == 304
        again = await server.files("PUT", token, STATE, b"2", if_none_match="*")
        assert again.status_code == 412
        changed = await server.files("PUT", token, STATE, b"22", if_match=first)
        assert changed.status_code == 201
        assert (await server.files("PUT", token, STATE, b"3", if_match=first)).status_code == 412
        assert (await server.files("DELETE", token, STATE, if_match=first)).status_code == 412
        assert (await server.files("GET", token, if_none_match=tag)).status_code == 200
        assert (await server.files("GET", token, STATE)).content == b"22"

    run(path, use)


def test_files_are_bounded_in_size_number_and_sum(
    path: Path, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_files, "MAX_FILE_BYTES", 8)
    monkeypatch.setattr(device_files, "MAX_FILES", 3)
    monkeypatch.setattr(device_files, "MAX_PLACE_BYTES", 10)
    monkeypatch.setattr(device_files, "MAX_OWN_DEVICES", 2)

    async def use(server: Gated) -> None:
        async def put(name: str, size: int) -> int:
            return (await server.files("PUT", tokens["laptop"], name, bytes(size))).status_code

        assert await put(STATE, 9) == 413
        assert await put(STATE, 8) == 201
        assert await put(names.of_key(ONE), 3) == 507
        assert await put(names.of_key(ONE), 1) == 201
        assert await put(STATE, 8) == 201
        assert await put(names.of_state(TWO), 1) == 201
        assert await put(names.of_key(TWO), 0) == 507
        assert (await server.files("DELETE", tokens["laptop"], STATE)).status_code == 204
        assert await put(names.of_state("c" * 16), 1) == 403
        assert await put(names.of_key(TWO), 0) == 201

    run(path, use)


def test_other_methods_are_refused(path: Path, tokens: dict[str, str]) -> None:
    async def use(server: Gated) -> None:
        refused = await server.files("POST", tokens["laptop"], STATE, b"x")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, PUT, DELETE")
        for method in ("PUT", "DELETE"):
            assert (await server.files(method, tokens["laptop"])).status_code == 405

    run(path, use)


def test_two_processes_of_a_server_keep_the_same_files_and_owners(
    path: Path, tokens: dict[str, str]
) -> None:
    async def use(first: Gated) -> None:
        async with gated(path) as second:
            assert (await first.files("PUT", tokens["laptop"], STATE, b"1")).status_code == 201
            refused = await second.files("PUT", tokens["desktop"], STATE, b"2")
            assert refused.status_code == 403
            assert (await second.files("GET", tokens["desktop"], STATE)).content == b"1"

    run(path, use)


def test_many_puts_at_once_pass_no_limit(
    path: Path, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_files, "MAX_FILES", 3)

    async def use(server: Gated) -> None:
        done: list[int] = []

        async def put(number: int) -> None:
            name = names.of_lines(ONE, ONE, number, number)
            done.append((await server.files("PUT", tokens["laptop"], name, b"x")).status_code)

        async with anyio.create_task_group() as tasks:
            for number in range(1, 9):
                tasks.start_soon(put, number)
        assert sorted(done) == [201] * 3 + [507] * 5
        assert len(await listed(server, tokens["laptop"])) == 3

    run(path, use)


@pytest.mark.parametrize("change", ["data = x'00'", "size = 7", "tag = 'x'"])
def test_a_file_that_was_changed_with_plain_sql_is_named_and_removed(
    path: Path, tokens: dict[str, str], change: str
) -> None:
    async def use(server: Gated) -> None:
        for name in (STATE, names.of_key(ONE)):
            await server.files("PUT", tokens["laptop"], name, b"1")

    run(path, use)
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor(deep=True) == []
        sql(path, f"UPDATE memstore_device_files SET {change} WHERE name = '{STATE}'")
        [found] = store.file.doctor(deep=True)
        assert (STATE in found.message, found.repairable) == (True, True)
        assert "removed 1 damaged files of devices, which these write again" in store.file.rebuild()
        assert store.file.doctor(deep=True) == []
        left = sql(path, "SELECT name FROM memstore_device_files")
        assert [name for (name,) in left] == [names.of_key(ONE)]


def test_what_a_file_was_before_is_nowhere_after_it_was_replaced(
    path: Path, tokens: dict[str, str], databases: object
) -> None:
    if databases is not None:
        pytest.skip("on a server, it is there until a vacuum")

    def has_bytes() -> bool:
        return any(b"4711" in file.read_bytes() for file in Path(path).parent.glob("memory.db*"))

    async def use(server: Gated) -> None:
        for text in (b"the code is 4711", b"the code is 4711" * 10_000):
            for name, method in ((STATE, "PUT"), (names.of_key(ONE), "DELETE")):
                await server.files("PUT", tokens["laptop"], name, text)
                assert has_bytes()
                await server.files(method, tokens["laptop"], name, b"nothing")
                assert not has_bytes()
        await server.files("PUT", tokens["laptop"], STATE, b"the code is 4711")
        with closing(engine_of(path)) as other, other.read() as reading:
            assert reading.scalar("SELECT count(*) FROM memstore_device_files") == 1
            await server.files("PUT", tokens["laptop"], STATE, b"nothing")
            assert has_bytes()  # somebody still reads what was
        await server.files("GET", tokens["laptop"])
        assert not has_bytes()

    run(path, use)
