"""``memstore web`` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

START_SECONDS = 60.0


class WebServer:
    """One process of ``memstore web``, on a port that the system chooses.

    Args:
        db: the file.
        folder: for the user's data.
        flags: more of the command line.
        environment: more variables.
    """

    def __init__(self, db: Path, folder: Path, *flags: str, **environment: str) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
        own = {"XDG_DATA_HOME": str(folder), "LOCALAPPDATA": str(folder), **environment}
        command = [sys.executable, "-m", "memstore", "web", "--db", str(db), "--port", "0", *flags]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=clean | own,
            text=True,
            encoding="utf-8",
        )
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        self.lines = [self._line()]
        watchdog.cancel()
        found = re.search(r"(http://\S+)/enter", self.lines[0])
        self.url = "" if found is None else found[1]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def code(self) -> str:
        """Return the code that ``--no-browser`` prints."""
        self.lines.append(self._line())
        return self.lines[-1].split()[-1]

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=15)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.lines += self.process.stderr.readlines()
        self.process.stderr.close()

    def _line(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline()
