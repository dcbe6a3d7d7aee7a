"""The inbox: what may replace what, one question at a time, or several answered alike."""

from __future__ import annotations

import re
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memstore.domain.proposals import ProposalState
from memstore.domain.queries import ProposalNarrowing
from memstore.errors import NotFound
from memstore.faces.escaping import counted
from memstore.faces.web import acting, agents, filters, paging
from memstore.faces.web.routes import asks, changes, shows
from memstore.faces.web.templating import SHOWN_CHARACTERS
from memstore.facts.proposals import Proposals
from memstore.frozen import asdict
from memstore.named import NamedTuple
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memstore.domain.proposals import Proposal, Question
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

STATES: Final = (
    (ProposalState.OPEN, "to decide"),
    (ProposalState.REJECTED, "both kept"),
    (ProposalState.ACCEPTED, "replaced"),
)

GROUPS: Final = (("subject", "by subject"), ("run", "by run"))

FILTERS: Final = ("subject", "category", "source", "user", "agent", "run", "from", "until")

VERDICTS: Final = {
    "accept": "Replaced",
    "reject": "Both kept",
    "remove": "The newer one deleted",
    "reopen": "Open again",
}
"""What was done, by the verdict."""

NUMBER: Final = re.compile(r"[0-9]{1,18}")


class Group(NamedTuple):
    """Questions that may be answered alike.

    Attributes:
        name: their subject; ``None`` for those of one run.
        number: that of the act with which the run asked first; ``None`` for a subject.
    """

    name: str | None
    number: int | None
    questions: Sequence[Question]


class Sides(NamedTuple):
    """The two sides of a question as the page shows them.

    Attributes:
        agent: who the newer one is from.
        following: the next question, for which this one is left; ``None`` if there is no other.
        alike: those that may be answered with it.
    """

    question: Question
    agent: agents.Agent
    place: int
    following: int | None
    alike: Sequence[Question]


def show(visit: Visit) -> Reply:
    """Show the questions in a queue, and one of them to answer."""
    kept = visit.kept()
    chosen = filters.Filters(kept, visit.zone, "Asked")
    wanted = asdict(chosen.question(ProposalNarrowing))
    state = kept.get("asked", ProposalState.OPEN)
    by = kept.get("by", "subject")
    proposals = visit.store.of(chosen.owners).proposals
    found = proposals.questions(
        state, **wanted, limit=paging.ROWS + 1, after_id=visit.number("after")
    )
    ids = sorted(one.proposal.id for one in found)[: paging.ROWS]
    shown = [one for one in found if one.proposal.id in ids]
    groups = _by_run(visit, shown) if by == "run" else _by_subject(shown)
    return visit.page(
        "inbox.html",
        groups=groups,
        focus=_focus(visit, groups),
        total=proposals.count(state, **wanted),
        state=state,
        states=STATES,
        by=by,
        ways=GROUPS,
        chosen=chosen,
        names=FILTERS,
        query=_query(visit),
        links=paging.onward(
            visit,
            "after",
            ids[-1] if len(found) > len(ids) else None,
            earlier_text="from the beginning",
            later_text="next",
        ),
    )


def _query(visit: Visit) -> str:
    """Return the part of the address that says what was asked for, before a question's number."""
    names = ("q", "after")
    return "".join(f"{name}={visit.query[name]}&" for name in names if name in visit.query)


def _focus(visit: Visit, groups: Sequence[Group]) -> Sides | None:
    """Return the question to answer: the one with the number in the address, or the first."""
    queue = [(group, one) for group in groups for one in group.questions]
    if not queue:
        return None
    ids = [one.proposal.id for _, one in queue]
    number = visit.number("one")
    place = ids.index(number) if number in ids else 0
    group, one = queue[place]
    new = one.proposal.new
    return Sides(
        one.condensed(SHOWN_CHARACTERS),
        agents.of(None if new is None else new.source),
        place,
        ids[(place + 1) % len(ids)] if len(ids) > 1 else None,
        group.questions,
    )


def _by_subject(questions: Sequence[Question]) -> list[Group]:
    def subject(one: Question) -> str:
        return subject_key(one.proposal.old.subject)

    groups = [[*some] for _, some in groupby(questions, subject)]
    return [Group(some[0].proposal.old.subject, None, some) for some in groups]


def _by_run(visit: Visit, questions: Sequence[Question]) -> list[Group]:
    """Return the questions by the run that asked them, the latest run first."""
    runs: dict[str, list[Question]] = {}
    acts: dict[str, int] = {}
    for one in questions:
        run, act = _asked_by(visit, one.proposal)
        runs.setdefault(run, []).append(one)
        acts[run] = min(act, acts.get(run, act))
    latest = sorted(runs, key=acts.__getitem__, reverse=True)
    return [Group(None, acts[run], runs[run]) for run in latest]


def _asked_by(visit: Visit, proposal: Proposal) -> tuple[str, int]:
    """Return the run that made a proposal, and the act in which it did."""
    for line in visit.store.ledger.journal(proposal.old.id):
        if line.kind == "propose" and (line.after or {}).get("proposal") == proposal.id:
            return line.run or "", line.txn or line.id
    return "", 0


def narrow(visit: Visit) -> Reply:
    names = ("asked", "by", *FILTERS)
    wanted = {name: visit.field(name)[: filters.MAX_FIELD] for name in names if visit.field(name)}
    if wanted.get("asked", "") not in dict(STATES):
        wanted.pop("asked", None)
    if wanted.get("by") not in dict(GROUPS):
        wanted.pop("by", None)
    if visit.field("reset") or not wanted:
        return visit.to("inbox")
    return visit.to(f"inbox?q={visit.session.keep(wanted)}")


# -- deciding --------------------------------------------------------------------------------------


def accept(visit: Visit) -> Reply:
    return _decided(visit, "accept", Proposals.accept)


def reject(visit: Visit) -> Reply:
    return _decided(visit, "reject", Proposals.reject)


def remove(visit: Visit) -> Reply:
    """Reject it, and delete the newer fact, in one act."""
    return _decided(visit, "remove", partial(Proposals.reject, remove=True))


def reopen(visit: Visit) -> Reply:
    return _decided(visit, "reopen", Proposals.reopen)


def _decided(visit: Visit, verdict: str, decide: Callable[[Proposals, int], object]) -> Reply:
    """Decide a proposal whose facts are all as the page showed them."""
    proposal = visit.store.proposals.get(visit.numbers["id"])
    ids = _fact_ids(proposal)
    names = ", ".join(f"#{fact_id}" for fact_id in ids)
    text = f"{VERDICTS[verdict]}: {names}"
    acting.act(visit, ids, text, lambda store: decide(store.proposals, proposal.id))
    return visit.to(visit.back or "inbox")


def _fact_ids(proposal: Proposal) -> list[int]:
    new = () if proposal.new is None else (proposal.new,)
    return [fact.id for fact in (*proposal.sources, *new)]


def several(visit: Visit) -> Reply:
    """Answer several alike, in one act that one Undo takes back.

    What changed since the page was made is left, and named.
    """
    verdict = visit.field("verdict")
    if verdict not in ("accept", "remove"):
        verdict = "reject"
    ticked = [int(one) for one in visit.many.get("one", ()) if NUMBER.fullmatch(one)]
    fresh, left = _fresh(visit, ticked)
    before = visit.seen
    decided = acting.change(
        visit,
        [fact_id for one in fresh for fact_id in _fact_ids(one)],
        lambda store: store.proposals.decide(
            "accept" if verdict == "accept" else "reject",
            [one.id for one in fresh],
            remove=verdict == "remove",
        ),
    )
    done, left = decided.proposals, [*left, *decided.left]
    if done:
        what = counted(len(done), "question")
        acting.offered(visit, done[0].old.id, f"{VERDICTS[verdict]}: {what}", before)
    if not left:
        return visit.to(visit.back or "inbox")
    return visit.page("decided_several.html", 409, done=len(done), left=left)


def _fresh(visit: Visit, ids: Iterable[int]) -> tuple[list[Proposal], list[int]]:
    """Return the proposals whose facts are as the page showed them, and the ids of the others."""
    seen = visit.posted_number("seen")
    fresh, stale = [], []
    for proposal_id in dict.fromkeys(ids):
        try:
            proposal = visit.store.proposals.get(proposal_id)
        except NotFound:
            stale.append(proposal_id)
            continue
        changed = any(acting.lines_since(visit, one, seen or 0) for one in _fact_ids(proposal))
        if changed or seen is None:
            stale.append(proposal_id)
        else:
            fresh.append(proposal)
    return fresh, stale


ROUTES: Final = (
    shows("inbox", show),
    asks("inbox", narrow),
    changes("inbox/{id}/accept", accept),
    changes("inbox/{id}/reject", reject),
    changes("inbox/{id}/remove", remove),
    changes("inbox/{id}/reopen", reopen),
    changes("inbox/several", several),
)
