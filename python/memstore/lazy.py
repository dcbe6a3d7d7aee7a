"""Modules that are imported when they are first used, declared where the others are imported.

    if TYPE_CHECKING:
        from memstore.upkeep import doctor
    else:
        doctor = lazy_import("memstore.upkeep.doctor")

A program that starts for one answer should import what that answer needs. Type checkers and the
test of the rooms read the first branch; decision 45 says why it is done so.
"""

from __future__ import annotations

import sys
from typing import Any


class _Module:
    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            __import__(self._name)  # in place of import_module: -X importtime tells of it
            self._module = sys.modules[self._name]
        return getattr(self._module, attribute)

    def __repr__(self) -> str:
        return f"<{self._name}, imported on first use>"


def lazy_import(name: str) -> Any:
    """Return what stands for a module and imports it when an attribute of it is first read."""
    return _Module(name)
