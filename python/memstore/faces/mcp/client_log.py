"""Sends log messages to a client that asks for them, in addition to standard error."""

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
"""The Python levels of the protocol's; those above "error" are all CRITICAL."""


class ToClient(logging.Handler):
    """Passes every record on; the receiver filters by the client's level."""

    def __init__(self, tell: Callable[[str, str, str], object]) -> None:
        super().__init__()
        self.tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(_level_of(record.levelno), record.name, record.getMessage())


def attach(tell: Callable[[str, str, str], object], level: str) -> None:
    """Send the package's log records of at least this level to the client."""
    logger = logging.getLogger("memstore")
    for handler in [one for one in logger.handlers if isinstance(one, ToClient)]:
        logger.removeHandler(handler)
    logger.addHandler(ToClient(tell))
    logger.setLevel(NAMES.get(level, logging.CRITICAL))


def _level_of(number: int) -> str:
    names = {value: name for name, value in NAMES.items() if name != "notice"}
    return names.get(number, "critical" if number > logging.ERROR else "info")
