"""Explaining a fact: its supports and changes in order, with the reasons that the journal keeps.

What an explanation may name is decided once, by :class:`Seen`: facts and episodes of the same
namespace and the same owners. Of any other it says that there is one.
Erased texts are in no row and no line any more, so they cannot be shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal, origins
from memstore.database import meta as meta_table
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.domain import zones
from memstore.domain.explanations import CONFIRMED, EntryKind, Explanation, ExplanationEntry
from memstore.domain.proposals import ProposalState
from memstore.domain.records import EVERYBODY
from memstore.domain.support import SupportKind
from memstore.domain.trust import Trust, covers
from memstore.facts import support
from memstore.frozen import replace
from memstore.history import past, proposals, reasons, trust
from memstore.history.reasons import number_in, numbers_in
from memstore.history.seen import ANOTHER_EPISODE, Seen
from memstore.history.supports import taken_back
from memstore.text.escaping import visible
from memstore.text.folding import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.moments import Moment
    from memstore.domain.proposals import Proposal
    from memstore.domain.records import Fact, JournalLine
    from memstore.domain.standing import Standing
    from memstore.domain.support import Support
    from memstore.domain.trust import Credit

QUOTED: Final = 200
"""How many characters of a text are quoted."""

SHOWN: Final = 3
"""How many ids or changes of words are named."""

SUPPORTS: Final = {
    SupportKind.SAID: "said by",
    SupportKind.EXTRACTED: "read by",
    SupportKind.RESTATED: f"{CONFIRMED}by",
    SupportKind.CONFIRMED: f"{CONFIRMED}by",
}

CHANGES: Final[Mapping[str, tuple[EntryKind, str]]] = {
    Kind.DELETE: (EntryKind.DELETED, "deleted"),
    Kind.RESTORE: (EntryKind.RESTORED, "restored"),
    Kind.UNSUPERSEDE: (EntryKind.REVIVED, "made active again"),
    Kind.UNCONFIRM: (EntryKind.UNCONFIRMED, "confirmed less often"),
    Kind.UNSUPPORT: (EntryKind.UNSUPPORTED, "left with one support less"),
    Kind.SUPPORT: (EntryKind.SUPPORTED, "given support back"),
    Kind.KEEP: (EntryKind.KEPT, "kept"),
    Kind.PIN: (EntryKind.PINNED, "pinned"),
    Kind.UNPIN: (EntryKind.UNPINNED, "unpinned"),
    Kind.METADATA: (EntryKind.METADATA, "given other metadata"),
    Kind.UPDATE: (EntryKind.UPDATED, "given another expiry or external key"),
    Kind.ERASE: (EntryKind.ERASED, "erased"),
    Kind.DISTRUST: (EntryKind.DISTRUSTED, "still hidden"),
}
"""The lines about the fact alone."""

BEGINNINGS: Final = (Kind.ADD, Kind.ADOPT)

COUNTS_AS: Final = {
    Trust.PERSON: "a person said it",
    Trust.AGENT: "an agent said it",
    Trust.TOOL: "a tool gave it",
    Trust.EXTERNAL: "it is from a text by others",
}


def explained(
    transaction: Transaction,
    fact: Fact,
    standing: Standing,
    moment: Moment | None = None,
) -> Explanation:
    """Explain a fact that the caller may see.

    Args:
        transaction: the state to read.
        fact: the fact, in any state.
        standing: of the caller. One of any owners is told facts and episodes of other owners too;
            a confined one is not told who distrusted a source, which concerns the whole file.
        moment: explain it as of then; the fact is that of then, too.
    """
    seen = Seen((fact.namespace,), None if standing.owners == EVERYBODY else fact.scope)
    confined = standing.confined
    return _Explaining(transaction, fact, seen, confined=confined, moment=moment).explained()


class _Explaining:
    def __init__(
        self,
        transaction: Transaction,
        fact: Fact,
        seen: Seen,
        *,
        confined: bool,
        moment: Moment | None,
    ) -> None:
        self._transaction = transaction
        self._fact = fact
        self._seen = seen
        self._confined = confined
        self._moment = moment
        self._until = NO_LIMIT if moment is None else moment.line
        self._lines = self._up_to(journal.of_fact(transaction, fact.id))
        self._over = taken_back(self._lines)
        self._replaced = self._read_replaced()
        self._proposals = self._read_proposals()
        self._proposed = self._by_new_fact()
        lines = [line.id for line in (*self._lines, *self._proposed)]
        self._origins = origins.of_lines(transaction, lines)
        self._others = self._read_others()
        self._episodes = self._read_episodes()
        self._supports = {
            support.line: support
            for support in support.of_facts(transaction, [fact.id], self._until)[fact.id]
        }

    # -- reading ---------------------------------------------------------------------------

    def _up_to(self, lines: Iterable[JournalLine]) -> list[JournalLine]:
        return [line for line in lines if line.id <= self._until]

    def _read_replaced(self) -> list[Fact]:
        if self._moment is None:
            return fact_table.superseded_by(self._transaction, self._fact.id)
        return past.superseded_by(self._transaction, self._fact.id, self._moment)

    def _read_proposals(self) -> list[Proposal]:
        found = proposal_table.about(self._transaction, self._fact.id)
        if self._moment is None:
            return found
        states = proposals.states(self._transaction, found, self._moment)
        return [replace(one, state=states[one.id]) for one in found if one.id in states]

    def _by_new_fact(self) -> list[JournalLine]:
        """Return the lines, of other facts, of what this one replaced or should have replaced."""
        ids = {old.id for old in self._replaced}
        ids |= {
            old.id
            for proposal in self._proposals
            if proposal.new is not None and proposal.new.id == self._fact.id
            for old in proposal.sources
        }
        return self._up_to(journal.of_facts(self._transaction, sorted(ids - {self._fact.id})))

    def _read_others(self) -> dict[int, Fact]:
        named = {line.fact_id for line in self._proposed}
        named |= {number_in(line.after, "superseded_by") for line in self._lines}
        named |= {number_in(line.evidence, "reinstates") for line in self._lines}
        named.add(self._fact.superseded_by)
        return fact_table.get_many(self._transaction, sorted(filter(None, named)))

    def _read_episodes(self) -> dict[int, Episode]:
        every = (*self._lines, *self._proposed)
        named = {line.episode_id for line in every} | {self._fact.episode_id}
        named |= {number_in(line.evidence, "episode") for line in every}
        named |= {other.episode_id for other in self._others.values()}
        return episode_table.get_many(self._transaction, sorted(filter(None, named)))

    def _of_sources(self) -> list[JournalLine]:
        """Return the lines that distrusted what the fact rests on, or trusted it again.

        Those before the fact was stored count only if they still hold.
        """
        if not meta_table.is_set(self._transaction, meta_table.TRUST):
            return []
        holding = trust.table_at(self._transaction, self._until).distrusted
        born = self._lines[0].id if self._lines else 0
        return [
            line
            for line in journal.of_sources(self._transaction, self._until)
            if (source := self._judged(line)) and (line.id > born or source in holding)
        ]

    def _judged(self, line: JournalLine) -> str | None:
        """Return the source that a line distrusted or trusted again, if the fact rests on it."""
        before, after = (_texts(part, "distrusted") for part in (line.before, line.after))
        names = {
            name.strip().casefold()
            for support in self._supports.values()
            for name in (self._source_of(support), support.through)
            if name
        }
        changed = sorted(before ^ after)
        return next((one for one in changed if any(covers(one, name) for name in names)), None)

    def _source_of(self, support: Support) -> str | None:
        """Return where something was said, unless only an episode of other owners says that."""
        seen = support.episode_id is None or self._seen.sees(self._episodes.get(support.episode_id))
        return support.source if seen else None

    # -- the explanation -------------------------------------------------------------------

    def explained(self) -> Explanation:
        fact, credit = self._fact, None
        if fact.status != "erased":
            levels = trust.table_at(self._transaction, self._until)
            found = trust.of_facts(self._transaction, [fact.id], levels, self._until)
            credit = found[fact.id]
        entries = [*self._of_lines(), *self._of_clock()]
        return Explanation(
            fact_id=fact.id,
            verdict=self._verdict(credit),
            status=fact.status,
            trust=None if credit is None else credit.trust,
            source=None if credit is None else self._source(credit),
            entries=tuple(entries),
        )

    def _verdict(self, credit: Credit | None) -> str:
        fact = self._fact
        if credit is None:
            return f"fact {fact.id} was erased{_on(fact.deleted_at)}; its words are gone"
        is_distrusted = credit.trust is Trust.DISTRUSTED
        if fact.status == "deleted":
            told = f"fact {fact.id} was deleted{_on(fact.deleted_at)}"
        elif fact.status == "superseded":
            by = self._named(self._others.get(fact.superseded_by or 0))
            told = f"fact {fact.id} was superseded by {by}{_on(fact.superseded_at)}"
        elif fact.status == "expired":
            told = f"fact {fact.id} expired{_on(fact.expired_at)}"
        else:
            told = f"fact {fact.id} is {'hidden' if is_distrusted else 'active'}"
        return visible(f"{told}; {self._standing(credit)}")

    def _standing(self, credit: Credit) -> str:
        """Return how much it counts, and what speaks against it."""
        source = self._source(credit)
        if credit.trust is Trust.DISTRUSTED:
            name = "a source" if source is None else _quote(source)
            told = f"it rests on {name} alone, which is not trusted"
        elif not any(support.kind != SupportKind.DENIED for support in self._supports.values()):
            told = "nothing that it rests on is left"
        else:
            told = COUNTS_AS[credit.trust] + (f" ({source})" if source else "")
        against = sum(self._is_against(one) for one in self._proposals)
        if against and self._fact.status == "active":
            told += f"; {_counted(against, 'proposal')} against it"
        return told

    def _source(self, credit: Credit) -> str | None:
        """Return the source that decided, unless only an episode of other owners names it."""
        hidden = {
            support.source
            for support in self._supports.values()
            if self._source_of(support) is None
        }
        return None if credit.source in hidden else credit.source

    def _is_against(self, proposal: Proposal) -> bool:
        old = any(source.id == self._fact.id for source in proposal.sources)
        return old and proposal.state == ProposalState.OPEN

    def _of_lines(self) -> Iterator[ExplanationEntry]:
        # An import writes the lines of one fact after those of another.
        every = sorted(
            [*self._lines, *self._proposed, *self._of_sources()],
            key=lambda line: (line.moment, line.id),
        )
        replaced = {old.id: old for old in self._replaced}
        last = {line.fact_id: line.id for line in every if line.kind == Kind.SUPERSEDE}
        proposed = set()
        for line in every:
            number = number_in(line.after, "proposal")
            if line.kind == Kind.PROPOSE and number is not None:
                if (line.fact_id, number) in proposed:
                    continue  # an import proposes it once more
                proposed.add((line.fact_id, number))
            if line.fact_id is None:
                entry = self._of_source(line)
            elif line.fact_id == self._fact.id:
                entry = self._of_own(line)
            elif line.kind == Kind.PROPOSE:
                entry = self._proposed_by(line)
            elif line.kind == Kind.SUPERSEDE:
                # An erased fact has empty lines; its row says what superseded it last.
                by = number_in(line.after, "superseded_by")
                is_ours = by == self._fact.id or (by is None and last[line.fact_id] == line.id)
                entry = self._of_replaced(line, replaced.get(line.fact_id)) if is_ours else None
            else:
                entry = None
            if entry is not None:
                yield self._with_device(entry, line)

    def _with_device(self, entry: ExplanationEntry, line: JournalLine) -> ExplanationEntry:
        origin = self._origins.get(line.id)
        if origin is None:
            return entry
        text = visible(f"{entry.text} (on {origin.device})")
        return replace(entry, text=text, device=origin.device)

    def _of_clock(self) -> Iterator[ExplanationEntry]:
        at, status = self._fact.expired_at, self._fact.status
        if at is None or status == "erased":
            return
        over = status == "expired"
        kind = EntryKind.EXPIRED if over else EntryKind.EXPIRES
        yield ExplanationEntry(kind=kind, text=f"{kind}{_on(at)}", at=at)

    # -- the entries -----------------------------------------------------------------------

    def _of_own(self, line: JournalLine) -> ExplanationEntry | None:
        support = self._supports.get(line.id)
        if line.kind == Kind.PROPOSE:
            return self._against(line)
        if support is not None:
            return self._of_support(line, support)
        if line.kind in (*BEGINNINGS, Kind.CONFIRM):
            return self._of_lost_support(line)
        if line.kind == Kind.SUPERSEDE:
            return self._superseded(line)
        if line.kind == Kind.REJECT:
            number = number_in(line.after, "proposal")
            text = f"proposal {number or 'against it'} rejected{_by(line)}{_on(line.moment)}"
            text += self._because(line)
            return self._entry(line, EntryKind.REJECTED, text, proposal_id=number)
        if line.kind not in CHANGES:
            return None
        kind, done = CHANGES[Kind(line.kind)]
        text = f"{done}{_by(line)}{_on(line.moment)}{self._because(line)}"
        if line.kind == Kind.DISTRUST:
            text += ", because its last episode, of a source that is not trusted, was erased"
        return self._entry(line, kind, text)

    def _of_support(self, line: JournalLine, support: Support) -> ExplanationEntry:
        """Return the entry of something that spoke for the fact, with its words if it has others.

        The first support has the fact's own words, wherever they stand.
        """
        fact, episode = self._fact, self._episodes.get(support.episode_id or 0)
        seen = self._seen.sees(episode)
        is_first = support.kind in (SupportKind.SAID, SupportKind.EXTRACTED)
        words, quoted = None, fact.content if is_first else None
        if episode is not None and seen:
            words = quoted = _passage(support, episode, line)
            quoted = None if words == fact.content and not is_first else quoted
        by = support.actor
        if support.kind == SupportKind.EXTRACTED:
            by = _text(line.evidence, "model") or "a language model"
        elif episode is not None and seen and episode.speaker:
            by = episode.speaker
        text = f"{SUPPORTS[SupportKind(support.kind)]} {by}"
        if support.episode_id is not None:
            text += f" in {self._episode(support.episode_id)}"
        source = self._source_of(support)
        text += (f" ({source})" if source else "") + _on(support.at) + _quoting(quoted)
        return self._entry(
            line,
            support.kind,
            text,
            source=source,
            episode_id=support.episode_id if seen else None,
            words=None if words is None else _cut(words),
        )

    def _of_lost_support(self, line: JournalLine) -> ExplanationEntry | None:
        """Return the entry of a support that was erased with its fact or episode, or taken back."""
        is_first = line.kind in BEGINNINGS
        if self._fact.status == "erased":
            done = "stored" if is_first else "confirmed"
            return self._entry(line, EntryKind.ERASED, f"{done}{_by(line)}{_on(line.moment)}")
        if is_first and line != next(one for one in self._lines if one.kind in BEGINNINGS):
            return None  # an imported fact may have a line for each beginning
        if line.id in self._over if is_first else not self._is_forgotten(line):
            return self._taken_back(line)
        episode_id = self._fact.episode_id if is_first else line.episode_id
        what = "an episode" if episode_id is None else f"episode {episode_id}"
        done = "confirmed"
        if is_first:
            done = "said" if self._fact.derivation is None else "read"
        words = self._fact.content if is_first else None
        text = f"{done} in {what}, which was erased{_quoting(words)}"
        return self._entry(line, EntryKind.ERASED, text, episode_id=episode_id)

    def _is_forgotten(self, line: JournalLine) -> bool:
        """Whether the episode of a confirmation was erased, here or before an import."""
        evidence = line.evidence or {}
        if line.episode_id is None:
            return "episode" in evidence and evidence["episode"] is None
        episode = self._episodes.get(line.episode_id)
        return episode is None or not episode.content

    def _taken_back(self, line: JournalLine) -> ExplanationEntry:
        """Return the entry of a support that was taken back, or that took that back."""
        done = CONFIRMED
        if line.kind in BEGINNINGS:
            done = "said " if self._fact.derivation is None else "read "
        text = f"{done}by {line.actor} through {line.source}{_on(line.moment)}"
        if numbers_in(line.evidence or {}, "reverts"):
            return self._entry(line, SupportKind.CONFIRMED, text + self._because(line))
        return self._entry(line, EntryKind.TAKEN_BACK, f"{text}, which was taken back")

    def _superseded(self, line: JournalLine) -> ExplanationEntry:
        number = number_in(line.after, "superseded_by")
        other = self._others.get(number or self._fact.superseded_by or 0)
        seen = self._seen.sees(other)
        text = f"superseded by {self._named(other)}{_by(line)}{_on(line.moment)}"
        text += self._because(line, other) + _quoting(_claim(other) if seen else None)
        return self._with_other(line, EntryKind.SUPERSEDED, text, other)

    def _of_replaced(self, line: JournalLine, other: Fact | None) -> ExplanationEntry | None:
        if other is None:
            return None
        text = f"replaced {self._named(other)}{_by(line)}{_on(line.moment)}"
        text += self._because(line, other)
        text += _quoting(_claim(other) if self._seen.sees(other) else None)
        return self._with_other(line, EntryKind.REPLACED, text, other)

    def _against(self, line: JournalLine) -> ExplanationEntry:
        """Return the entry of a proposal to supersede the fact."""
        number = number_in(line.after, "proposal")
        proposal = next((one for one in self._proposals if one.id == number), None)
        other = None if proposal is None else proposal.new
        text = "proposal" if number is None else f"proposal {number}"
        if proposal is None or proposal.state == ProposalState.OPEN:
            text += f"{'' if proposal is None else ' open'} against it{_on(line.moment)}"
        else:
            text += f" against it{_on(line.moment)}, which was {proposal.state}"
        if proposal is not None and len(proposal.sources) > 1:
            text += f": one text for {len(proposal.sources)} facts"
        elif other is not None:
            text += f": {self._named(other)} would replace it"
        text += self._because(line, other)
        text += _quoting(_claim(other) if self._seen.sees(other) else None)
        return self._with_other(line, SupportKind.DENIED, text, other, number)

    def _proposed_by(self, line: JournalLine) -> ExplanationEntry | None:
        """Return the entry of a proposal to supersede another fact by this one."""
        number = number_in(line.after, "proposal")
        proposal = next((one for one in self._proposals if one.id == number), None)
        if proposal is None or proposal.new is None or proposal.new.id != self._fact.id:
            return None
        other = self._others.get(line.fact_id or 0)
        text = f"proposed to replace {self._named(other)} (proposal {number}, {proposal.state})"
        text += _on(line.moment) + self._because(line, other)
        return self._with_other(line, EntryKind.PROPOSED, text, other, number)

    def _of_source(self, line: JournalLine) -> ExplanationEntry | None:
        """Return the entry of a source that was distrusted, or trusted again."""
        source = self._judged(line)
        if source is None:
            return None
        kind = EntryKind.DISTRUSTED if line.kind == Kind.DISTRUST else EntryKind.TRUSTED
        again = "" if kind == EntryKind.DISTRUSTED else " again"
        if self._confined:
            text = f"{source} was {kind}{again}{_on(line.moment)}"
            return ExplanationEntry(kind=kind, text=visible(text), at=line.moment, source=source)
        text = f"{source} was {kind}{again}{_by(line)}{_on(line.moment)}"
        return self._entry(line, kind, text, source=source)

    def _with_other(
        self,
        line: JournalLine,
        kind: str,
        text: str,
        other: Fact | None,
        proposal_id: int | None = None,
    ) -> ExplanationEntry:
        seen = self._seen.sees(other)
        named = other is not None and (seen or other.status == "erased")
        return self._entry(
            line,
            kind,
            text,
            other=other,
            fact_id=other.id if other is not None and named else None,
            proposal_id=proposal_id or number_in(line.evidence, "proposal"),
            words=_cut(_claim(other)) if other is not None and seen else None,
        )

    def _entry(
        self, line: JournalLine, kind: str, text: str, *, other: Fact | None = None, **more: Any
    ) -> ExplanationEntry:
        return ExplanationEntry(
            kind=kind,
            text=visible(text),
            at=line.moment,
            actor=line.actor,
            through=line.source,
            line=line.id,
            evidence=line.evidence if self._may_quote(line, other) else None,
            **{"episode_id": self._cause(line), **more},
        )

    def _cause(self, line: JournalLine) -> int | None:
        """Return the episode that caused a change, if it may be named."""
        episode = self._episodes.get(line.episode_id or 0)
        return line.episode_id if episode is None or self._seen.sees(episode) else None

    # -- reasons ---------------------------------------------------------------------------

    def _may_quote(self, line: JournalLine, other: Fact | None) -> bool:
        """Whether all that the evidence of a line may quote is visible."""
        episodes = {line.episode_id, number_in(line.evidence, "episode")} - {None}
        shown = (self._seen.sees(self._episodes.get(id_ or 0)) for id_ in episodes)
        is_quoted = self._seen.quotes(self._transaction, line.evidence)
        return (other is None or self._seen.sees(other)) and is_quoted and all(shown)

    def _because(self, line: JournalLine, other: Fact | None = None) -> str:
        """Return the reasons that the evidence of a line has, after a comma; empty without any."""
        evidence = line.evidence or {}
        found = [*self._reasons(evidence, quotes=self._may_quote(line, other))]
        return f", because {' and '.join(found)}" if found else ""

    def _reasons(self, evidence: Mapping[str, Any], *, quotes: bool) -> Iterator[str]:
        yield from reasons.of_change(evidence)
        if quotes:
            yield from self._of_model(evidence)

    def _of_model(self, evidence: Mapping[str, Any]) -> Iterator[str]:
        """Yield what a model read, and how alike two facts are."""
        said, model = _text(evidence, "said"), _text(evidence, "model")
        episode_id = number_in(evidence, "episode")
        if said is not None:
            where = "" if episode_id is None else f" in {self._episode(episode_id)}"
            yield f"{model or 'a language model'} read{where} {_quote(said)}"
        similarity = evidence.get("similarity")
        if isinstance(similarity, float):
            yield f"they are alike ({similarity:.2f})"
        changes = evidence.get("changes")
        if isinstance(changes, list) and changes:
            yield f"differ in {', '.join(_changed(changes)) or 'words'}"
        if found := _text(evidence, "found"):
            yield f"it was {visible(found)}"

    # -- naming ----------------------------------------------------------------------------

    def _named(self, other: Fact | None) -> str:
        if other is not None and other.status == "erased":
            return f"fact {other.id}, which was erased,"
        return self._seen.named(other)

    def _episode(self, episode_id: int) -> str:
        episode = self._episodes.get(episode_id)
        if episode is not None and not episode.content:
            return f"episode {episode_id}, which was erased"
        return f"episode {episode_id}" if self._seen.sees(episode) else ANOTHER_EPISODE


def _passage(support: Support, episode: Episode, line: JournalLine) -> str:
    """Return the words of an episode that speak for a fact: those, or what a model read there."""
    if support.start is not None:
        return episode.content[support.start : support.stop]
    return _text(line.evidence, "said") or episode.content


def _claim(fact: Fact | None) -> str | None:
    return None if fact is None else text_of(fact.subject, fact.content)


def _by(line: JournalLine) -> str:
    return f" by {line.actor} through {line.source}"


def _on(moment: datetime | None) -> str:
    return "" if moment is None else f" on {zones.day(moment)}"


def _quoting(words: str | None) -> str:
    return "" if words is None else f": {_quote(words)}"


def _quote(words: str) -> str:
    return json.dumps(_cut(words), ensure_ascii=False)


def _cut(words: str | None) -> str:
    text = " ".join((words or "").split())
    return text if len(text) <= QUOTED else f"{text[:QUOTED].rstrip()}…"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _changed(changes: Iterable[Any]) -> Iterator[str]:
    """Yield the first changes of words, each in quotes; evidence of a caller may be anything."""
    pairs = [pair for pair in changes if isinstance(pair, list) and len(pair) == 2]
    for old, new in pairs[:SHOWN]:
        if isinstance(old, str) and isinstance(new, str):
            yield f"{_quote(old)} and {_quote(new)}"


def _texts(part: Mapping[str, Any] | None, name: str) -> set[str]:
    value = (part or {}).get(name)
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()


def _text(part: Mapping[str, Any] | None, name: str) -> str | None:
    value = (part or {}).get(name)
    return value if isinstance(value, str) and value.strip() else None
