"""Processes that work on one memory at once, one of which is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence


def race(program: str, workers: Iterable[Sequence[object]], *, answers: int) -> list[str]:
    """Run a program in a process for each worker, all at once, and kill the last one.

    The program prints ``ready``, waits for a line of its input, and prints a line after each act.
    The others must end without an error and without a warning.

    Args:
        workers: the arguments of each process.
        answers: after how many lines the last one is killed.

    Returns:
        The whole lines that the killed process printed.
    """
    pipe = subprocess.PIPE
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        for arguments in workers
    ]
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    *steady, killed = running
    assert killed.stdout is not None
    said = [killed.stdout.readline() for _ in range(answers)]
    killed.kill()
    said += [line for line in killed.stdout if line.endswith("\n")]
    killed.communicate()
    for one in steady:
        assert one.communicate(timeout=120)[1] == ""
        assert one.returncode == 0
    return said
