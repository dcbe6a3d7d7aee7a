"""Values made on first use: above all lazy imports, declared next to the ordinary ones.

    if TYPE_CHECKING:
        from memstore.file import doctor
    else:
        doctor = lazy_import("memstore.file.doctor")

A program that runs for a single answer should import only what that answer needs. Type checkers
and the architecture test read the first branch; decision 45 gives the reasons.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property


class _Module:
    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        name = self.__name__
        __import__(name)  # not import_module, which -X importtime does not show
        module = sys.modules[name]
        self.__dict__ = module.__dict__  # so that this is not called again
        return getattr(module, attribute)

    def __repr__(self) -> str:
        return f"<{self.__name__}, imported on first use>"


class _Pattern:
    __slots__ = ("_compiled", "_flags", "_pattern")

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(self._pattern, self._flags)
        return getattr(self._compiled, attribute)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a stand-in that compiles the regular expression when it is first used."""
    made: Any = _Pattern(pattern, flags)
    compiled: re.Pattern[str] = made
    return compiled


def lazy_import(name: str) -> Any:
    """Return a stand-in that imports the module when one of its attributes is first read."""
    return _Module(name)


class _CachedProperty(functools.cached_property[Any]):
    """Like :class:`functools.cached_property`, but threads do not wait for one another.

    Under Python 3.11 that has one lock for all instances, which is held while a value is made: a
    thread that waited for the server in one store kept those of every other store waiting. Threads
    that need the value of one instance at once may each make it, and all get the same one.
    """

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.attrname, self.func(instance))


if not TYPE_CHECKING:
    cached_property = _CachedProperty
