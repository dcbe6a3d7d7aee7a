"""Named tuples: like those of ``typing``, but cheap to define.

    class Period(NamedTuple):
        start: datetime
        end: datetime | None = None

``typing.NamedTuple`` compiles each annotation and a constructor, which was a tenth of the time of a
short command (decision 45). Here the annotations stay texts, methods are shared, and a constructor
is compiled for the classes of which many tuples are made.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NamedTuple as NamedTuple


FEW: Final = 32
"""Tuples of a class that are made before its constructor is compiled, which takes as long."""


class _Named(tuple[Any, ...]):
    """What all of them share."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[Mapping[str, Any]] = {}
    _count: ClassVar[list[int]] = [0]
    """How many tuples were made without one."""

    def __new__(cls, /, *args: Any, **given: Any) -> Any:
        if cls._count[0] < FEW:
            cls._count[0] += 1
            rest = cls._fields[len(args) :]
            known = {**cls._field_defaults, **given}
            if (
                len(args) + len(rest) == len(cls._fields)
                and given.keys() <= {*rest} <= known.keys()
            ):
                return tuple.__new__(cls, (*args, *map(known.__getitem__, rest)))
        defining: Any = next(one for one in cls.__mro__ if "_fields" in one.__dict__)
        defining.__new__ = made = _constructor(defining)
        return made(cls, *args, **given)  # which says what is wrong with the arguments

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: Any) -> Any:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {[*changes]!r}")
        return made

    __replace__ = _replace

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=False))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=False))
        return f"{self.__class__.__name__}({', '.join(shown)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


def _constructor(cls: Any) -> Any:
    """Compile the constructor of a class, which checks its arguments by itself."""
    names = ", ".join(cls._fields)
    given = f", {names}" if names else ""
    values = f"{names}," if names else ""
    made = eval(  # noqa: S307 - of the names in a class statement
        f"lambda _cls{given}: _new(_cls, ({values}))", {"_new": tuple.__new__}
    )
    made.__name__ = "__new__"
    made.__qualname__ = f"{cls.__qualname__}.__new__"
    made.__defaults__ = tuple(cls._field_defaults.values())
    return made


class _Statement(type):
    """Makes a named tuple of a class statement."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body[field] for field in fields if field in body}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"in {name} a field without a default follows one that has one")
        for place, field in enumerate(fields):
            body[field] = _tuplegetter(place, "")
        body |= {
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
            "_count": [0],
        }
        return type(name, tuple(_Named if base is _BASE else base for base in bases), body)


_BASE = type.__new__(_Statement, "NamedTuple", (), {})

if not TYPE_CHECKING:

    class NamedTuple:
        """The base in a class statement."""

        def __mro_entries__(self, _: object) -> tuple[type, ...]:
            return (_BASE,)

    NamedTuple = NamedTuple()
