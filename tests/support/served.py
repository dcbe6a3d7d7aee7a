"""The server over HTTP as a separate process, and requests to it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

START_SECONDS = 120.0
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LISTENING = re.compile(r"memstore-mcp: serving http://(\S+)/mcp\n")

PROGRAM = """
import functools, sys
from memstore.faces.http import server
from memstore.faces.serving.bodies import Patience
from memstore.faces.starting.quick_start import main
# Shorter limits than in production, so that tests need not wait.
server.run = functools.partial(server.run, patience=Patience(head_seconds=2.0, body_seconds=0.5))
main(sys.argv[1:])
"""


class Served:
    """One server process; its standard error is recorded.

    ``first`` is a program that it runs before it serves.
    """

    def __init__(
        self, db: Path | str, *flags: str, http: str = "127.0.0.1:0", first: str = ""
    ) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
        if "--answers" not in flags:
            flags = ("--answers", "json", *flags)
        if "--embedder" not in flags:
            flags = ("--embedder", "none", *flags)
        self.process = subprocess.Popen(
            [sys.executable, "-c", first + PROGRAM, "--db", str(db), "--http", http, *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean,
            text=True,
            encoding="utf-8",
        )
        self.told: list[str] = []
        # A server that never listens must fail the test, not hang it.
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        found = None
        while found is None and (line := self.process.stderr.readline()):
            self.told.append(line)
            found = LISTENING.fullmatch(line)
        watchdog.cancel()
        self.secret = next((one.strip() for one in self.told if one.startswith("mst_")), None)
        self.address = "" if found is None else found[1].replace("0.0.0.0", "127.0.0.1")
        self.url = f"http://{self.address}"
        self._client = httpx.Client(base_url=self.url, trust_env=False, timeout=30.0)
        self._reader = threading.Thread(target=self._keep, daemon=True)
        self._reader.start()

    def post(self, message: object, token: str | None = None, **headers: str) -> httpx.Response:
        """Send one message of the protocol, by default with the token that the server created."""
        token = token or self.secret
        sent = MCP_HEADERS | ({} if token is None else {"Authorization": f"Bearer {token}"})
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self._client.post("/mcp", content=raw, headers=sent)

    def ask(self, method: str, token: str | None = None, **params: Any) -> dict[str, Any]:
        """Return the result of a request that must succeed."""
        answer = self.post(request(method, **params), token)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        return answer.json()["result"]

    def call(self, tool: str, token: str | None = None, **arguments: Any) -> dict[str, Any]:
        """Return the answer of a tool that must succeed."""
        result = self.ask("tools/call", token, name=tool, arguments=arguments)
        assert not result["isError"], result
        answer = json.loads(result["content"][0]["text"])
        assert result["structuredContent"] == answer
        return answer

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._client.get(path, headers=headers)

    def http(self, method: str, path: str, **headers: str) -> httpx.Response:
        return self._client.request(
            method, path, headers={name.replace("_", "-"): v for name, v in headers.items()}
        )

    def connect(self) -> socket.socket:
        """Open a bare connection."""
        host, _, port = self.address.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=15)

    def raw(self, *pieces: bytes) -> bytes:
        """Send raw bytes; return the complete answer."""
        with closing(self.connect()) as wire:
            for piece in pieces:
                wire.sendall(piece)
            answer = b""
            while part := wire.recv(65536):
                answer += part
            return answer

    def end(self, seconds: float = 15.0) -> int:
        """End the server and return its exit code."""
        code = self.process.wait(timeout=seconds)
        self._reader.join(5)
        return code

    def close(self) -> None:
        self._client.close()
        self.process.kill()
        self.process.wait()
        self._reader.join(5)
        self.process.stdout.close()
        self.process.stderr.close()

    def _keep(self) -> None:
        self.told.extend(self.process.stderr)


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
