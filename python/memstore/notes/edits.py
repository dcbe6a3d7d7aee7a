"""The way back: what a person changed in the notes, as a plan, and carrying it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from memstore.domain.records import DEFAULT_CATEGORY, NewFact
from memstore.errors import TransferError
from memstore.facts.batch import AddFact, DeleteFact, MayReplace
from memstore.frozen import frozen
from memstore.notes import page
from memstore.notes.folder import fact_of, read_manifest
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memstore.domain.records import Fact
    from memstore.notes.page import EditableLine, ReadPage
    from memstore.store.store import Store

SOURCE: Final = "notes"


@frozen
class PlannedEdit:
    kind: Literal["add", "supersede", "delete", "propose", "skip"]
    place: str
    subject: str
    text: str
    category: str | None = None
    fact_id: int | None = None
    """The fact that is superseded, deleted, or may be replaced."""
    reason: str | None = None
    """Why it is a proposal, or skipped."""


class NotesPlan:
    """What an import of edited notes would do."""

    def __init__(self, store: Store, edits: list[PlannedEdit]) -> None:
        self._store = store
        self.edits = edits

    def apply(self, *, delete: bool = False) -> dict[str, int]:
        """Carry it out in one transaction; return how many edits of each kind were.

        Args:
            delete: also delete the facts whose lines were removed.

        Raises:
            Conflict: a fact changed since the plan was made; nothing was done. Plan again.
        """
        chosen = [edit for edit in self.edits if edit.kind != "delete" or delete]
        changes = [change for edit in chosen if (change := self._change(edit)) is not None]
        if changes:
            self._store.apply(changes)
        counts = dict.fromkeys(("add", "supersede", "delete", "propose", "skip"), 0)
        for edit in chosen:
            counts[edit.kind] += 1
        counts["skip"] += len(self.edits) - len(chosen)
        return counts

    def _change(self, edit: PlannedEdit) -> AddFact | DeleteFact | None:
        if edit.kind == "skip":
            return None
        if edit.kind == "delete":
            return DeleteFact(fact_id=edit.fact_id or 0)
        old = None if edit.fact_id is None else fact_of(self._store, edit.fact_id)
        kept: dict[str, Any] = {} if old is None else {**old.scope.ids, "metadata": old.metadata}
        new = NewFact(
            content=edit.text.replace(page.BREAK, "\n"),
            subject=edit.subject.replace(page.BREAK, "\n") if old is None else old.subject,
            category=edit.category or DEFAULT_CATEGORY,
            source=SOURCE,
            supersedes=edit.fact_id if edit.kind == "supersede" else None,
            **kept,
        )
        if edit.kind == "propose":
            return AddFact(fact=new, precedence=MayReplace(edit.fact_id or 0))
        return AddFact(fact=new, unless_known=edit.kind == "add")


def plan_edits(store: Store, folder: Path) -> NotesPlan:
    """Compare the notes of a folder with the memory; nothing is changed.

    Raises:
        TransferError: a note cannot be read.
    """
    edits: list[PlannedEdit] = []
    for name in sorted(read_manifest(folder, store.namespace)):
        file = folder / name
        if file.is_symlink() or not file.is_file():
            continue  # the next export writes it again: deleting a file deletes no facts
        try:
            read = page.read(file.read_text("utf-8"))
        except UnicodeDecodeError:
            raise TransferError("not UTF-8 text; nothing was imported", place=name) from None
        if read is None:
            raise TransferError(
                "its front matter is damaged: restore `subject` and `facts`, or remove the file "
                "and export again; nothing was imported",
                place=name,
            )
        edits += _of_page(store, name, read)
    return NotesPlan(store, edits)


def _of_page(store: Store, name: str, read: ReadPage) -> Iterator[PlannedEdit]:
    seen: set[int] = set()
    for line in read.lines:
        place = f"{name}, line {line.number}"
        if line.fact_id is None:
            if not _known(store, read.subject, line):
                yield PlannedEdit("add", place, read.subject, line.text, line.category)
        elif line.fact_id in seen:
            yield PlannedEdit(
                "skip", place, read.subject, line.text, reason=f"{line.fact_id} is named twice"
            )
        else:
            seen.add(line.fact_id)
            yield from _of_line(store, place, read.subject, line, line.fact_id)
    for missing in sorted(read.ids - seen):
        fact = fact_of(store, missing)
        if fact is not None and fact.status == "active":
            text = page.one_line(fact.content)
            yield PlannedEdit("delete", name, read.subject, text, fact_id=missing)


def _of_line(
    store: Store, place: str, subject: str, line: EditableLine, fact_id: int
) -> Iterator[PlannedEdit]:
    fact = fact_of(store, fact_id)
    if (
        fact is None
        or not fact.content
        or subject_key(page.one_line(fact.subject)) != subject_key(subject)
    ):
        yield PlannedEdit("skip", place, subject, line.text, reason=f"{fact_id} is not here")
        return
    same_text = line.text == page.one_line(fact.content)
    if same_text and line.category in (None, page.category_of(fact)):
        return
    category = fact.category if line.category in (None, page.category_of(fact)) else line.category
    text = fact.content if same_text else line.text
    if fact.status == "active":
        yield PlannedEdit("supersede", place, subject, text, category, fact_id)
        return
    newest = _newest(store, fact)
    if newest is None:
        reason = f"{fact_id} was {fact.status} here in the meantime"
        yield PlannedEdit("skip", place, subject, line.text, reason=reason)
    elif page.one_line(newest.content) != line.text:
        reason = f"changed on both sides: here it is now {newest.id}"
        yield PlannedEdit("propose", place, subject, text, category, newest.id, reason)


def _newest(store: Store, fact: Fact) -> Fact | None:
    newest = store.history(fact.id)[-1]
    return newest if newest.status == "active" else None


def _known(store: Store, subject: str, line: EditableLine) -> bool:
    """Return whether a new line is stored already, by an import before."""
    here = store.list(subject=subject.replace(page.BREAK, "\n"), scope="all", limit=None)
    return any(page.one_line(fact.content) == line.text for fact in here)
