"""Many cases in one test, where a test for each would cost more than what it checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


@contextmanager
def each_case() -> Iterator[Callable[..., AbstractContextManager[None]]]:
    """Yield what surrounds the checks of one case: ``with case(what, makes, it): assert …``.

    A case that fails does not end the test. At the end all that failed are raised together, each
    with a note that names it. At least one case has to be checked.
    """
    failed: list[Exception] = []
    checked = 0

    @contextmanager
    def case(*named: object) -> Iterator[None]:
        nonlocal checked
        checked += 1
        try:
            yield
        except Exception as error:  # noqa: BLE001 (raised below)
            error.add_note("case: " + ", ".join(map(repr, named)))
            failed.append(error)

    yield case
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {checked} cases failed", failed)
    assert checked, "no case was checked"
