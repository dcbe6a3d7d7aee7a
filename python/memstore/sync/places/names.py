"""The names of files in a place.

``DEVICE/state`` says what a device has, and what it has taken. ``DEVICE/A-B.lines`` holds its lines
A to B, and ``DEVICE/OTHER.A-B.lines`` those of another device that it relays. ``DEVICE/key`` is the
key of a sealed place, as the device keeps it for those that know the passphrase,
``DEVICE/projects`` says of which repositories its namespaces are, and ``DEVICE/trust`` how much its
sources count, if that was chosen. All are ASCII, short, and lower case, so that no file system
takes two of them for one. Anything else is no file of sync.
"""

from __future__ import annotations

import re
import secrets
from typing import Final

from memstore.named import NamedTuple

DEVICE: Final = re.compile(r"[a-z2-7]{16}")
"""The id of a device: 80 random bits in base 32."""

NAME: Final = re.compile(
    r"(?P<device>[a-z2-7]{16})/"
    r"(?:state|(?:(?P<of>[a-z2-7]{16})\.)?(?P<first>[1-9][0-9]{0,14})-(?P<last>[1-9][0-9]{0,14})\.lines)"
)
PROJECTS: Final = re.compile(rf"{DEVICE.pattern}/projects")
KEY: Final = re.compile(rf"{DEVICE.pattern}/key")
TRUST: Final = re.compile(rf"{DEVICE.pattern}/trust")
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
ID_LENGTH: Final = 16


class Named(NamedTuple):
    """What a name says."""

    device: str
    """Who wrote the file."""
    of: str
    """Whose lines it holds."""
    first: int = 0
    last: int = 0
    """The first and the last line; 0 in the name of a state."""

    @property
    def is_state(self) -> bool:
        return not self.first

    @property
    def is_relayed(self) -> bool:
        return self.of != self.device


def read(name: str) -> Named | None:
    """Return what a name says; ``None`` if it is no state and holds no lines."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    device, first, last = match["device"], int(match["first"] or 0), int(match["last"] or 0)
    return None if first > last else Named(device, match["of"] or device, first, last)


def is_name(name: str) -> bool:
    """Return whether a file of a place may have this name."""
    others = (KEY, PROJECTS, TRUST)
    return read(name) is not None or any(one.fullmatch(name) is not None for one in others)


def of_key(device: str) -> str:
    """Return the name of the key of a sealed place, as a device keeps it."""
    return f"{device}/key"


def of_projects(device: str) -> str:
    """Return the name of the file that says of which repositories a device's namespaces are."""
    return f"{device}/projects"


def of_trust(device: str) -> str:
    """Return the name of the file that says how much a device's sources count."""
    return f"{device}/trust"


def of_state(device: str) -> str:
    """Return the name of a device's state."""
    return f"{device}/state"


def of_lines(device: str, of: str, first: int, last: int) -> str:
    """Return the name of a file with lines of a device, written by it or by another one."""
    relayed = "" if of == device else f"{of}."
    return f"{device}/{relayed}{first}-{last}.lines"


def new_device() -> str:
    """Return a new device id."""
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))
