"""A fact: why it is believed, what became of it, what is around it, and what to do with it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import why_no_json
from memstore.domain.records import EVERYBODY
from memstore.errors import Conflict, Explained
from memstore.faces import wording
from memstore.faces.web import acting, chain_band, reasons, sayings
from memstore.faces.web.routes import changes, shows
from memstore.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.domain.proposals import Proposal
    from memstore.domain.records import Fact
    from memstore.domain.searches import RecordedSearch
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.sessions import Undo
    from memstore.faces.web.visit import Visit

MAX_LINES: Final = 100
"""Lines of the journal that are shown."""

MAX_EDITED: Final = 50_000
"""Characters of a text that is put into the form that corrects it: browsers take long over more."""

MAX_GIVEN: Final = 100
"""Recorded questions and prompts that a fact was given for, which are counted."""

MAX_PROPOSALS: Final = 500
"""Open questions about a subject among which those about a fact are looked for."""


def show(visit: Visit) -> Reply:
    fact_id = visit.numbers["id"]
    fact = visit.store.get(fact_id)
    visit.session.note_opened(visit.store.namespace, "fact", fact.id)
    explanation = visit.store.of(EVERYBODY).ledger.explain(fact_id)
    lines = visit.store.ledger.journal(fact_id)[-MAX_LINES:]
    supports = visit.store.ledger.support(fact_id)
    chain = visit.store.history(fact_id)
    return visit.page(
        "fact.html",
        fact=fact,
        explanation=explanation,
        reasons=reasons.of(visit.store, explanation.entries),
        given=_given(visit, fact_id),
        supports=supports,
        sayings=sayings.of(visit.store, supports),
        band=chain_band.of(chain, fact.id),
        newest=chain[-1],
        neighbours=_neighbours(visit, fact),
        proposals=_open_proposals(visit, fact),
        lines=lines,
    )


def _given(visit: Visit, fact_id: int) -> tuple[Sequence[RecordedSearch], int]:
    """Return the latest questions and prompts that a fact was given for, and the answers to it."""
    found = visit.store.of(EVERYBODY).searches.list(fact=fact_id, limit=MAX_GIVEN)
    return found, visit.session.keep({"fact": str(fact_id)})


def _neighbours(visit: Visit, fact: Fact) -> list[Fact]:
    """Return the facts before and after it in its conversation."""
    if fact.thread is None:
        return []
    listed = partial(visit.store.of(fact.scope).list, thread=fact.thread, limit=1)
    return [*listed(before_id=fact.id, newest_first=True), *listed(after_id=fact.id)]


def _open_proposals(visit: Visit, fact: Fact) -> list[Proposal]:
    """Return the questions that a fact is part of."""
    about = visit.store.of(EVERYBODY).proposals.list(subject=fact.subject, limit=MAX_PROPOSALS)
    return [
        one for one in about if fact.id in {part.id for part in (*one.sources, one.new) if part}
    ]


def text(visit: Visit) -> Reply:
    """Show the whole text, however long it is."""
    return visit.page("fact_text.html", fact=visit.store.get(visit.numbers["id"]))


def said(visit: Visit) -> Reply:
    """Return where a fact was said, to be put into a page that is open."""
    supports = visit.store.ledger.support(visit.numbers["id"])
    return visit.page("parts/said.html", sayings=sayings.of(visit.store, supports))


# -- what is done at once, and can be undone -------------------------------------------------------


def confirm(visit: Visit) -> Reply:
    return _done(visit, "Still true", Store.confirm)


def pin(visit: Visit) -> Reply:
    return _done(visit, "Pinned", Store.pin)


def unpin(visit: Visit) -> Reply:
    return _done(visit, "Unpinned", Store.unpin)


def delete(visit: Visit) -> Reply:
    return _done(visit, "Deleted", Store.delete)


def restore(visit: Visit) -> Reply:
    return _done(visit, "Restored", Store.restore)


def reinstate(visit: Visit) -> Reply:
    return _done(visit, "Reinstated", Store.reinstate)


def _done(visit: Visit, text: str, work: Callable[[Store, int], object]) -> Reply:
    fact_id = visit.numbers["id"]
    visit.store.get(fact_id)  # else there is nothing here, whatever the form says
    undo = acting.act(visit, [fact_id], f"{text}: #{fact_id}", lambda store: work(store, fact_id))
    return _after(visit, undo, visit.back or f"fact/{fact_id}")


def _after(visit: Visit, undo: Undo | None, back: str) -> Reply:
    if visit.swaps and undo is not None:
        return visit.page("parts/done.html", undo=undo)
    return visit.to(back)


# -- what needs a form of its own ------------------------------------------------------------------


def correct(visit: Visit, problem: str = "", status: int = 200) -> Reply:
    """Show the form for the text that replaces a fact."""
    fact = visit.store.get(visit.numbers["id"])
    written = "" if len(fact.content) > MAX_EDITED else fact.content
    text = visit.fields.get("content", written)
    if fact.status not in ("active", "distrusted", "expired"):
        raise Conflict(f"fact {fact.id} is {fact.status}: only what is active can be corrected")
    return visit.page("correct.html", status, fact=fact, text=text, problem=problem)


def save_correction(visit: Visit) -> Reply:
    """Store a new fact that supersedes the old one."""
    old = visit.store.get(visit.numbers["id"])
    content = visit.fields.get("content", "").replace("\r\n", "\n").strip()
    if not content or content == old.content:
        problem = "Write what is true instead." if not content else "That is what it says already."
        return correct(visit, problem, 400)
    added: list[Fact] = []

    def work(store: Store) -> None:
        new = store.add(
            content,
            subject=old.subject,
            category=old.category,
            metadata=old.metadata,
            supersedes=old.id,
            user_id=old.user_id,
            agent_id=old.agent_id,
            run_id=old.run_id,
        )
        added.append(new)

    try:
        acting.act(visit, [old.id], f"Corrected: #{old.id}", work)
    except (Explained, ValueError) as error:
        return correct(visit, wording.in_pages(error), 400)
    return visit.to(f"fact/{added[0].id}")


def metadata(visit: Visit, problem: str = "", status: int = 200) -> Reply:
    """Show the form for the metadata, as JSON with hidden characters as escapes."""
    fact = visit.store.get(visit.numbers["id"])
    written = json.dumps(fact.metadata, ensure_ascii=True, indent=2, sort_keys=True)
    text = visit.fields.get("metadata", written)
    return visit.page("metadata.html", status, fact=fact, text=text, problem=problem)


def save_metadata(visit: Visit) -> Reply:
    """Store the metadata as the form has it: what it leaves out is removed."""
    fact = visit.store.get(visit.numbers["id"])
    try:
        wanted = json.loads(visit.fields.get("metadata", ""))
    except (ValueError, RecursionError) as error:
        return metadata(visit, f"This is no JSON: {why_no_json(error)}", 400)
    if not isinstance(wanted, dict):
        return metadata(visit, 'This is no JSON object, such as {"room": "kitchen"}.', 400)
    patch = _patch(fact.metadata, wanted)
    if not patch:
        return visit.to(f"fact/{fact.id}")
    try:
        acting.act(
            visit,
            [fact.id],
            f"Metadata changed: #{fact.id}",
            lambda store: store.update_metadata(fact.id, patch),
        )
    except (Explained, ValueError) as error:
        return metadata(visit, wording.in_pages(error), 400)
    return visit.to(f"fact/{fact.id}")


def _patch(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the merge patch that makes one object of another."""
    patch: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
    for name, value in new.items():
        if name not in old or old[name] != value:
            both = isinstance(value, dict) and isinstance(old.get(name), dict)
            patch[name] = _patch(old[name], value) if both else value
    return patch


ROUTES: Final = (
    shows("fact/{id}", show),
    shows("fact/{id}/text", text),
    shows("fact/{id}/said", said),
    changes("fact/{id}/confirm", confirm),
    changes("fact/{id}/pin", pin),
    changes("fact/{id}/unpin", unpin),
    changes("fact/{id}/delete", delete),
    changes("fact/{id}/restore", restore),
    changes("fact/{id}/reinstate", reinstate),
    shows("fact/{id}/correct", correct),
    changes("fact/{id}/correct", save_correction),
    shows("fact/{id}/metadata", metadata),
    changes("fact/{id}/metadata", save_metadata),
)
