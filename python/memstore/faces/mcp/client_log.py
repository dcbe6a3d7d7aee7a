"""Log messages for the client that asks for them, beside those on standard error."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
"""Python's levels; what is more serious is all CRITICAL."""


class ToClient(logging.Handler):
    """Hands every record on; who gets it decides what the client wants to know."""

    def __init__(self, tell: Callable[[str, str, str], object]) -> None:
        super().__init__()
        self.tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(_level_of(record.levelno), record.name, record.getMessage())


def attach(tell: Callable[[str, str, str], object], level: str) -> None:
    """Let the package's loggers tell the client, from this level on."""
    logger = logging.getLogger("memstore")
    for handler in [one for one in logger.handlers if isinstance(one, ToClient)]:
        logger.removeHandler(handler)
    logger.addHandler(ToClient(tell))
    logger.setLevel(NAMES.get(level, logging.CRITICAL))


def _level_of(number: int) -> str:
    names = {value: name for name, value in NAMES.items() if name != "notice"}
    return names.get(number, "critical" if number > logging.ERROR else "info")
