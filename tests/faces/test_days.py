"""The days of whoever uses a face: clients of one server in several zones, pipes, hooks, pages."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from tests.support.asgi import client
from tests.support.command_line import CommandLine
from tests.support.command_line import cli_fixture as cli_fixture
from tests.support.served import MCP_HEADERS, request

import memstore
from memstore.faces.hosts import remote, remote_entries
from memstore.faces.hosts.catalogue import Registration

EVENING = datetime(2026, 11, 21, 4, 30, tzinfo=UTC)
"""20:30 on the 20th in Los Angeles, 18:30 on the 21st in Kiritimati."""
DAYS = {
    "America/Los_Angeles": "2026-11-20",
    "Mars/Base, America/Los_Angeles, +01:00": "2026-11-20",
    "Mars/Base": "2026-11-21",  # the server's own
    "Pacific/Kiritimati": "2026-11-21",
    "-11:00": "2026-11-20",
    "": "2026-11-21",
}


@pytest.fixture
def filled(path: Path) -> Path:
    with memstore.open(path, embedder=None) as store:
        store.add("Launch moved to the pier", subject="launch", valid_at=EVENING)
        store.episodes.add("The launch moves", source="chat", thread="t", valid_at=EVENING)
    return path


def test_each_client_of_a_server_has_its_own_days(filled: Path) -> None:
    async def text(http: Any, zone: str, tool: str, **arguments: Any) -> str:
        sent = request("tools/call", name=tool, arguments=arguments)
        headers = MCP_HEADERS | ({"Memstore-Timezone": zone} if zone else {})
        answer = (await http.post("/mcp", json=sent, headers=headers)).json()["result"]
        assert not answer["isError"], answer
        return str(answer["content"][0]["text"])

    async def use() -> None:
        async with client(lambda: memstore.open(filled, embedder=None)) as server:
            for _ in range(2):
                for zone, day in DAYS.items():
                    listed = await text(server.http, zone, "memory_list")
                    assert f"{day}\n#1" in listed, zone
                    bounds = {"valid_after": "2026-11-20", "valid_before": "2026-11-20"}
                    found = "#1" in await text(server.http, zone, "memory_list", **bounds)
                    assert found == (day == "2026-11-20"), zone

            async def asks(zone: str, day: str) -> None:
                assert day in await text(server.http, zone, "memory_search", query="launch pier")

            async with anyio.create_task_group() as group:  # at once
                for zone, day in [*DAYS.items()] * 4:
                    group.start_soon(asks, zone, day)

    anyio.run(use)


def test_a_hook_tells_a_server_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_TIMEZONE", "Asia/Kathmandu")
    assert remote.timezone() == {"Memstore-Timezone": "Asia/Kathmandu, +05:45"}
    wanted = Registration(
        [], None, [], "default", False, None, {}, "https://memory.example/mcp", "s" * 43
    )
    entry = remote_entries.ENTRIES["cursor"](wanted)
    assert entry["headers"]["Memstore-Timezone"] == "Asia/Kathmandu"
    monkeypatch.setenv("MEMSTORE_TIMEZONE", "+05:45")
    assert remote.timezone() == {"Memstore-Timezone": "+05:45"}
    assert "Memstore-Timezone" not in remote_entries.ENTRIES["cursor"](wanted)["headers"]


def test_a_flag_names_the_zone_of_a_command(filled: Path, cli: CommandLine) -> None:
    for zone, day in (("America/Los_Angeles", 20), ("Pacific/Kiritimati", 21)):
        told = ("--db", filled, "--timezone", zone)
        bounds = ("--valid-after", f"2026-11-{day}", "--valid-before", f"2026-11-{day}")
        for command in (("list", *bounds), ("list", "--valid-on", f"2026-11-{day}")):
            assert "pier" in cli(*command, *told).out, (zone, command)
    code, error = cli.error("list", "--timezone", "Mars/Base")
    assert code == 2
    assert "--timezone is no time zone known here: 'Mars/Base'" in error


@pytest.mark.process
@pytest.mark.parametrize(
    "zone", [{"TZ": "America/Los_Angeles"}, {"TZ": "UTC", "MEMSTORE_TIMEZONE": "-08:00"}]
)
def test_a_server_over_pipes_has_the_days_of_its_machine(
    filled: Path, zone: dict[str, str]
) -> None:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memstore.faces.starting.quick_start", "--db", str(filled)],
        env={**os.environ, **zone, "MEMSTORE_EMBEDDER": "none"},
    )

    async def use() -> None:
        async with stdio_client(program) as pipes, ClientSession(*pipes) as session:
            await session.initialize()
            for asked in ({}, {"valid_before": "2026-11-20"}):
                answer = await session.call_tool("memory_list", asked)
                assert "2026-11-20\n#1" in answer.content[0].text  # type: ignore[union-attr]

    anyio.run(use)
