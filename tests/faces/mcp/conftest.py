"""Shared by the tests of the server."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from memstore.faces.mcp import client_log


@pytest.fixture(autouse=True)
def _no_client_wants_the_log() -> Iterator[None]:
    """Undo a session's changes to the package's loggers."""
    yield
    logger = logging.getLogger("memstore")
    logger.setLevel(logging.NOTSET)
    for handler in [one for one in logger.handlers if isinstance(one, client_log.ToClient)]:
        logger.removeHandler(handler)
