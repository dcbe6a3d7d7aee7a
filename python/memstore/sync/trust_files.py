"""What each device says of its sources: how much they count.

It is said only where a person chose that, and only through a place that is sealed: whoever can
write into another one could let text of a stranger count as a person's word, or hide what a person
said. Of each source, what was set last holds, on every device that chose it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Author
from memstore.database.tables import devices as device_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.taken import TakenLine
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME
from memstore.domain.trust import LEVELS
from memstore.errors import SyncError
from memstore.history import trust
from memstore.named import NamedTuple
from memstore.sync import rules
from memstore.sync.places import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from memstore.database.engine import Engine, Transaction
    from memstore.sync.places import Place, Seal

FORMAT: Final = 1
MAX_BYTES: Final = 1024 * 1024
MAX_SOURCES: Final = 5_000
MAX_RANK: Final = rules.micros("9000-01-01T00:00:00.000000Z")


class Setting(NamedTuple):
    """What a source counts, since when, and by whom that was decided."""

    rank: int
    """The moment in microseconds, or right after that of the setting that it replaced."""
    level: str
    """Empty for what holds if nothing is set."""
    is_distrusted: bool
    actor: str
    source: str
    """The interface by which it was set."""

    @property
    def value(self) -> tuple[str, bool]:
        return self.level, self.is_distrusted


class Exchanged(NamedTuple):
    """Of how many sources the level was taken from other devices, and is news for them."""

    came: int = 0
    went: int = 0


def exchange(
    engine: Engine,
    place: Place,
    listed: Collection[str],
    device: str,
    seal: Seal,
    *,
    dry_run: bool = False,
) -> Exchanged:
    """Take what other devices say of their sources where it is newer, and say what holds here.

    Args:
        listed: the names of the files of the place.
        device: this one.
        seal: of the place; without one, nothing is exchanged.
        dry_run: only count.
    """
    own = names.of_trust(device)
    others: dict[str, Mapping[str, Setting]] = {
        name.partition("/")[0]: _read(place, name, seal)
        for name in sorted(listed)
        if names.TRUST.fullmatch(name) and name != own
    }
    newest: dict[str, tuple[Setting, str]] = {}
    for said_by, settings in others.items():
        for source, setting in settings.items():
            if source not in newest or newest[source][0] < setting:
                newest[source] = setting, said_by
    if dry_run:
        with engine.read() as transaction:
            here = stored(transaction)
        came = sum(_is_news(here.get(source), one) for source, (one, _) in newest.items())
    else:
        with engine.write() as transaction:
            came = _take(transaction, newest)
            here = stored(transaction)
    said = _read(place, own, seal) if own in listed else {}
    if said != here and not dry_run:
        place.put(own, seal.seal(write(here), device=device, name=own))
    return Exchanged(came, sum(said.get(source) != one for source, one in here.items()))


def withdraw(place: Place, listed: Collection[str], device: str) -> None:
    """Remove what this device said of its sources."""
    if (own := names.of_trust(device)) in listed:
        place.delete(own)


def stored(transaction: Transaction) -> dict[str, Setting]:
    """Return what was set here for each source, by the beginning of its name."""
    found: dict[str, Setting] = {}
    for line in journal.of_sources(transaction, NO_LIMIT):
        before, after = (trust.read_table(part or {}) for part in (line.before, line.after))
        at = rules.micros(clock.to_text(line.said_at or line.at))
        for source in sorted({*before.chosen, *before.levels, *after.chosen, *after.levels}):
            was, now = (
                (one.levels.get(source, ""), source in one.distrusted) for one in (before, after)
            )
            if was != now:
                replaced = found[source].rank if source in found else 0
                rank = at if line.said_at is not None else max(at, replaced + 1)
                found[source] = Setting(rank, *now, line.actor, line.source)
    return found


def _is_news(here: Setting | None, there: Setting) -> bool:
    """Return whether a setting of another device holds here from now on, and changes something."""
    return (
        there.value != ("", False) if here is None else here < there and here.value != there.value
    )


def _take(transaction: Transaction, newest: Mapping[str, tuple[Setting, str]]) -> int:
    """Set what other devices set later; return of how many sources."""
    here = stored(transaction)
    news = [
        (setting, source, said_by)
        for source, (setting, said_by) in newest.items()
        if _is_news(here.get(source), setting)
    ]
    rows = {row.device: row.id for row in device_table.every(transaction)}
    for setting, source, said_by in sorted(news):
        trust.repeat(
            transaction,
            Author(setting.actor, setting.source),
            source,
            setting.level,
            is_distrusted=setting.is_distrusted,
            said_at=clock.EPOCH + setting.rank * rules.MICROSECOND,
        )
        line = journal.last_id(transaction)
        told = TakenLine(line, rows.get(said_by), 0, line, setting.rank, None)
        transaction.queue(taken_table.TRACE, told)
    if news:
        trust.judge_all(transaction)
    return len(news)


def write(settings: Mapping[str, Setting]) -> bytes:
    """Return the file with what a device says of its sources."""
    told = {source: list(one) for source, one in sorted(settings.items())}
    return json.dumps(
        {"memstore": "trust", "format": FORMAT, "sources": told}, ensure_ascii=False
    ).encode()


def _read(place: Place, name: str, seal: Seal) -> Mapping[str, Setting]:
    """Return what a file says; nothing if it is damaged, or was not sealed with this key."""
    try:
        data = seal.open(place.get(name, most=MAX_BYTES), device=name.partition("/")[0], name=name)
        return read(data)
    except SyncError:
        return {}


def read(data: bytes) -> dict[str, Setting]:
    """Return what a file of a device says of its sources.

    Raises:
        SyncError: it is damaged, or of a newer format.
    """
    try:
        told = json.loads(data)
        if told["memstore"] != "trust" or told["format"] != FORMAT:
            raise ValueError("it is no file of trust that this version reads")
        if len(told["sources"]) > MAX_SOURCES:
            raise ValueError("it names too many sources")
        return dict(_settings(told["sources"].items()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SyncError(f"it is damaged: {error}") from error


def _settings(sources: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Setting]]:
    for source, values in sources:
        rank, level, is_distrusted, actor, through = values
        if type(rank) is not int or not 0 <= rank < MAX_RANK:
            raise TypeError("a moment is missing")
        if level not in ("", *LEVELS) or type(is_distrusted) is not bool:
            raise ValueError("it names no level of trust")
        for text in (source, actor, through):
            _check_text(text)
        if source != source.strip().casefold():
            raise ValueError("a source is not written as sources are compared")
        yield source, Setting(rank, level, is_distrusted, actor, through)


def _check_text(text: object) -> None:
    if not isinstance(text, str) or not 0 < len(text) <= MAX_NAME or "\0" in text:
        raise TypeError("a name is missing, or too long")
    text.encode()  # half of a character is refused
