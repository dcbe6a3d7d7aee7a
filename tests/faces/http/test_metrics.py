"""Metrics are counted by every thread, have bounded labels, and hold numbers alone."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text
from tests.support.asgi import METRICS_PORT, Client, client

import memstore
from memstore.errors import StorageError
from memstore.faces.http import metrics as http_metrics
from memstore.faces.mcp import catalogue
from memstore.file import figures

SECRETS = ("alice-corp", "the kettle is blue", "tok-name", "user-77", "no_such_tool", "mst_")


PLACES = (
    "/metrics",
    "/readyz",
    "/livez",
    "/health",
    "/mcp",
    "/mcp/hook",
    "/",
    "/alice-corp",
    "//x",
)
METHODS = ("GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "ALICE-CORP")
NAMES = ("Accept", "Host", "Origin", "Authorization", "Content-Type", "Content-Length-X", "Cookie")
TEXTS = (
    "",
    "*/*",
    "text/html;q=x",
    "Bearer mst_x",
    "alice-corp",
    ",,;",
    "localhost:9464",
    "x" * 9000,
)
MOST_LABELS = 40
"""How many pairs of a kind of request and a class of answers there may be."""


def samples(answer: httpx.Response) -> dict[tuple[str, ...], float]:
    """The values by name and labels, in the order of the labels' names."""
    assert answer.status_code == 200
    return {
        (one.name, *(value for _, value in sorted(one.labels.items()))): one.value
        for family in plain_text(answer.text)
        for one in family.samples
    }


def served(path: Path, work: Any, **options: Any) -> Any:
    """Run work with a client of a server on a file."""

    async def run() -> Any:
        opened = {"embedder": None, "namespace": "alice-corp", **options}
        async with client(lambda: memstore.open(path, **opened)) as server:
            return await work(server)

    return anyio.run(run)


def test_calls_of_many_threads_are_all_counted(path: Path) -> None:
    async def work(server: Client) -> dict[tuple[str, ...], float]:
        async with anyio.create_task_group() as group:
            for _ in range(40):
                group.start_soon(server.call, "memory_status")
        for _ in range(3):
            await server.call("memory_store", content="the kettle is blue")  # without a subject
        await server.call("memory_history", id=999)
        return samples(await server.metrics())

    found = served(path, work)
    assert found["memstore_tool_calls_total", "ok", "memory_status"] == 40
    assert found["memstore_tool_seconds_count", "memory_status"] == 40
    assert found["memstore_tool_seconds_bucket", "+Inf", "memory_status"] == 40
    assert found["memstore_tool_calls_total", "error", "memory_store"] == 3
    assert found["memstore_tool_errors_total", "ToolError"] == 3
    assert found["memstore_tool_errors_total", "NotFound"] == 1
    assert found["memstore_http_requests_total", "mcp", "2xx"] == 44
    assert found["memstore_http_requests_running",] == 0
    assert found["memstore_ready",] == 1


def test_calls_are_timed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each call reads the clock when it begins and when it ends.
    moments = iter([10.0, 10.25, 20.0, 23.0])
    monkeypatch.setattr(http_metrics, "clock", SimpleNamespace(monotonic=lambda: next(moments)))

    async def work(server: Client) -> dict[tuple[str, ...], float]:
        for _ in range(2):
            await server.call("memory_status")
        return samples(await server.metrics())

    found = served(path, work)
    assert found["memstore_tool_seconds_sum", "memory_status"] == 3.25
    assert found["memstore_tool_seconds_bucket", "0.25", "memory_status"] == 1
    assert found["memstore_tool_seconds_bucket", "2.5", "memory_status"] == 1
    assert found["memstore_tool_seconds_bucket", "+Inf", "memory_status"] == 2


def test_pending_and_indexes_are_the_files_own(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add_many([{"content": f"fact {n}", "subject": "s"} for n in range(5)])
        store.within("alice-corp").add("of another namespace", subject="s")
        store.episodes.add("said", source="chat")

    async def work(server: Client) -> list[dict[tuple[str, ...], float]]:
        before = samples(await server.metrics())
        await server.call("memory_search", query="fact")
        return [before, samples(await server.metrics())]

    before, after = served(path, work)
    assert before["memstore_pending", "facts"] == after["memstore_pending", "facts"] == 6
    assert before["memstore_pending", "episodes"] == 1
    assert before["memstore_quarantined", "facts"] == 0
    assert after["memstore_index_rows", "facts"] == 6
    assert after["memstore_index_builds_total", "facts"] == 1
    assert after["memstore_index_file_bytes", "facts"] == 0  # too few for files
    assert not [name for name in after if name[0] == "memstore_pool_connections"]


def test_the_pools_connections_are_shown_where_the_engine_has_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = figures.Figures({"facts": 1}, {"facts": 2}, (), {"used": 3, "idle": 4, "waiting": 0})
    monkeypatch.setattr(http_metrics.figures, "figures", lambda *_: found)

    async def work(server: Client) -> dict[tuple[str, ...], float]:
        return samples(await server.metrics())

    shown = served(path, work)
    states = {name[1]: value for name, value in shown.items() if name[0].endswith("connections")}
    assert states == {"used": 3, "idle": 4, "waiting": 0}


def test_no_label_comes_from_a_caller(path: Path) -> None:
    with memstore.open(path, embedder=None, namespace="alice-corp") as store:
        _, secret = store.file.tokens.create("tok-name", namespace="alice-corp")
        store.add("the kettle is blue", subject="user-77", user_id="user-77")

    async def work(server: Client) -> str:
        server.http.headers["Authorization"] = f"Bearer {secret}"
        server.http.headers["User-Agent"] = "user-77/1"
        await server.call("memory_search", query="the kettle is blue")
        for number in range(50):
            await server.call(f"no_such_tool_{number}")
            await server.http.get(f"/no_such_tool_{number}")
            await server.http.request(f"NO_SUCH_TOOL_{number}", "/mcp")
        return (await server.metrics()).text

    text = served(path, work)
    for one in (*SECRETS, secret, str(path)):
        assert one.lower() not in text.lower()
    labels = {
        (name, value)
        for family in plain_text(text)
        for sample in family.samples
        for name, value in sample.labels.items()
        if name not in ("le", "version")
    }
    tools = {*catalogue.offered().tools, "other"}
    assert {value for name, value in labels if name == "tool"} == tools
    assert {name for name, _ in labels} <= {
        "tool", "outcome", "endpoint", "status", "rows", "kind", "state",
    }  # fmt: skip
    assert len(labels) < 2 * len(tools) + 20


def test_without_the_database_the_other_figures_are_shown(path: Path) -> None:
    async def ask() -> dict[tuple[str, ...], float]:
        def fail() -> memstore.Store:
            raise StorageError("away")

        async with client(fail) as server:
            await server.call("memory_status")
            return samples(await server.metrics())

    found = anyio.run(ask)
    assert found["memstore_ready",] == 0
    assert found["memstore_http_requests_total", "mcp", "5xx"] == 1
    assert not [name for name in found if name[0] == "memstore_pending"]


def test_both_formats_of_prometheus_are_written(path: Path) -> None:
    async def work(server: Client) -> httpx.Response:
        return await server.metrics("application/openmetrics-text;version=1.0.0")

    answer = served(path, work)
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    names = {family.name for family in open_metrics(answer.text)}
    assert {"memstore", "memstore_tool_calls", "memstore_tool_seconds"} <= names


def test_metrics_are_on_their_own_port_alone(path: Path) -> None:
    async def work(server: Client) -> list[int]:
        there = f"http://localhost:{METRICS_PORT}"
        answers = [
            await server.http.get("/metrics"),
            await server.http.get(f"{there}/mcp"),
            await server.http.get(f"{there}/health"),
            await server.http.post(f"{there}/metrics"),
            await server.http.head(f"{there}/metrics"),
        ]
        return [one.status_code for one in answers]

    assert served(path, work) == [404, 404, 404, 405, 200]


def test_random_requests_are_answered_and_counted(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    """Metrics stay readable and name nothing of the requests; probes answer as before."""
    inputs = pytestconfig.getoption("--inputs")
    chance = random.Random(inputs)
    counted: Counter[str] = Counter()

    async def ask(server: Client, number: int) -> None:
        port = chance.choice((METRICS_PORT, 80, 8765))
        place = chance.choice(PLACES) + chance.choice(
            ("", "", "/", "?x=alice-corp", "/%00", "%2e%2e")
        )
        answer = await server.http.request(
            chance.choice(METHODS),
            f"http://localhost:{port}{place}",
            headers={chance.choice(NAMES): chance.choice(TEXTS)},
            content=chance.choice((b"", b"{", b"\xff" * 9, b'{"jsonrpc": "2.0"}')),
        )
        counted[f"answered {answer.status_code}"] += 1
        assert answer.status_code < 500, (place, answer.status_code)
        if number % 50 == 0:
            assert await server.probes() == [200, 200]
            found = await server.metrics(chance.choice(("*/*", "application/openmetrics-text")))
            assert found.status_code == 200
            assert [word for word in SECRETS if word in found.text] == []

    async def work(server: Client) -> tuple[int, dict[tuple[str, ...], float]]:
        for number in range(inputs):
            await ask(server, number)
        found = samples(await server.metrics())
        labels = {name for name in found if name[0] == "memstore_http_requests_total"}
        return len(labels), found

    labels, found = served(path, work)
    assert found["memstore_http_requests_running",] == 0
    assert found["memstore_ready",] == 1
    assert labels <= MOST_LABELS
    record_property("counts", ", ".join(f"{n} {what}" for what, n in sorted(counted.items())))
