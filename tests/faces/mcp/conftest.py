"""What the tests of the server share."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from memstore.faces.mcp import client_log


@pytest.fixture(autouse=True)
def _no_client_wants_the_log() -> Iterator[None]:
    """Take back what a session does to the package's loggers."""
    yield
    logger = logging.getLogger("memstore")
    logger.setLevel(logging.NOTSET)
    for handler in [one for one in logger.handlers if isinstance(one, client_log.ToClient)]:
        logger.removeHandler(handler)
