"""Devices: what each says in the place, and when this file goes on under a new id.

An id is cheap: when in doubt, a file becomes a new device. It does so if it was copied or moved to
another machine, or restored from a backup: somebody then knows of lines of it that it has not. Its
lines up to the last one that it has in common with them stay those of the old id.
"""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.errors import SyncError
from memstore.named import NamedTuple
from memstore.sync.places import names
from memstore.sync.remembered import write_private
from memstore.sync.segments import NEWER, NewerFormat, hash_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

FORMAT: Final = 1
MAX_BYTES: Final = 1024 * 1024
MAX_NAME: Final = 100


class Reached(NamedTuple):
    """How far somebody has taken the lines of a device."""

    line: int
    hash: str
    begins: int = 0
    """The line after which that device's chain begins."""


class DeviceState(NamedTuple):
    """What a device says of itself."""

    device: str
    name: str
    at: datetime
    head: Reached
    """Its own last line."""
    sent: int
    """Its last line in a file of the place."""
    sent_hash: str
    """The hash of that line."""
    erased: int
    """Its last line that erased something; 0 if none did."""
    edition: int
    """Another one if its files hold other records than before: all of them are read again."""
    taken: Mapping[str, Reached]
    former: tuple[str, ...]
    """The ids that it had."""
    dismissed: tuple[str, ...]
    """The devices that somebody dismissed there."""

    def same_as(self, other: DeviceState | None) -> bool:
        """Return whether another state says the same, but for its moment."""
        return other is not None and self._replace(at=other.at) == other


def write(state: DeviceState) -> bytes:
    """Return the file of a state."""
    told = {
        "memstore": "state",
        "format": FORMAT,
        **state._asdict(),
        "at": clock.to_text(state.at),
        "taken": {name: list(reached) for name, reached in sorted(state.taken.items())},
    }
    return json.dumps(told, ensure_ascii=False).encode()


def read(data: bytes, device: str) -> DeviceState:
    """Return what the file of a state says.

    Raises:
        SyncError: it is damaged, or another device's.
        NewerFormat: a newer version of the program wrote it.
    """
    try:
        told = json.loads(data)
        if not isinstance(told, dict) or told.get("memstore") != "state":
            raise ValueError("it does not say what it is")
        if _number(told["format"]) > FORMAT:
            raise NewerFormat(NEWER)
        if told["device"] != device:
            raise ValueError("it is another device's")
        return DeviceState(
            device,
            _text(told["name"])[:MAX_NAME],
            clock.from_text(_text(told["at"])),
            _reached(told["head"]),
            _number(told["sent"]),
            hash_of(told["sent_hash"]),
            _number(told["erased"]),
            _number(told["edition"]),
            {_device(name): _reached(one) for name, one in told["taken"].items()},
            tuple(_device(one) for one in told["former"]),
            tuple(_device(one) for one in told["dismissed"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SyncError(f"it is damaged: {error}") from error


SAID: Final = "said.json"
"""In that folder: what a person was told of the place, which is not said again."""


def news(state: Path, sentences: Sequence[str]) -> list[str]:
    """Return the sentences that were not said after the last run, and remember all of them."""
    file = state / SAID
    try:
        told = json.loads(file.read_bytes())
        before = {str(one) for one in told}
    except (OSError, ValueError, TypeError):
        before = set()
    if before != {*sentences}:
        write_private(file, json.dumps([*sentences]).encode())
    return [one for one in sentences if one not in before]


FILE: Final = "device.json"
"""In a file's folder of this machine: which device it is, at which path, and with which inode."""


def is_elsewhere(state: Path, device: str, file: Path) -> bool:
    """Return whether a file that says that it is a device is a copy, or was put back."""
    try:
        return bool(json.loads((state / FILE).read_bytes()) != _place_of(device, file))
    except (OSError, ValueError):
        return True


def remember(state: Path, device: str, file: Path) -> None:
    """Remember where a device is."""
    if is_elsewhere(state, device, file):
        write_private(state / FILE, json.dumps(_place_of(device, file)).encode())


def _place_of(device: str, file: Path) -> dict[str, Any]:
    found = file.resolve()
    return {"device": device, "path": str(found), "inode": found.stat().st_ino}


def name_of_machine() -> str:
    """Return what this machine calls itself."""
    return (platform.node().partition(".")[0] or "device")[:MAX_NAME]


def _reached(values: Any) -> Reached:
    line, hash_, begins = values
    return Reached(_number(line), hash_of(hash_), _number(begins))


def _device(name: Any) -> str:
    if not isinstance(name, str) or not names.DEVICE.fullmatch(name):
        raise ValueError("a device has no id")
    return name


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise TypeError("a number is missing")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    value.encode()  # half of a character is refused
    return value
