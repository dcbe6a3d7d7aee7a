"""What a run of sync did, and what is known of each device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.frozen import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@frozen
class Synced:
    """What one run of sync did, or would do."""

    came: Mapping[str, int] = field(default_factory=dict)
    """How many changes were taken from other devices, by namespace."""
    went: Mapping[str, int] = field(default_factory=dict)
    """How many changes of this file were written to the place, by namespace."""
    waits: Mapping[str, int] = field(default_factory=dict)
    """How many changes of others could not be taken yet, by the id of the device."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many of those that went did so without what looks like a secret."""
    erased: int = 0
    """How many of the records that came were erased here."""
    ignored: tuple[str, ...] = ()
    """A sentence on each file of the place that could not be read, said once."""
    device: str = ""
    """The id of this device, which is a new one if :attr:`was` is not empty."""
    was: str = ""
    """The id that this file had before: it is a copy, was restored, or is on another machine."""
    reason: str = ""
    """Why it has another id now, as a clause."""
    dry_run: bool = False
    """Whether nothing was written."""


@frozen
class Device:
    """A device that meets others in the place."""

    id: str
    name: str
    is_here: bool
    heard_at: datetime | None = None
    """When it last wrote to the place, by its own clock."""
    taken: int = 0
    """How many of its lines this file has taken."""
    unsent: int = 0
    """Of this device: how many of its changes are not in the place yet."""
    behind: Mapping[str, int] = field(default_factory=dict)
    """How many changes of other devices it has not taken, by their ids."""
    is_retired: bool = False
    """Whether its file goes on under another id, because it was copied or restored."""
    is_dismissed: bool = False
    """Whether somebody dismissed it."""
    remains: bool = False
    """Whether texts that were erased may still lie on it: it has not taken the erasure."""


@frozen
class Status:
    """What is known of the place, without asking it."""

    address: str | None
    namespaces: tuple[str, ...] = ()
    """Those that travel."""
    synced_at: datetime | None = None
    """When this device last wrote to the place."""
    tried_at: datetime | None = None
    """When the last run ended, with news or without."""
    failed: str = ""
    """Why the last run failed; empty if it did not."""
    said: tuple[str, ...] = ()
    """What a person has to know of the last run."""
    every_seconds: float | None = None
    """How often it is synced in the background; ``None`` if it is not."""
    trust: bool = False
    """Whether it travels how much sources count."""
    devices: tuple[Device, ...] = ()
    """This one first, then the others by name."""
