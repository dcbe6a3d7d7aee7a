"""Fixtures of every test with ``--engine postgres``; without it ``conftest`` leaves them out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support import on_postgres, partitions, pgbouncer, postgres


@pytest.fixture(scope="session", autouse=True)
def _pooled(pytestconfig: pytest.Config) -> Iterator[None]:
    """With ``--pooler``, let the library reach the server through PgBouncer."""
    if not pytestconfig.getoption("--pooler"):
        yield
        return
    with pgbouncer.instead_of(postgres.server()):
        yield


@pytest.fixture(scope="module", autouse=True)
def _engine_of_fixtures(
    databases: postgres.Databases, request: pytest.FixtureRequest
) -> Iterator[object]:
    """Open a database for each file that a module's fixtures name."""
    request.getfixturevalue("empty_file")  # made as a file, before paths lead to the server
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        on_postgres.instead_of_files(databases, monkeypatch) as places,
    ):
        yield places


@pytest.fixture(autouse=True)
def _engine_of_files(
    databases: postgres.Databases, _engine_of_fixtures: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Open a database of the server for each file that is named."""
    with on_postgres.instead_of_files(databases, monkeypatch, _engine_of_fixtures):  # type: ignore[arg-type]
        yield


@pytest.fixture(autouse=True)
def _answered_by_one_partition(plans: partitions.Plans | None) -> Iterator[None]:
    """With ``--partitions``, see that each statement is answered by one of them."""
    if plans is None:
        yield
        return
    with partitions.each_answered_by_one(plans):
        yield
