"""A database of its own for each test, with the schema."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def made() -> Iterator[object]:
    from tests.support.postgres import Databases  # skips without a driver

    databases = Databases()
    yield databases
    databases.close()


@pytest.fixture
def url(made: object) -> Iterator[str]:
    from tests.support.postgres import Databases

    assert isinstance(made, Databases)
    taken = made.take()
    yield taken
    made.give_back(taken)
