"""The way back: what a person changed in the notes, as a plan, and carrying it out."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from memstore.domain.records import DEFAULT_CATEGORY, NewFact
from memstore.errors import StorageError, TransferError
from memstore.facts.batch import AddFact, DeleteFact, MayReplace
from memstore.frozen import frozen
from memstore.notes import manifest, page
from memstore.notes.folder import fact_of
from memstore.notes.manifest import Proofs, hash_of
from memstore.notes.shared_folder import OTHER, SharedFolder
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.domain.records import Fact
    from memstore.notes.manifest import WrittenNote
    from memstore.notes.page import EditableLine, ReadPage
    from memstore.store.store import Store

SOURCE: Final = "notes"
MAX_SHOWN: Final = 20
"""Characters of a damaged mark."""


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

    @property
    def note(self) -> str:
        """The name of the note."""
        return self.place.partition(", line ")[0]


class NotesPlan:
    """What an import of edited notes would do."""

    def __init__(
        self,
        store: Store,
        edits: list[PlannedEdit],
        folder: Path | None = None,
        imported: Mapping[str, WrittenNote] | None = None,
    ) -> None:
        self._store = store
        self._folder = folder
        self._imported = imported or {}
        """The notes with edits, as they are, by name."""
        self.edits = edits

    def apply(self, *, delete: bool = False) -> dict[str, int]:
        """Carry it out in one transaction; return how many edits of each kind were.

        A note all of whose edits were carried out is written again by the next export.

        Args:
            delete: also delete the facts whose lines were removed.

        Raises:
            Conflict: a fact changed since the plan was made; nothing was done. Plan again.
        """
        chosen = [edit for edit in self.edits if edit.kind != "delete" or delete]
        changes = [change for edit in chosen if (change := self._change(edit)) is not None]
        if changes:
            self._store.ledger.apply(changes)
        left = {edit.note for edit in self.edits if edit not in chosen or edit.kind == "skip"}
        with suppress(OSError, StorageError):  # the notes are then kept as notes with edits
            self._note_imported({n: s for n, s in self._imported.items() if n not in left})
        counts = dict.fromkeys(("add", "supersede", "delete", "propose", "skip"), 0)
        for edit in chosen:
            counts[edit.kind] += 1
        counts["skip"] += len(self.edits) - len(chosen)
        return counts

    def _note_imported(self, states: Mapping[str, WrittenNote]) -> None:
        """Tell the next export that the edits of these notes are in the memory."""
        if not states or self._folder is None:
            return
        mark = manifest.mark_of(self._store)
        with SharedFolder(self._folder, mark) as folder, folder.locked():
            listed = manifest.read(folder, self._store)
            notes = {
                name: [*known, states[name]] if name in states else known
                for name, known in listed.notes.items()
            }
            manifest.write(folder, self._store, listed, notes)

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
        StorageError: the folder has the notes of another memory, or its list cannot be read.
        TransferError: a note cannot be read.
    """
    try:
        with SharedFolder(folder, "") as opened:
            planning = _Planning(store, opened)
            return NotesPlan(store, [*planning.edits()], folder, planning.edited)
    except OSError as error:
        raise TransferError(f"{str(folder)!r} cannot be read: {error.strerror}") from None


class _Planning:
    def __init__(self, store: Store, folder: SharedFolder) -> None:
        self._store = store
        self._folder = folder
        self._seen: dict[int, str] = {}
        """The notes that had the line of a fact."""
        self.edited: dict[str, WrittenNote] = {}

    def edits(self) -> Iterator[PlannedEdit]:
        listed = manifest.read(self._folder, self._store)
        proofs = Proofs.of(self._store, listed, ())
        for name in sorted({*listed.notes, *listed.unproven}):
            content = self._folder.read(name)
            if content is None or content == OTHER:
                continue  # the next export writes it again: deleting a file deletes no facts
            states = proofs.proven(name, listed.notes.get(name, ()))
            if any(one.text == hash_of(content) for one in states):
                continue  # as it was written
            read = self._read(name, content)
            if not states and not (read is not None and self._is_of_this_memory(read)):
                yield PlannedEdit("skip", name, "", "", reason="this memory did not write it")
            elif read is not None:
                if states:
                    self.edited[name] = proofs.state(name, content, states[-1].facts)
                yield from self._of_page(name, read)
            elif page.marks(content.decode()) & {one for state in states for one in state.facts}:
                raise TransferError(
                    "its front matter is damaged: restore `subject` and `facts`, or remove the "
                    "file and export again; nothing was imported",
                    place=name,
                )
            elif content:
                yield PlannedEdit("skip", name, "", "", reason="it is no note any more")

    def _read(self, name: str, content: bytes) -> ReadPage | None:
        try:
            return page.read(content.decode())
        except UnicodeDecodeError:
            raise TransferError("not UTF-8 text; nothing was imported", place=name) from None

    def _is_of_this_memory(self, read: ReadPage) -> bool:
        """Return whether a note, without proof, has a line that only this memory can have."""
        if not read.ids or self._store.transfer.uuids(read.ids).keys() != read.ids:
            return False
        facts = {fact.id: fact for fact in self._store.get_many(read.ids)}
        return any(
            line.fact_id in facts
            and line.text == page.one_line(facts[line.fact_id].content)
            and _is_about(facts[line.fact_id], read.subject)
            for line in read.lines
        )

    def _of_page(self, name: str, read: ReadPage) -> Iterator[PlannedEdit]:
        here: set[int] = set()
        without_mark: set[str] = set()
        damaged = False
        for line in read.lines:
            place = f"{name}, line {line.number}"
            skip = partial(PlannedEdit, "skip", place, read.subject, line.text)
            if line.damage is not None:
                damaged = True
                yield skip(reason=f"^m{line.damage[:MAX_SHOWN]} is no id of a fact")
            elif line.fact_id is None:
                without_mark.add(line.text)
                if not _known(self._store, read.subject, line):
                    yield PlannedEdit("add", place, read.subject, line.text, line.category)
            elif line.fact_id in here or line.fact_id in self._seen:
                here.add(line.fact_id)
                first = self._seen[line.fact_id]
                too = "" if first == name else f", also in {first}"
                yield skip(reason=f"{line.fact_id} is named twice{too}")
            else:
                here.add(line.fact_id)
                self._seen[line.fact_id] = name
                damaged |= line.fact_id not in read.ids
                yield from _of_line(self._store, place, read.subject, line, line.fact_id)
        for fact in self._store.get_many(sorted(read.ids - here)):
            text = page.one_line(fact.content)
            if fact.status != "active" or text in without_mark:
                continue
            if damaged:
                reason = f"another line may be that of {fact.id}: its mark was changed"
                yield PlannedEdit("skip", name, read.subject, text, reason=reason)
            else:
                yield PlannedEdit("delete", name, read.subject, text, fact_id=fact.id)


def _of_line(
    store: Store, place: str, subject: str, line: EditableLine, fact_id: int
) -> Iterator[PlannedEdit]:
    fact = fact_of(store, fact_id)
    if fact is None or not _is_about(fact, subject):
        why = "is not here" if fact is None else "is about another subject"
        yield PlannedEdit("skip", place, subject, line.text, reason=f"{fact_id} {why}")
        return
    same_text = line.text == page.one_line(fact.content)
    category = fact.category if _is_kept(line.category, fact) else line.category
    if same_text and category == fact.category:
        return
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


def _is_kept(category: str | None, fact: Fact) -> bool:
    """Return whether a line leaves a fact in its category, which may be spelt otherwise."""
    return category is None or subject_key(category) == subject_key(page.category_of(fact))


def _is_about(fact: Fact, subject: str) -> bool:
    return subject_key(page.one_line(fact.subject)) == subject_key(subject)


def _newest(store: Store, fact: Fact) -> Fact | None:
    newest = store.history(fact.id)[-1]
    return newest if newest.status == "active" else None


def _known(store: Store, subject: str, line: EditableLine) -> bool:
    """Return whether a new line is stored already, by an import before."""
    here = store.of("all").list(subject=subject.replace(page.BREAK, "\n"), limit=None)
    return any(page.one_line(fact.content) == line.text for fact in here)
