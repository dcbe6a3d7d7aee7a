"""Named tuples behave like those of ``typing``; each test compares the two."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import typing
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

import memstore
from memstore.named import NamedTuple

T = TypeVar("T")

TYPING = r"from typing import (\([^)]*|[^(\n]*)\bNamedTuple\b"


class Point(NamedTuple):
    """A place."""

    x: int
    y: int = 0
    note: str | None = None

    @property
    def sum(self) -> int:
        return self.x + self.y


class PointTwin(typing.NamedTuple):
    x: int
    y: int = 0
    note: str | None = None


class Box(NamedTuple, Generic[T]):
    content: T


class Empty(NamedTuple):
    pass


class Far(Point):
    """A class with a named tuple as its base."""

    def __new__(cls, x: int) -> Far:
        return super().__new__(cls, x, 100)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((1,), {}),
        ((1, 2, "n"), {}),
        ((), {"x": 1, "note": "n"}),
        ((1,), {"y": 3}),
        ((), {}),
        ((), {"y": 1}),
        ((1,), {"x": 1}),
        ((1, 2, "n", 4), {}),
        ((1,), {"z": 1}),
    ],
)
def test_a_call_behaves_like_one_of_typing(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    try:
        expected = PointTwin(*args, **named)
    except TypeError as error:
        said = str(error).replace("PointTwin.", "Point.")
        with pytest.raises(TypeError, match=re.escape(said)):
            Point(*args, **named)
        return
    made = Point(*args, **named)
    assert (*made,) == (*expected,)
    assert hash(made) == hash(expected)
    assert repr(made) == repr(expected).replace("Twin", "")
    assert made._asdict() == expected._asdict()
    assert [made.x, made.y, made.note] == [*expected]
    assert (*made._replace(y=7),) == (*expected._replace(y=7),)


def test_a_class_has_what_those_of_typing_have() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__slots__"):
        assert getattr(Point, name) == getattr(PointTwin, name), name
    assert [*Point.__annotations__] == [*PointTwin.__annotations__]
    assert inspect.signature(Point._make((1, 2, None)).__class__).parameters.keys() == {
        "x",
        "y",
        "note",
    }
    assert Point.__doc__ == "A place."
    assert Point(1, 2).sum == 3
    assert not hasattr(Point(1), "__dict__")
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_values_of_the_wrong_number_or_name_are_refused() -> None:
    with pytest.raises(TypeError, match="Expected 3 arguments, got 1"):
        Point._make([1])
    with pytest.raises(ValueError, match="unexpected field names: \\['z'\\]"):
        Point(1)._replace(z=1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Point(1).x = 2  # type: ignore[misc]


def test_a_field_without_a_default_cannot_follow_one_that_has_one() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class Wrong(NamedTuple):
            x: int = 0
            y: int  # type: ignore[misc]


def test_the_package_defines_none_by_typing() -> None:
    sources = Path(memstore.__file__).parent.rglob("*.py")
    bad = {
        file.name
        for file in sources
        if file.name != "named.py" and re.search(TYPING, file.read_text("utf-8"))
    }
    assert bad == set()


@pytest.mark.parametrize("made", [Point(1, note="n"), Box(["tea"]), Empty(), Far(2)])
def test_tuples_are_copied_and_pickled(made: Any) -> None:
    if not isinstance(made, Far):  # whose constructor takes other arguments
        assert copy.copy(made) == made
        again = pickle.loads(pickle.dumps(made))
        assert (again, type(again)) == (made, type(made))
    assert made._make(made) == made


def test_a_generic_one_and_a_subclass_are_used_like_others() -> None:
    assert Box[int](3).content == 3
    assert Far(2) == (2, 100, None)
    assert isinstance(Far(2), Point)
