"""The rules by which the records of several devices become one state. They read no database.

The state follows from the set of records, whatever order they came in. What can have one value is a
*register*, and holds the record of highest rank; confirmations and erasures are unions; links that
follow from several facts are derived from these. Two records of one rank are ordered by what they
say, so that it does not matter under which device's name each of them came.
"""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import DECIDING, Kind
from memstore.domain import clock
from memstore.domain.arguments import checked_key, stored_text
from memstore.domain.metadata import encode
from memstore.domain.proposals import ProposalState
from memstore.named import NamedTuple
from memstore.text.folding import folded, subject_key
from memstore.text.secrets import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MICROSECOND: Final = timedelta(microseconds=1)

FACT: Final = "fact"
EPISODE: Final = "episode"

LINK: Final = "superseded_by"
DELETION: Final = "deleted_at"
PIN: Final = "pinned_at"
EXPIRY: Final = "expired_at"
KEY: Final = "external_key"
TAGS: Final = "tags"
PROPOSAL: Final = "proposal"
"""Of a record about a proposal: the UUID of the fact that would replace another one, or nothing and
the UUIDs of those that one text would replace."""
METADATA: Final = "metadata"
TASK: Final = ("status", "surface")
"""Keys of metadata that are one register: what a task is, and where it is shown."""
MEMBER: Final = "metadata."
"""The beginning of the names of registers for keys of metadata."""

BIRTHS: Final = frozenset({Kind.ADD, Kind.ADOPT, Kind.EPISODE})
ENDS: Final = frozenset({Kind.ERASE, Kind.ERASE_EPISODE})
OF_FACTS: Final = frozenset(
    {
        *(Kind.ADD, Kind.ADOPT, Kind.SUPERSEDE, Kind.UNSUPERSEDE, Kind.CONFIRM, Kind.UNCONFIRM),
        *(Kind.METADATA, Kind.UPDATE, Kind.PIN, Kind.UNPIN, Kind.DELETE, Kind.RESTORE, Kind.ERASE),
        *DECIDING,
    }
)
OF_EPISODES: Final = frozenset({Kind.EPISODE, Kind.ADOPT, Kind.UPDATE_EPISODE, Kind.ERASE_EPISODE})
TRAVELLING: Final = OF_FACTS | OF_EPISODES
"""The kinds of lines that travel; the others are of this file alone."""
OWNERS: Final = ("user_id", "agent_id", "run_id")


class About(NamedTuple):
    """The fact or the episode that a record is about."""

    kind: str
    namespace: str
    uuid: str


class Record(NamedTuple):
    """One line of a device's journal, with UUIDs in place of ids."""

    device: str
    line: int
    act: int
    at: int
    """The moment of the act, in microseconds."""
    rank: int
    """The moment, or 1 µs after the rank of what it replaces, if that is later."""
    kind: str
    about: About
    value: Mapping[str, Any] | None
    """What it sets; of a birth that was erased, nothing."""
    actor: str = ""
    source: str = ""


class Top(NamedTuple):
    """What a register holds."""

    rank: int
    value: Any

    @property
    def key(self) -> tuple[int, str]:
        """What orders it among others: its rank, and of equal ones what it says."""
        return self.rank, in_order(self.value)

    def says(self, rank: int, value: Any) -> bool:
        """Return whether it is the one of a rank that says this."""
        return self.rank == rank and in_order(self.value) == in_order(value)


NOTHING: Final = Top(0, None)


def in_order(value: Any) -> str:
    """Return a value as the text by which records of one rank are ordered."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


class Link(NamedTuple):
    """A supersession, or its end, as somebody wrote it."""

    rank: int
    uuid: str | None
    at: str | None
    replaces: tuple[int, str | None] | None
    """The rank and the successor of the link that it replaced."""


class Item:
    """All that is known of one fact or episode."""

    __slots__ = (
        *("about", "birth", "born", "confirmations", "devices", "floors", "is_blank", "is_erased"),
        *("links", "tops", "withdrawn"),
    )

    def __init__(self, about: About) -> None:
        self.about = about
        self.birth: Mapping[str, Any] | None = None
        self.born: tuple[int, str] | None = None
        self.devices: set[str] = set()
        """On which devices it was stored."""
        self.is_blank = False
        self.is_erased = False
        self.tops: dict[str, Top] = {}
        self.links: set[Link] = set()
        self.confirmations: dict[str, int] = {}
        """The rank of each confirmation, by its moment."""
        self.withdrawn: set[str] = set()
        self.floors: dict[str, int] = {}
        """The ranks of what was derived here, which later changes of the same register exceed."""

    @property
    def is_known(self) -> bool:
        return self.born is not None

    def top(self, name: str) -> Top:
        return self.tops.get(name, NOTHING)

    def rank_of(self, kind: str, value: Mapping[str, Any] | None, at: int) -> int:
        """Return the rank of a change that is made here now: later than what it replaces."""
        if kind in BIRTHS or kind in ENDS or value is None:
            return at
        if kind == Kind.CONFIRM:
            return max(at, self.top(DELETION).rank + 1)
        if kind == Kind.UNCONFIRM:
            return at
        rank = at
        for name, _ in registers(value, self.about.kind):
            rank = max(rank, self.top(name).rank + 1, self.floors.get(name, 0) + 1)
            if name == DELETION:
                rank = max(rank, self.heard + 1)
        return rank

    @property
    def heard(self) -> int:
        """The rank of the last confirmation that counts."""
        return max(
            (rank for at, rank in self.confirmations.items() if at not in self.withdrawn),
            default=0,
        )

    def add(self, record: Record) -> None:
        """Take a record into account."""
        value = record.value
        if record.kind in BIRTHS:
            self._bear(record)
        elif record.kind in ENDS:
            self.is_erased = True
            if value and value.get(LINK):
                self._link(Link(value["rank"], value[LINK], value.get("superseded_at"), None))
        elif value is None:
            pass
        elif record.kind == Kind.CONFIRM:
            held = self.confirmations.get(value["at"], 0)
            self.confirmations[value["at"]] = max(held, record.rank)
        elif record.kind == Kind.UNCONFIRM:
            self.withdrawn.update(value["at"])
        elif LINK in value:
            replaces = value.get("replaces")
            before = None if replaces is None else (replaces[0], replaces[1])
            self._link(Link(record.rank, value[LINK], value.get("superseded_at"), before))
        else:
            # Several devices put one proposal forward, some after it was decided elsewhere.
            is_open = record.kind == Kind.PROPOSE and value["state"] == ProposalState.OPEN
            for name, one in registers(value, self.about.kind):
                self._set(name, 0 if is_open else record.rank, one)

    def _link(self, link: Link) -> None:
        self.links.add(link)
        self._set(LINK, link.rank, (link.uuid, link.at))

    def _set(self, name: str, rank: int, value: Any) -> None:
        held = self.tops.get(name)
        if (
            held is None
            or rank > held.rank
            or (rank == held.rank and in_order(value) > in_order(held.value))
        ):
            self.tops[name] = Top(rank, value)

    def _bear(self, record: Record) -> None:
        self.devices.add(record.device)
        value = record.value
        if value is None:
            self.is_blank = True
            if self.born is None:
                self.born = record.rank, ""
            return
        key = record.rank, self.about.uuid
        if self.birth is None or self.born is None or key < self.born:
            self.born, self.birth = key, value
        for name, one in registers(value, self.about.kind):
            self._set(name, self._first_rank(record, name), one)
        if value.get(LINK):
            at = value.get("superseded_at")
            rank = micros(at) if at else record.rank
            self._link(Link(rank, value[LINK], at, None))

    @staticmethod
    def _first_rank(record: Record, name: str) -> int:
        """Return the rank of what a fact began with: its own times, if older than its line."""
        value = record.value or {}
        if record.kind == Kind.ADOPT and name in (DELETION, PIN):
            return micros(value[name])
        return record.rank


def registers(value: Mapping[str, Any], kind: str = FACT) -> Iterator[tuple[str, Any]]:
    """Yield the registers that a value sets, by name."""
    if PROPOSAL in value:
        yield proposal_register(value[PROPOSAL]), value["state"]
        return
    for name in (DELETION, PIN, EXPIRY, KEY, TAGS):
        if name in value:
            yield name, value[name]
    if LINK in value and "uuid" not in value:
        yield LINK, (value[LINK], value.get("superseded_at"))
    if METADATA in value:
        if kind == EPISODE:
            yield METADATA, value[METADATA]
            return
        for name, one in parted(value[METADATA]).items():
            yield MEMBER + name, one


def checked(kind: str, value: Mapping[str, Any], about: str) -> dict[str, Any]:
    """Return what a record of another device sets, without what is unknown here.

    Raises:
        ValueError: a moment is none.
        TypeError: a value is of another type.
    """
    if (PROPOSAL in value) != (kind in DECIDING):
        raise ValueError(f"a line of the kind {kind} does not say this")
    if kind in ENDS:
        if not value.get(LINK):
            return {}
        rank, uuid, at = value["rank"], value[LINK], value.get("superseded_at")
        if type(rank) is not int:
            raise TypeError("a link is none")
        return {LINK: _checked_text(uuid, LINK), "superseded_at": _checked_moment(at), "rank": rank}
    if kind == Kind.CONFIRM:
        return {"at": _moment_of(value["at"])}
    if kind == Kind.UNCONFIRM:
        return {"at": [_moment_of(at) for at in value["at"]]}
    if PROPOSAL in value:
        return _checked_proposal(value)
    found: dict[str, Any] = {}
    for name in (DELETION, PIN, EXPIRY):
        if name in value:
            found[name] = _checked_moment(value[name])
    if KEY in value:
        found[KEY] = None if value[KEY] is None else checked_key(value[KEY], KEY)
    if METADATA in value:
        encode(value[METADATA])
        found[METADATA] = value[METADATA]
    if TAGS in value and about == EPISODE:
        found[TAGS] = [stored_text(tag, "tag") for tag in value[TAGS]]
    if LINK in value:
        found |= _checked_link(value)
    return found


TEXTS: Final = ("content", "subject", "category", "idempotency_key", KEY, LINK, "episode")
MOMENTS: Final = (DELETION, PIN, EXPIRY, "superseded_at", "created_at", "last_confirmed_at")


def check_birth(value: Mapping[str, Any], about: str) -> None:
    """Check what the rules read of a new fact or episode; the rest is checked when it is stored.

    Raises:
        ValueError: a moment is none.
        TypeError: a value is of another type.
    """
    for name in (*TEXTS, *OWNERS):
        _checked_text(value.get(name), name)
    for name in ("content", "subject", "category") if about == FACT else ("content",):
        if not value.get(name):
            raise TypeError(f"there is no {name}")
    for name in MOMENTS:
        if value.get(name) is not None:
            _moment_of(value[name])
    if not isinstance(value.get(METADATA, {}), dict):
        raise TypeError("metadata is no object")
    if not isinstance(value.get(TAGS) or [], list):
        raise TypeError("tags are no list")
    if type(value.get("confirmed_count", 0)) is not int:
        raise TypeError("confirmed_count is no number")


def _checked_proposal(value: Mapping[str, Any]) -> dict[str, Any]:
    key = [None if one is None else stored_text(one, PROPOSAL) for one in value[PROPOSAL]]
    if not key or (key[0] is None and len(key) < 2) or None in key[1:]:
        raise TypeError("a proposal names no facts")
    found: dict[str, Any] = {PROPOSAL: key, "state": str(ProposalState(value["state"]))}
    if value.get("similarity") is not None:
        found["similarity"] = float(value["similarity"])
    if value.get("at") is not None:
        found["at"] = _moment_of(value["at"])
    for name in ("became", "content"):
        if value.get(name) is not None:
            found[name] = stored_text(value[name], name)
    return found


def _checked_link(value: Mapping[str, Any]) -> dict[str, Any]:
    uuid, replaces = value[LINK], value.get("replaces")
    _checked_text(uuid, LINK)
    if replaces is not None:
        rank, before = replaces
        _checked_text(before, "replaces")
        if type(rank) is not int:
            raise TypeError("a link is none")
    at = _checked_moment(value.get("superseded_at"))
    return {LINK: uuid, "superseded_at": at, "replaces": replaces}


def _checked_text(text: Any, name: str) -> str | None:
    return None if text is None else stored_text(text, name)


def _checked_moment(text: Any) -> str | None:
    return None if text is None else _moment_of(text)


def _moment_of(text: Any) -> str:
    return clock.to_text(clock.from_text(stored_text(text, "a moment")))


def proposal_register(key: Any) -> str:
    """Return the register of what became of a proposal, by the facts that it names."""
    return f"{PROPOSAL}.{in_order(key)}"


def parted(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata by registers: each key, and what belongs together of a task."""
    if not metadata:
        return {}
    parts = {f"key.{name}": one for name, one in metadata.items() if name not in TASK}
    task = {name: metadata[name] for name in TASK if name in metadata}
    return parts | ({"task": task} if task else {})


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a change of metadata set: its keys with their values, ``None`` if removed."""
    found = {
        name: after.get(name)
        for name in sorted({*before, *after})
        if in_order(before.get(name)) != in_order(after.get(name))
    }
    if any(name in TASK for name in found):
        found |= {name: after.get(name) for name in TASK if name in {*before, *after}}
    return found


def micros(text: str) -> int:
    """Return a moment, as it is stored, in microseconds."""
    return (clock.from_text(text) - clock.EPOCH) // MICROSECOND


def text_of(rank: int) -> str:
    """Return a rank as a moment, as it is stored."""
    return clock.to_text(clock.EPOCH + rank * MICROSECOND)


class State(NamedTuple):
    """What a fact or an episode is, after all records."""

    is_erased: bool
    superseded_by: str | None
    superseded: int
    """The rank of its link."""
    superseded_at: str | None
    """``None``: at the moment of its rank."""
    deleted_at: str | None
    metadata: Mapping[str, Any]
    pinned_at: str | None
    expired_at: str | None
    external_key: str | None
    idempotency_key: str | None
    confirmed_count: int
    last_confirmed_at: str | None
    tags: tuple[str, ...] = ()


class Derived(NamedTuple):
    """The state that follows from what is known."""

    states: Mapping[About, State]
    proposals: Mapping[tuple[About, About], str]
    """Pairs of a fact and one that somebody named as its successor, but that lost; with why."""


class _Links:
    """The links between facts, as they follow from all of them."""

    def __init__(self, items: Mapping[About, Item]) -> None:
        self.items = items
        self.deleted: dict[About, bool] = {}
        self.of: dict[About, tuple[tuple[int, str], About | None, str | None]] = {}
        """The key, the successor and the moment of each fact's link."""
        self.pins: dict[About, Top] = {}
        for about, item in items.items():
            deletion = item.top(DELETION)
            self.deleted[about] = item.is_erased or bool(
                deletion.value and deletion.rank > item.heard
            )
            top = item.top(LINK)
            uuid, at = top.value or (None, None)
            self.of[about] = top.key, _fact(about, uuid), at

    def is_current(self, about: About) -> bool:
        return not self.deleted[about] and self.of[about][1] is None

    def is_retired_before(self, about: About, rank: int) -> bool:
        """Return whether a fact was deleted or superseded before something was heard."""
        item = self.items[about]
        if item.is_erased:
            return True
        key, successor, _ = self.of[about]
        is_deleted = self.deleted[about] and item.top(DELETION).rank < rank
        return is_deleted or (successor is not None and key[0] < rank)

    def give_way(self, about: About, to: About, rank: int) -> None:
        """Let a fact give way to another one, unless somebody has linked it later."""
        if (rank, "") > self.of[about][0]:
            self.of[about] = (rank, ""), to, None


def derive(items: Mapping[About, Item]) -> Derived:
    """Return the state of facts and episodes that are known, and of all that bear on them."""
    links = _Links({a: item for a, item in items.items() if a.kind == FACT and item.is_known})
    born = sorted((item.born or (0, ""), about) for about, item in links.items.items())
    _repeat(links, born)
    _share_keys(links, born)
    _open_circles(links)
    _pass_pins(links)
    keys = _keys_kept(items)
    states = {about: _fact_state(links, about, keys) for about in links.items}
    states |= _episode_states(items, keys)
    return Derived(states, _lost(links))


def _fact(about: About, uuid: str | None) -> About | None:
    return None if uuid is None else About(FACT, about.namespace, uuid)


def claim_of(item: Item) -> tuple[Any, ...] | None:
    """Return what a fact claims: the same on two devices is one fact; ``None`` if it is its own."""
    birth = item.birth
    if birth is None or item.is_erased or key_of(item) or _is_redacted(birth):
        return None
    subject = subject_key(birth["subject"])
    if subject == "todo" or "status" in (birth.get(METADATA) or {}):
        return None
    owners = tuple(birth.get(name) for name in OWNERS)
    said = (subject, folded(birth["content"]), subject_key(birth["category"]))
    return (item.about.namespace, *owners, *said, in_order(birth.get(METADATA) or {}))


def _is_redacted(birth: Mapping[str, Any]) -> bool:
    """Return whether a secret was left out of a text: what it said is known where it was stored.

    Two such texts may be equal without saying the same, and are not seen as equal there.
    """
    texts = (birth.get(name) for name in ("content", "subject", "category"))
    return any(REDACTED in text for text in (*filter(None, texts), in_order(birth.get(METADATA))))


def key_of(item: Item) -> str | None:
    """Return the external key of a fact."""
    value = item.top(KEY).value
    return None if value is None else str(value)


def once_key_of(item: Item) -> str | None:
    """Return the idempotency key with which a fact or an episode was stored."""
    value = None if item.is_erased else (item.birth or {}).get("idempotency_key")
    return None if value is None else str(value)


def had_key(item: Item) -> bool:
    """Return whether a fact or an episode, even an erased one, was stored with such a key."""
    return bool((item.birth or {}).get("idempotency_key"))


def _groups(links: _Links, born: Iterable[tuple[Any, About]]) -> Iterator[list[About]]:
    """Yield facts that say the same, or have one idempotency key and content; oldest first."""
    groups: dict[Any, list[About]] = defaultdict(list)
    for _, about in born:
        item = links.items[about]
        if item.is_erased or item.birth is None:
            continue
        if key := once_key_of(item):
            said = subject_key(item.birth["subject"]), folded(item.birth["content"])
            if not _is_redacted(item.birth):
                groups["key", about.namespace, key, said].append(about)
        elif claim := claim_of(item):
            groups[claim].append(about)
    return (group for group in groups.values() if len(group) > 1)


def _repeat(links: _Links, born: Iterable[tuple[Any, About]]) -> None:
    """Let what was heard on two devices give way to what was heard first."""
    for group in _groups(links, born):
        first: About | None = None
        for about in group:
            item = links.items[about]
            rank = (item.born or (0, ""))[0]
            if first is None or links.is_retired_before(first, rank):
                first = about
            elif _is_of_others(item, links.items[first]) and not links.deleted[about]:
                links.give_way(about, first, rank + 1)


def _is_of_others(item: Item, first: Item) -> bool:
    """Return whether of two that say the same the later was heard where the first was not.

    Where the first was, its idempotency key stores no second one.
    """
    return bool(once_key_of(item)) or item.devices.isdisjoint(first.devices)


def _share_keys(links: _Links, born: Iterable[tuple[Any, About]]) -> None:
    """Of several current facts of one external key, let the one born last have it."""
    groups: dict[Any, list[tuple[int, About]]] = defaultdict(list)
    for key, about in born:
        item = links.items[about]
        if not item.is_erased and (external := key_of(item)) and links.is_current(about):
            birth = item.birth or {}
            owners = tuple(birth.get(name) for name in OWNERS)
            groups[about.namespace, owners, external].append((key[0], about))
    for group in groups.values():
        rank, last = group[-1]
        for _, about in group[:-1]:
            links.give_way(about, last, rank + 1)


def _open_circles(links: _Links) -> None:
    """In each circle of supersessions, leave out the one of lowest rank."""
    done: set[About] = set()
    for start in sorted(links.of):
        path: list[About] = []
        at: About | None = start
        while at is not None and at in links.of and at not in done and at not in path:
            path.append(at)
            at = links.of[at][1]
        if at is not None and at in path:
            circle = path[path.index(at) :]
            out = min(circle, key=lambda one: (links.of[one][0], one))
            links.of[out] = links.of[out][0], None, None
        done.update(path)


def _pass_pins(links: _Links) -> None:
    """Let a pin that came to a replaced fact pass on to what replaced it."""
    pins = {about: item.top(PIN) for about, item in links.items.items()}
    links.pins = dict(pins)
    for about in sorted(pins):
        item = links.items[about]
        pin = NOTHING if item.is_erased or item.is_blank else pins[about]  # it may be unknown here
        at, seen = about, {about}
        while pin.value and links.of[at][1] is not None and pin.rank > links.of[at][0][0]:
            following = links.of[at][1]
            if following is None or following in seen or following not in links.of:
                break
            at = following
            seen.add(at)
            if pin.key <= links.pins[at].key:  # somebody pinned or unpinned that one later
                break
            links.pins[at] = pin


def _keys_kept(items: Mapping[About, Item]) -> set[About]:
    """Return who keeps its idempotency key: of each key, the fact and the episode born first."""
    kept: dict[tuple[str, str, str], About] = {}
    for about, item in sorted(items.items(), key=lambda one: (one[1].born or (0, ""), one[0])):
        if item.is_known and (key := once_key_of(item)) is not None:
            kept.setdefault((about.kind, about.namespace, key), about)
    return {*kept.values()}


def _lost(links: _Links) -> dict[tuple[About, About], str]:
    """Return successors that lost, of supersessions that did not know of one another."""
    found: dict[tuple[About, About], str] = {}
    for about, item in links.items.items():
        if item.is_erased or len(item.links) < 2:
            continue
        replaced = {link.replaces for link in item.links}
        heads = sorted(
            {
                (link.rank, link.uuid)
                for link in item.links
                if link.uuid is not None and (link.rank, link.uuid) not in replaced
            }
        )
        for _, uuid in heads[:-1]:
            other = About(FACT, about.namespace, uuid)
            if uuid != heads[-1][1] and other in links.of:
                winner = About(FACT, about.namespace, str(heads[-1][1]))
                if winner in links.of:
                    found[other, winner] = about.uuid
    return found


def _fact_state(links: _Links, about: About, keys: set[About]) -> State:
    item = links.items[about]
    key, successor, at = links.of[about]
    birth = item.birth or {}
    confirmed = sorted(at for at in item.confirmations if at not in item.withdrawn)
    first = birth.get("last_confirmed_at")
    last = max([*confirmed, *([first] if first else [])], default=None)
    kept = birth.get("idempotency_key") if about in keys else None
    return State(
        is_erased=item.is_erased or item.is_blank,
        superseded_by=None if successor is None else successor.uuid,
        superseded=key[0],
        superseded_at=at,
        deleted_at=item.top(DELETION).value if links.deleted[about] else None,
        metadata=_metadata(item),
        pinned_at=links.pins[about].value,
        expired_at=item.top(EXPIRY).value,
        external_key=key_of(item),
        idempotency_key=kept,
        confirmed_count=int(birth.get("confirmed_count") or 0) + len(confirmed),
        last_confirmed_at=last,
    )


def _metadata(item: Item) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, top in sorted(item.tops.items()):
        if name.startswith(MEMBER) and top.value is not None:
            key = name.removeprefix(MEMBER)
            if key == "task":
                found |= {one: held for one, held in top.value.items() if held is not None}
            else:
                found[key.removeprefix("key.")] = top.value
    return found


def _episode_states(items: Mapping[About, Item], keys: set[About]) -> Iterator[tuple[About, State]]:
    """Yield the state of each episode; one whose idempotency key an equal one had first expires."""
    episodes = [(item.born or (0, ""), a) for a, item in items.items() if a.kind == EPISODE]
    first: dict[Any, About] = {}
    for born, about in sorted(one for one in episodes if items[one[1]].is_known):
        item = items[about]
        birth = item.birth or {}
        expired = item.top(EXPIRY)
        key = once_key_of(item)
        if key is not None and not _is_redacted(birth):
            held = first.setdefault((about.namespace, key, birth.get("content")), about)
            if held != about and expired.rank <= born[0]:
                expired = Top(born[0] + 1, text_of(born[0] + 1))
        yield about, _episode_state(item, expired.value, key if about in keys else None)


def _episode_state(item: Item, expired_at: str | None, key: str | None) -> State:
    return State(
        is_erased=item.is_erased or item.is_blank,
        superseded_by=None,
        superseded=0,
        superseded_at=None,
        deleted_at=None,
        metadata=item.top(METADATA).value or {},
        pinned_at=None,
        expired_at=expired_at,
        external_key=None,
        idempotency_key=key,
        confirmed_count=0,
        last_confirmed_at=None,
        tags=tuple(item.top(TAGS).value or ()),
    )
