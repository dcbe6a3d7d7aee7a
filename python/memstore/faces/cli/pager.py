"""Long output on a terminal goes through the user's pager."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memstore import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console


@contextmanager
def paged(console: Console) -> Iterator[None]:
    """Collect what is printed in the block; if it is longer than the terminal, page through it.

    Output that goes elsewhere is printed as it comes.
    """
    command = settings.pager()
    if not sys.stdout.isatty() or not command:
        yield
        return
    with console.capture() as captured:
        yield
    text = captured.get()
    if (text.count("\n") < console.height and console.height) or not _page(command, text):
        console.file.write(text)


def _page(command: str, text: str) -> bool:
    """Return whether the pager could be started."""
    try:
        reader = subprocess.Popen(  # noqa: S602 - the user's own command
            command,
            shell=True,
            stdin=subprocess.PIPE,
            env=settings.pager_environment(),
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError:
        return False
    with suppress(BrokenPipeError, KeyboardInterrupt):  # closed before the end
        reader.communicate(text)
    while True:
        with suppress(KeyboardInterrupt):  # it goes to the pager
            return reader.wait() not in (126, 127)  # a shell's codes for what it cannot run
