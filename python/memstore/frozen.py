"""Frozen classes: like frozen dataclasses, but cheap to define.

    @frozen(kw_only=True)
    class Period:
        start: datetime
        end: datetime | None = None

``dataclass`` compiles six functions for each class and imports ``inspect``, which was a fifth of
the time of a short command (decision 45). These classes share their functions. The functions of
``dataclasses`` accept them, and ``__post_init__``, ``InitVar`` and ``ClassVar`` have their usual
meaning. A method that a class or one of its bases defines is kept.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, dataclass_transform, overload

from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import dataclasses
    import inspect
    from collections.abc import Callable, Mapping
else:
    dataclasses = lazy_import("dataclasses")
    inspect = lazy_import("inspect")

C = TypeVar("C", bound=type)
R = TypeVar("R")

MISSING: Final[Any] = type("Missing", (), {"__repr__": lambda _: "MISSING"})()
"""The default of a field that has none."""


class FieldSpec(NamedTuple):
    """One field of a frozen class."""

    name: str
    type: str
    default: Any
    default_factory: Callable[[], Any] | None
    kw_only: bool
    repr: bool
    metadata: Mapping[str, Any]

    @property
    def is_stored(self) -> bool:
        """Whether it is an attribute, and not an ``InitVar``."""
        return not self.type.startswith("InitVar[")


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | None = None,
    kw_only: bool = False,
    repr: bool = True,  # noqa: A002 (its name in dataclasses)
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """Describe a field, like :func:`dataclasses.field`."""
    return FieldSpec("", "", default, default_factory, kw_only, repr, metadata or {})


@overload
def frozen(cls: C, /) -> C: ...
@overload
def frozen(*, kw_only: bool = ...) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, kw_only: bool = False) -> Any:
    """Give a class with annotated fields a constructor, comparison, hash and representation."""
    if cls is None:
        return lambda cls: _prepared(cls, kw_only)
    return _prepared(cls, kw_only)


def fields(record: Any) -> tuple[FieldSpec, ...]:
    """Return the stored fields of a frozen class or of an instance."""
    found: tuple[FieldSpec, ...] = record._shape.stored
    return found


def asdict(record: Any) -> dict[str, Any]:
    """Return the values of an instance by name, without copying them."""
    shape: _Shape = record._shape
    return dict(zip(shape.names, shape.values(record), strict=True))


def replace(record: R, /, **changes: Any) -> R:
    """Return a copy of an instance with other values in some fields."""
    kind: Any = record.__class__
    shape: _Shape = kind._shape
    values = asdict(record) | changes
    if kind.__init__ is not _init or shape.unstored or len(values) > len(shape.names):
        return kind(**values)  # type: ignore[no-any-return]
    made: Any = object.__new__(kind)
    made.__dict__.update(values)
    if (check := getattr(made, "__post_init__", None)) is not None:
        check()
    return made  # type: ignore[no-any-return]


def derived(kind: Callable[..., R], record: Any, /, **changes: Any) -> R:
    """Return an instance of another frozen class, with the values of a record and changes.

    Values that the class has no field for are left out. Nothing is checked, and fields with a
    default may be missing: the constructor takes several times as long.
    """
    made: Any = object.__new__(kind)  # type: ignore[arg-type]
    values = made.__dict__
    values.update(record.__dict__)
    values.update(changes)
    list(map(values.pop, *_surplus(record.__class__, kind)))  # a loop takes longer than the rest
    return made  # type: ignore[no-any-return]


def from_arguments(kind: Callable[..., R], arguments: Mapping[str, Any], **others: Any) -> R:
    """Return an instance of a frozen class, made of the arguments of a function: its ``locals()``.

    A field takes the argument of its name, or that in ``others``, or else its default. Arguments
    that the class has no field for are left out.
    """
    named = {one.name: arguments[one.name] for one in fields(kind) if one.name in arguments}
    return kind(**named | others)


@cache
def _surplus(kind: Any, other: Any) -> tuple[tuple[str, ...], tuple[None, ...]]:
    """Return the fields of a class that another one does not have, and ``None`` for each."""
    names = tuple(one.name for one in fields(kind) if one.name not in other._shape.defaults)
    return names, (None,) * len(names)


class _Shape:
    """What the shared functions need to know about a class."""

    def __init__(self, found: Mapping[str, FieldSpec]) -> None:
        self.fields = tuple(found.values())
        self.stored = tuple(one for one in self.fields if one.is_stored)
        self.positional = tuple(one.name for one in self.fields if not one.kw_only)
        self.defaults = {one.name: one.default for one in self.fields}
        self.factories = {
            one.name: one.default_factory for one in self.fields if one.default_factory is not None
        }
        self.required = {n for n, v in self.defaults.items() if v is MISSING} - {*self.factories}
        self.unstored = [one.name for one in self.fields if not one.is_stored]
        self.names = tuple(one.name for one in self.stored)
        self.values = _getter(self.names)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what returns the values of these fields of a record."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)  # no tuple of one name


def _prepared(cls: Any, kw_only: bool) -> Any:
    found: dict[str, FieldSpec] = {}
    for base in reversed(cls.__mro__[1:]):
        if "_shape" in base.__dict__:
            found |= {one.name: one for one in base.__dict__["_shape"].fields}
    for name, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar["):
            continue
        given = cls.__dict__.get(name, MISSING)
        if not isinstance(given, FieldSpec):
            given = FieldSpec(name, annotation, given, None, kw_only, True, {})
        elif given.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, given.default)
        found[name] = given._replace(name=name, type=annotation, kw_only=kw_only or given.kw_only)
    cls._shape = _Shape(found)
    cls.__match_args__ = cls._shape.positional  # type: ignore[misc]
    cls.__init__ = _init
    cls.__replace__ = replace
    cls.__setattr__ = _refuse_to_set
    cls.__delattr__ = _refuse_to_delete
    if cls.__repr__ is object.__repr__:
        cls.__repr__ = _repr
    if cls.__eq__ is object.__eq__:
        cls.__eq__ = _eq
        cls.__hash__ = _hash
    cls.__signature__ = _Signature()
    cls.__dataclass_fields__ = _OfDataclass("__dataclass_fields__")
    cls.__dataclass_params__ = _OfDataclass("__dataclass_params__")
    return cls


def _init(self: Any, /, *args: Any, **given: Any) -> None:
    shape: _Shape = self._shape
    named = given
    if args:
        named = dict(zip(shape.positional, args, strict=False), **given)
    is_complete = shape.required <= named.keys() <= shape.defaults.keys()
    if not is_complete or len(named) < len(args) + len(given):
        raise _misfit(self, args, given)
    values = shape.defaults | named
    for name, make in shape.factories.items():
        if name not in named:
            values[name] = make()
    for name in shape.unstored:
        del values[name]
    self.__dict__.update(values)
    if (check := getattr(self, "__post_init__", None)) is not None:
        check()


def _misfit(self: Any, args: tuple[Any, ...], given: Mapping[str, Any]) -> TypeError:
    """Return the error that a function with these parameters would raise."""
    try:
        inspect.signature(self.__class__).bind(*args, **given)
    except TypeError as error:
        return TypeError(f"{self.__class__.__qualname__}() {error}")
    raise AssertionError((args, given))


def _refuse_to_set(self: Any, name: str, _: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = self._shape.values
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(self._shape.values(self))


class _Signature:
    """The signature of a class, for ``inspect.signature``."""

    def __get__(self, _: object, cls: Any) -> inspect.Signature:
        kinds = inspect.Parameter
        return inspect.Signature(
            [
                kinds(
                    one.name,
                    kinds.KEYWORD_ONLY if one.kw_only else kinds.POSITIONAL_OR_KEYWORD,
                    default=_default(one, kinds.empty),
                    annotation=one.type,
                )
                for one in sorted(cls._shape.fields, key=lambda one: one.kw_only)
            ]
        )


def _default(one: FieldSpec, none: Any) -> Any:
    """Return the default as a signature shows it; ``none`` for a required field."""
    return one.default_factory or (none if one.default is MISSING else one.default)


class _OfDataclass:
    """An attribute of the dataclass with the same fields, made for the module ``dataclasses``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _: object, cls: Any) -> Any:
        twin = cls._shape.__dict__.get("dataclass")
        if twin is None:
            twin = cls._shape.dataclass = dataclasses.make_dataclass(
                cls.__name__, map(_described, cls._shape.fields), frozen=True
            )
        return getattr(twin, self._name)


def _described(one: FieldSpec) -> tuple[str, Any, Any]:
    given: dict[str, Any] = {"kw_only": one.kw_only, "repr": one.repr, "metadata": one.metadata}
    if one.default is not MISSING:
        given["default"] = one.default
    if one.default_factory is not None:
        given["default_factory"] = one.default_factory
    kind = one.type if one.is_stored else dataclasses.InitVar[Any]
    return one.name, kind, dataclasses.field(**given)
