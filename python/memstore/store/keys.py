"""Facts by their external keys: what other programs call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, erasures, zones
from memstore.domain import moments as given_moments
from memstore.domain.arguments import (
    MAX_NUMBER,
    checked_items,
    checked_key,
    checked_number,
    stored_text,
)
from memstore.domain.records import EVERYBODY
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.facts import keyed
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.moments import Moment
    from memstore.domain.records import Fact, NewFact
    from memstore.domain.standing import Standing
    from memstore.facts.keyed import DeleteKey
    from memstore.facts.transactions import FactTransactions
    from memstore.file.file import File
    from memstore.store import ledger
else:
    ledger = lazy_import("memstore.store.ledger")


class KeyView(zones.Zoned):
    """The facts that external keys name: ``keys`` of a :class:`memstore.View`."""

    def __init__(self, file: File, standing: Standing, moment: Moment | None = None) -> None:
        self._file = file
        self._zone = file.zone
        self._standing = standing
        self._moment = moment

    def get(self, external_key: str) -> Fact | None:
        """Return the active fact with an external key; ``None`` if there is none.

        Args:
            external_key: the key, exactly as it was given.
        """
        return self.get_many([external_key]).get(external_key)

    def get_many(self, external_keys: Iterable[str]) -> dict[str, Fact]:
        """Return the active facts with these external keys, by key; see :meth:`get`."""
        keys = keyed.checked_keys(external_keys)
        if self._moment is None:
            self._file.write_use_counts()
        with self._file.engine.read() as transaction:
            return keyed.by_keys(transaction, self._standing, keys, self._moment)


class Keys(KeyView):
    """Facts under external keys: ``keys`` of a :class:`memstore.Store`.

    A key is exactly the text that was given. It belongs to one namespace, the store's own, and to
    one set of owners; at most one of the facts that have it is active.
    """

    def __init__(self, file: File, facts: FactTransactions) -> None:
        super().__init__(file, facts.standing)
        self._facts = facts

    def put(self, items: Iterable[NewFact | DeleteKey | Mapping[str, Any]]) -> list[Fact | None]:
        """Put facts under their external keys, and delete keys, in one transaction.

        A fact supersedes the current one with its key and its owners, whoever stored that and
        however much it counts, with its chain, its journal and its undo; if both are equal (text,
        subject, category, metadata, source, …), nothing changes but the expiry. After a deletion, a
        key begins a new chain. It is looked up in the transaction that writes, so any number of
        threads and processes may put one key. Keys are those of the store's own namespace.

        Args:
            items: :class:`NewFact` objects with an ``external_key``, mappings of their fields, or
                :class:`memstore.facts.keyed.DeleteKey`, in order.

        Returns:
            The current fact for each; for a deletion the deleted one, ``None`` if there was none.

        Raises:
            ValueError: a fact without a key, or that cannot be stored; nothing was done.
        """
        return self._put(keyed.checked_items_to_put(items))

    def delete(self, external_keys: Iterable[str]) -> list[Fact]:
        """Delete the current facts with these external keys, in one transaction; return them.

        Args:
            external_keys: the keys; those that no current fact has are skipped.
        """
        keys = checked_items(external_keys, "external_keys")
        wanted = [keyed.DeleteKey(external_key=key) for key in keys]
        return [fact for fact in self._put(wanted) if fact is not None]

    def change(
        self,
        decide: Callable[[dict[str, Fact]], Iterable[NewFact | DeleteKey | Mapping[str, Any]]],
        *,
        external_keys: Iterable[str] = (),
        external_key_prefix: str | None = None,
    ) -> list[Fact | None]:
        """Put facts and delete keys by what is there, in the transaction that has read it.

        So nothing is lost that others write at the same time, and no caller has to try again.
        ``decide`` gets the active facts, by key, and returns what :meth:`put` takes. It is called
        before the transaction, so that no lock is held while new texts are embedded; if the facts
        changed in the meantime, it is called again in the transaction, and the new texts are
        embedded later. It must do nothing else: above all, it must not use the store. If it raises,
        nothing was done.

        Args:
            decide: what to put and delete; nothing, to leave all as it is.
            external_keys: the keys whose facts it gets.
            external_key_prefix: it also gets every fact whose key begins like this.

        Returns:
            As :meth:`put`.

        Raises:
            ValueError: a fact without a key, or that cannot be stored; nothing was done.
        """
        if not callable(decide):
            raise InvalidArgumentType(
                f"must be a function, not {type(decide).__name__}", argument="decide"
            )
        keys, standing = keyed.checked_keys(external_keys), self._standing
        prefix = external_key_prefix
        if prefix is not None:
            prefix = stored_text(prefix, "external_key_prefix")

        def read(transaction: Transaction) -> dict[str, Fact]:
            return keyed.under(transaction, standing, keys, prefix)

        facts = self._facts
        with facts.reading() as transaction:
            seen = read(transaction)
        items = keyed.checked_items_to_put(decide(seen))
        prepared = facts.prepare(keyed.facts_among(items))
        if not items:
            return []
        with facts.writing() as transaction:
            stored = read(transaction)
            if stored != seen:
                items = keyed.checked_items_to_put(decide(stored))
                prepared = facts.checked(keyed.facts_among(items))  # embedded later
            return keyed.put_all(facts.writer(transaction), items, prepared)

    def first_stored(self, external_keys: Iterable[str]) -> dict[str, datetime]:
        """Return when there was first a fact with each of these external keys, by key.

        Putting again does not change it; after a deletion it begins anew. Keys that no fact has had
        since are left out.

        Args:
            external_keys: the keys.
        """
        keys, owners = keyed.checked_keys(external_keys), self._standing.selected
        with self._file.engine.read() as transaction:
            return fact_table.first_stored(transaction, self._standing.namespace, keys, owners)

    def forget_versions(
        self,
        external_key_prefix: str,
        *,
        keep: int | None = None,
        superseded_before: datetime | str | None = None,
    ) -> int:
        """Erase old facts under keys that begin alike; return how many were erased.

        What is current stays, and so do deleted facts. Erased facts cannot be brought back; the
        journal says that they were erased. :meth:`first_stored` counts from the oldest left.

        Args:
            external_key_prefix: how the keys begin; ``""`` for every key.
            keep: of each key, keep this many of the newest superseded facts; ``None``: any number.
            superseded_before: erase those superseded before this time, such as ``"30d"`` ago.

        Raises:
            ValueError: neither a number nor a time is given, or the number is negative.
            Conflict: one of the facts was changed at the same time; nothing was done.
        """
        prefix = stored_text(external_key_prefix, "external_key_prefix")
        before = given_moments.before(superseded_before, "superseded_before")
        if keep is None and before is None:
            raise InvalidArgument("or superseded_before is required", argument="keep")
        if keep is not None:
            checked_number(keep, "keep", 0, MAX_NUMBER)
        with self._file.engine.read() as transaction:
            old = fact_table.old_versions(
                transaction, self._standing.namespace, prefix, self._standing.bound, keep, before
            )
        if old:
            standing = self._standing if self._standing.bound else self._standing.of(EVERYBODY)
            chosen = erasures.ErasureSelection(facts=tuple(old))
            ledger.erasure_plan(self._file, self._facts.of(standing), chosen).apply()
        return len(old)

    def folders(self, prefix: str = "", *, delimiter: str = "/") -> dict[str, int]:
        """Return the folders that external keys are in, with the number of active facts in each.

        A folder is a key up to the first delimiter after the prefix, and with it: of ``a/b/c``,
        ``a/`` is one after no prefix, ``a/b/`` after ``a/``. Keys without one are left out.

        Args:
            prefix: how the keys begin.
            delimiter: what ends a folder's name.
        """
        wanted = FactFilter(
            (self._standing.namespace,),
            clock.utc_now(),
            scope=self._standing.selected,
            external_key_prefix=stored_text(prefix, "prefix"),
        )
        delimiter = checked_key(delimiter, "delimiter")
        with self._file.engine.read() as transaction:
            return fact_table.key_folders(transaction, wanted, delimiter)

    def _put(self, items: Sequence[NewFact | DeleteKey]) -> list[Fact | None]:
        facts = self._facts
        prepared = facts.prepare(keyed.facts_among(items))
        if not items:
            return []
        return facts.perform(
            lambda transaction: keyed.put_all(facts.writer(transaction), items, prepared)
        )
