"""An MCP client of a few lines, for tests that kill or flood the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ANSWER_SECONDS = 20.0
"""Enough on a busy machine, and less than any lock or network time-out, so none was waited for."""


class RawClient:
    """Sends lines to one server process."""

    def __init__(self, path: Path, *flags: str, **environment: str) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "memstore.faces.starting.quick_start",
                "--db",
                str(path),
                *flags,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean | {"MEMSTORE_ANSWERS": "json"} | environment,
            text=True,
            encoding="utf-8",
        )
        self._last = 0

    def send(self, method: str, params: dict[str, Any]) -> int:
        self._last += 1
        self._write({"id": self._last, "method": method, "params": params})
        return self._last

    def receive(self) -> dict[str, Any]:
        # A server that never answers must fail the test, not hang it.
        watchdog = threading.Timer(ANSWER_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        number = self.send(method, params or {})
        answer = self.receive()
        assert answer["id"] == number
        return answer["result"]

    def hello(self) -> dict[str, Any]:
        result = self.request("initialize", HELLO)
        self._write({"method": "notifications/initialized"})
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result
        answer = json.loads(result["content"][0]["text"])
        assert result["structuredContent"] == answer
        return answer

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"], result
        return result["content"][0]["text"]

    def close(self) -> int:
        self.process.stdin.close()
        return self.process.wait(timeout=ANSWER_SECONDS)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._write({"method": method, "params": params})

    def _write(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()


@pytest.fixture
def raw_client(path: Path) -> Iterator[Callable[..., RawClient]]:
    """Starts servers on the test's file and stops those still running."""
    clients: list[RawClient] = []

    def start(*flags: str, **environment: str) -> RawClient:
        if "--embedder" not in flags and "--ollama" not in flags:
            flags = ("--embedder", "none", *flags)
        clients.append(RawClient(path, *flags, **environment))
        return clients[-1]

    yield start
    for client in clients:
        client.process.kill()
        client.process.wait()
        for pipe in (client.process.stdin, client.process.stdout, client.process.stderr):
            with suppress(BrokenPipeError):
                pipe.close()
