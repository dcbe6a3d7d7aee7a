"""Frozen classes behave like frozen dataclasses; each test compares the two."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import InitVar
from typing import Any, ClassVar

import pytest

from memstore.frozen import field, fields, from_arguments, frozen, replace


@frozen
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    note: str | None = field(default=None, kw_only=True, repr=False, metadata={"computed": True})
    origin: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@frozen(kw_only=True)
class Named(Point):
    y: int = 7
    name: str


@dataclasses.dataclass(frozen=True)
class PointTwin:
    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)
    note: str | None = dataclasses.field(
        default=None, kw_only=True, repr=False, metadata={"computed": True}
    )
    origin: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@dataclasses.dataclass(frozen=True, kw_only=True)
class NamedTwin(PointTwin):
    y: int = 7
    name: str


@frozen
class Mean:
    """Defines methods that would otherwise be generated."""

    values: InitVar[list[float]] = ()
    mean: float = 0.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mean)

    def __hash__(self) -> int:
        return 5

    def __repr__(self) -> str:
        return "a mean"


TWINS = [(Point, PointTwin), (Named, NamedTwin)]


@pytest.mark.parametrize(("kind", "twin"), TWINS)
@pytest.mark.parametrize(
    "given",
    [
        ((1,), {}),
        ((1, 2), {"note": "n"}),
        ((1, 2, ["a"]), {}),
        ((), {"x": 1, "tags": ["b"]}),
        ((), {"x": 1, "name": "n"}),
        ((1,), {"name": "n", "y": 2, "note": "?"}),
        ((-1,), {"name": "n"}),
        ((), {}),
        ((), {"y": 1}),
        ((1,), {"x": 1}),
        ((1, 2, [], "n"), {}),
        ((1,), {"z": 1}),
    ],
)
def test_a_call_behaves_like_a_dataclass(
    kind: type, twin: type, given: tuple[tuple[Any, ...], dict[str, Any]]
) -> None:
    args, named = given
    try:
        expected = twin(*args, **named)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            kind(*args, **named)
        return
    made = kind(*args, **named)
    assert vars(made) == vars(expected)
    assert list(vars(made)) == list(vars(expected))
    assert repr(made) == repr(expected).replace("Twin", "")
    assert dataclasses.asdict(made) == dataclasses.asdict(expected)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Point(), "missing a required argument: 'x'"),
        (lambda: Point(1, z=2), "got an unexpected keyword argument 'z'"),
        (lambda: Point(1, x=2), "multiple values for argument 'x'"),
        (lambda: Point(1, 2, [], "n"), "too many positional arguments"),
    ],
)
def test_wrong_call_names_its_fault(call: Callable[[], object], said: str) -> None:
    with pytest.raises(TypeError, match=f"Point.*{said}"):
        call()


@pytest.mark.parametrize(("kind", "twin"), TWINS)
def test_dataclasses_and_inspect_see_a_dataclass(kind: Any, twin: Any) -> None:
    assert dataclasses.is_dataclass(kind)
    described = [
        [(f.name, f.type, f.default, f.kw_only, f.repr, dict(f.metadata)) for f in of]
        for of in (dataclasses.fields(kind), dataclasses.fields(twin))
    ]
    assert described[0] == described[1]
    signatures = inspect.signature(kind), inspect.signature(twin)
    assert [(p.name, p.kind) for p in signatures[0].parameters.values()] == [
        (p.name, p.kind) for p in signatures[1].parameters.values()
    ]
    assert kind.__match_args__ == twin.__match_args__
    made = kind(1, **{"name": "n"} if kind is Named else {})
    changed = dataclasses.replace(made, y=9)
    assert type(changed) is kind
    assert changed == replace(made, y=9) != made


def test_equal_instances_have_equal_hashes() -> None:
    assert Point(1) == Point(1) != Point(2)
    assert Point(1) != PointTwin(1)
    assert Point(1) != Named(1, name="n")
    whole = frozen(type("Whole", (), {"__annotations__": {"a": "int", "b": "int"}}))
    assert hash(whole(1, 2)) == hash(whole(b=2, a=1))
    assert len({whole(1, 2), whole(1, 2), whole(2, 1)}) == 2


def test_nothing_can_be_set_or_deleted() -> None:
    point = Point(1)
    for act in (
        lambda: setattr(point, "x", 2),
        lambda: setattr(point, "z", 2),
        lambda: delattr(point, "x"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            act()
    assert point == Point(1)


def test_each_instance_has_its_own_list() -> None:
    Point(1).tags.append("a")
    assert Point(1).tags == []


def test_copies_and_pickles_are_equal() -> None:
    for point in (Point(1, 2, ["a"], note="n"), Named(1, name="n")):
        for again in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
            assert again == point
            assert again is not point


def test_methods_are_kept_and_init_vars_are_not_stored() -> None:
    mean = Mean([1.0, 3.0], 2.0)
    assert vars(mean) == {"mean": 2.0}
    assert (repr(mean), hash(mean)) == ("a mean", 5)
    assert mean == Mean()
    assert (
        [one.name for one in fields(Mean)]
        == ["mean"]
        == [one.name for one in dataclasses.fields(Mean)]
    )


def test_pattern_matching_uses_fields_in_order() -> None:
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


def test_arguments_of_a_function_fill_the_fields_of_their_names() -> None:
    @frozen(kw_only=True)
    class Asked:
        limit: int = 10
        subject: str = ""
        deep: bool = False

    def ask(query: str, subject: str = "tea", limit: int = 3) -> tuple[Asked, Asked]:
        given = locals()
        return from_arguments(Asked, given), from_arguments(Asked, given, limit=50, deep=True)

    assert ask("what") == (
        Asked(limit=3, subject="tea"),
        Asked(limit=50, subject="tea", deep=True),
    )


def test_a_class_without_fields_is_compared_and_hashed() -> None:
    @frozen
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
