"""The inbox: what may replace what, for a person to decide, one by one or several at once."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.proposals import ProposalState
from memstore.errors import Conflict, NotFound
from memstore.faces.web import acting, filters, paging
from memstore.faces.web.problems import ChangedSince
from memstore.faces.web.routes import asks, changes, shows
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.domain.proposals import Proposal, Question
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.sessions import Undo
    from memstore.faces.web.visit import Visit

STATES: Final = (
    (ProposalState.OPEN, "to decide"),
    (ProposalState.REJECTED, "both kept"),
    (ProposalState.ACCEPTED, "replaced"),
)

GROUPS: Final = (("subject", "by subject"), ("run", "by run"))

OWNERS: Final = ("user", "agent", "run")


class Group(NamedTuple):
    """Questions that may be decided together.

    Attributes:
        name: their subject; ``None`` for those of one run.
        number: that of the act with which the run asked first; ``None`` for a subject.
    """

    name: str | None
    number: int | None
    questions: Sequence[Question]


def show(visit: Visit) -> Reply:
    kept = visit.kept()
    chosen = filters.Filters(kept, visit.zone)
    state = kept.get("asked", ProposalState.OPEN)
    by = kept.get("by", "subject")
    found = visit.store.proposals.questions(
        state, scope=chosen.scope, limit=paging.ROWS + 1, after_id=visit.number("after")
    )
    ids = sorted(one.proposal.id for one in found)[: paging.ROWS]
    shown = [one for one in found if one.proposal.id in ids]
    return visit.page(
        "inbox.html",
        groups=_by_run(visit, shown) if by == "run" else _by_subject(shown),
        total=visit.store.proposals.count(state, scope=chosen.scope),
        state=state,
        states=STATES,
        by=by,
        ways=GROUPS,
        chosen=chosen,
        names=OWNERS,
        links=paging.onward(
            visit,
            "after",
            ids[-1] if len(found) > len(ids) else None,
            earlier_text="from the beginning",
            later_text="next",
        ),
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
    for line in visit.store.journal(proposal.old.id):
        if line.kind == "propose" and (line.after or {}).get("proposal") == proposal.id:
            return line.run or "", line.txn or line.id
    return "", 0


def narrow(visit: Visit) -> Reply:
    names = ("asked", "by", *OWNERS)
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
    return _decided(visit, "Replaced", visit.store.proposals.accept)


def reject(visit: Visit) -> Reply:
    return _decided(visit, "Both kept", visit.store.proposals.reject)


def reopen(visit: Visit) -> Reply:
    return _decided(visit, "Open again", visit.store.proposals.reopen)


def _decided(visit: Visit, text: str, decide: Callable[[int], object]) -> Reply:
    undo = _decide(visit, visit.numbers["id"], text, decide)
    if visit.swaps and undo is not None:
        return visit.page("parts/decided.html", undo=undo)
    return visit.to(visit.back or "inbox")


def _decide(
    visit: Visit, proposal_id: int, text: str, decide: Callable[[int], object]
) -> Undo | None:
    """Decide a proposal whose facts are all as the page showed them."""
    proposal = visit.store.proposals.get(proposal_id)
    new = () if proposal.new is None else (proposal.new,)
    acting.check_unchanged(visit, *(fact.id for fact in (*proposal.sources, *new)))
    names = ", ".join(f"#{fact.id}" for fact in (*proposal.sources, *new))
    return acting.act(visit, proposal.old.id, f"{text}: {names}", partial(decide, proposal_id))


def several(visit: Visit) -> Reply:
    """Decide all that were ticked: what changed since the page was made is left, and named."""
    if visit.field("verdict") == "accept":
        text, decide = "Replaced", visit.store.proposals.accept
    else:
        text, decide = "Both kept", visit.store.proposals.reject
    done, left = 0, []
    for number in visit.many.get("one", ()):
        if not (number.isascii() and number.isdecimal() and len(number) < 19):
            continue
        try:
            _decide(visit, int(number), text, decide)
            done += 1
        except (ChangedSince, Conflict, NotFound):
            left.append(int(number))
    if not left:
        return visit.to(visit.back or "inbox")
    visit.see_now()
    return visit.page("decided_several.html", 409, done=done, left=left)


ROUTES: Final = (
    shows("inbox", show),
    asks("inbox", narrow),
    changes("inbox/{id}/accept", accept),
    changes("inbox/{id}/reject", reject),
    changes("inbox/{id}/reopen", reopen),
    changes("inbox/several", several),
)
