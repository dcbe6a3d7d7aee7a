"""Starts this program again as a process that outlives the command that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memstore import settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence


def flags(arguments: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return the flags that give another command the same values."""
    given = {name: getattr(arguments, name, None) for name in names}
    return [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value]


def start(
    words: Sequence[str],
    given: bytes = b"",
    log: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Start ``memstore`` with these words; nobody waits for it.

    Args:
        words: the command and its flags.
        given: its standard input.
        log: the file for what it prints, which only this user may read; ``None`` to discard it.
        environment: more variables; other users cannot see them, as they can the words.
    """
    apart: dict[str, Any] = (
        {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
        if sys.platform == "win32"
        else {"start_new_session": True}
    )
    told = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        child = subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-m", "memstore", *words],
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=told,
            env=settings.environment() | dict(environment or {}),
            **apart,
        )
    finally:
        os.close(told)
    assert child.stdin is not None
    with child.stdin as pipe:
        pipe.write(given)


def run(words: Sequence[str], given: bytes, environment: Mapping[str, str], seconds: float) -> None:
    """Run ``memstore`` with these words, and wait until it has ended; what it prints is discarded.

    Args:
        words: the command and its flags.
        given: its standard input.
        environment: all of its variables.
        seconds: after which it is killed.
    """
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(  # noqa: S603 - this program itself
            [sys.executable, "-m", "memstore", *words],
            input=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            timeout=seconds,
            check=False,
        )
