"""How long a hook holds its host while the server is away, slow, silent or there.

Each time is that of a whole process, from its start to its end, beside that of Python alone:

    python -m benches.hooks_over_http [--runs 30]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as data:
        silent = _listening(lambda _wire: None)
        slow = _listening(_trickle)
        quick = _listening(_answer)
        closed = socket.create_server(("127.0.0.1", 0)).getsockname()[1]  # closed at once
        report("python -c pass", runs, partial(_run, data, ["-c", "pass"]))
        for name, port in {
            "answers at once": quick,
            "refuses connections": closed,
            "accepts and is silent": silent,
            "sends a byte at a time": slow,
        }.items():
            url = f"http://127.0.0.1:{port}/mcp"
            report(name, runs, partial(_hook, data, url))
        report("keeps a conversation", runs, partial(_keep, data, f"http://127.0.0.1:{silent}/mcp"))


def report(name: str, runs: int, work: Callable[[], None]) -> None:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    taken.sort()
    print(
        f"{name:24}  p50 {statistics.median(taken):.3f} s  "
        f"p95 {taken[int(len(taken) * 0.95)]:.3f} s  max {taken[-1]:.3f} s"
    )


def _hook(data: str, url: str, event: str = "SessionStart", **given: str) -> None:
    folder = Path(data, "memstore")
    folder.mkdir(exist_ok=True)
    (folder / "servers.json").write_text(json.dumps({"servers": {url: {"token": "mst_x"}}}))
    said = json.dumps({"session_id": "bench", **given}).encode()
    words = ["-m", "memstore", "hook", event, "--server", url]
    _run(data, words, said)


def _keep(data: str, url: str) -> None:
    transcript = Path(data, "session.jsonl")
    turn = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "a turn"}}
    transcript.write_text(json.dumps(turn) + "\n")
    _hook(data, url, "SessionEnd", transcript_path=str(transcript))


def _run(data: str, words: list[str], said: bytes = b"") -> None:
    environment = os.environ | {"XDG_DATA_HOME": data, "LOCALAPPDATA": data}
    subprocess.run(
        [sys.executable, *words], input=said, env=environment, capture_output=True, check=True
    )


def _listening(serve: Callable[[socket.socket], None]) -> int:
    """Accept connections in a thread and keep them open; return the port."""
    server = socket.create_server(("127.0.0.1", 0))
    kept = []

    def accept() -> None:
        while True:
            wire, _ = server.accept()
            kept.append(wire)
            threading.Thread(target=serve, args=[wire], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return int(server.getsockname()[1])


def _answer(wire: socket.socket) -> None:
    wire.recv(65536)
    body = json.dumps({"text": "Recalled.", "given": []}).encode()
    wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    wire.close()


def _trickle(wire: socket.socket) -> None:
    try:
        for _ in range(1_000):
            wire.sendall(b"H")
            time.sleep(0.05)
    except OSError:
        pass


if __name__ == "__main__":
    main()
