"""The state of the memory: sizes, what waits, the doctor, trust, copies, tokens, latencies."""

from __future__ import annotations

import os
from statistics import median
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.domain.records import EVERYBODY
from memstore.errors import AccessDenied
from memstore.faces import wording
from memstore.faces.web import doctor
from memstore.faces.web.routes import asks, changes, shows
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.store.store import file_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.domain.tokens import AccessToken
    from memstore.embedding.pending import EmbedReport
    from memstore.faces import syncing_words
    from memstore.faces.web.doctor import Doctor
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit
    from memstore.file import syncing
    from memstore.file.file import File
    from memstore.sync.reports import Device
else:
    syncing = lazy_import("memstore.file.syncing")
    syncing_words = lazy_import("memstore.faces.syncing_words")

LAST: Final = 200
"""Searches whose latency is told."""


class Latency(NamedTuple):
    """Of the last recorded searches, in milliseconds."""

    searches: int
    median: float
    slowest: float


class DeviceLine(NamedTuple):
    """What is said of a device."""

    device: Device
    name: str
    stands: str


class Devices(NamedTuple):
    """The devices that share the memory."""

    sentence: str
    """With which place it syncs, and what became of the last run."""
    lines: list[DeviceLine]
    said: tuple[str, ...]
    """What the last run had to say."""


class WholeFile(NamedTuple):
    """What only those see who may see the whole file."""

    doctor: Doctor
    copies: tuple[str, ...]
    tokens: Sequence[AccessToken]
    sources: Mapping[str, str]
    devices: Devices | None


def show(visit: Visit, embedded: EmbedReport | None = None, status: int = 200) -> Reply:
    store = visit.store
    return visit.page(
        "state.html",
        status,
        state=store.of(EVERYBODY).status(),
        whole=_whole(visit),
        latency=_latency(visit),
        embedded=embedded,
        trouble=""
        if embedded is None or embedded.error is None
        else wording.in_pages(embedded.error),
        embedder_trouble=_embedder_trouble(visit),
    )


def _whole(visit: Visit) -> WholeFile | None:
    try:
        file = visit.store.file
    except AccessDenied:
        return None
    levels = visit.store.sources.levels()
    tokens = file.tokens.list()
    return WholeFile(doctor.of(file), file.copies(), tokens, levels, _devices(file))


def _devices(file: File) -> Devices | None:
    """Return what is known of the devices; ``None`` if the file does not sync."""
    if not os.path.isdir(settings.sync_folder()):
        return None
    found = syncing.status_of(file)
    if found.address is None:
        return None
    names = syncing_words.names_of(found.devices)
    lines = [
        DeviceLine(one, syncing_words.name_of(one), syncing_words.how_it_stands(one, names))
        for one in found.devices
    ]
    said = list(found.said)
    if syncing_words.remains_at_host(found):
        said.append(syncing_words.AT_HOST)
    return Devices(syncing_words.run_sentence(found), lines, tuple(said))


def _latency(visit: Visit) -> Latency | None:
    last = visit.store.of(EVERYBODY).searches.list(limit=LAST)
    times = [one.milliseconds for one in last if one.milliseconds is not None]
    return Latency(len(times), median(times), max(times)) if times else None


def _embedder_trouble(visit: Visit) -> str:
    trouble = file_of(visit.store).embedder_trouble
    return "" if trouble is None else wording.in_pages(trouble)


# -- the doctor ------------------------------------------------------------------------------------


def check(visit: Visit) -> Reply:
    doctor.of(visit.store.file).start(deep=bool(visit.field("deep")), stays=visit.stays)
    return _doctor(visit)


def stop(visit: Visit) -> Reply:
    doctor.of(visit.store.file).stop()
    return _doctor(visit)


def progress(visit: Visit) -> Reply:
    """Return how far it is, to be put into a page that is open."""
    return visit.page("parts/doctor.html", doctor=doctor.of(visit.store.file))


def _doctor(visit: Visit) -> Reply:
    return progress(visit) if visit.swaps else visit.to("state#doctor")


# -- what waits, and tokens ------------------------------------------------------------------------


def embed(visit: Visit) -> Reply:
    """Embed what waits, also what failed for good."""
    store = visit.store
    report = file_of(store).embed_pending(store.namespace, retry_quarantined=True, limit=1000)
    visit.see_now()
    return show(visit, report)


def revoke(visit: Visit) -> Reply:
    visit.store.file.tokens.revoke(visit.numbers["id"])
    return visit.to("state#tokens")


ROUTES: Final = (
    shows("state", show),
    asks("state/doctor", check),
    asks("state/doctor/stop", stop),
    shows("state/doctor", progress),
    changes("state/embed", embed),
    changes("state/token/{id}/revoke", revoke),
)
