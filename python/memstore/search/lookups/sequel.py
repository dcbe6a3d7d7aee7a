"""What a search leaves for the next one of the same question, in the same state of the index.

A question that names a project is searched for twice: as it is, to see which of its words are
names, and without them. Which names questions had is remembered, so that one pass over the vectors
can look for both. The second search uses what fits it exactly, and so finds what it would find by
itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memstore.embedding.vectors import Vector
    from memstore.search.index.contents import FeedContents
    from memstore.search.index.visibility import Visible


class Foreseen(NamedTuple):
    """The nearest rows to a vector, and among which they are."""

    vector: bytes
    number: int
    """How many were looked for."""
    among: Visible
    near: Mapping[int, float]


class Sequel:
    """What the first of two searches found for the second one. One thread uses it."""

    def __init__(self, text: str) -> None:
        """Expect a search for a text."""
        self.text: str | None = text
        """What the first search is to look for, too, until it has done so."""
        self._foreseen: Foreseen | None = None
        self._vectors: list[tuple[int, bytes]] = []
        self._read: set[int] = set()
        """The rows whose vectors were read, some of which have none."""
        self._contents: FeedContents | None = None
        self._state: tuple[object, ...] = ()

    def nearest(
        self,
        contents: FeedContents,
        vector: Vector,
        number: int,
        among: Visible,
        look: Callable[[Sequence[Vector]], list[dict[int, float]]],
        vectors_of: Callable[[Sequence[str]], Sequence[Vector] | None],
    ) -> dict[int, float]:
        """Return the nearest rows to a vector, and look for those of the next search, too.

        Args:
            number: how many are looked for.
            among: the rows that may be seen.
            look: returns them for several vectors.
            vectors_of: returns vectors of texts, if the index can make them.
        """
        known = self.near(contents, vector, number, among)
        if known is not None:
            return {**known}
        follow = (vectors_of([self.text]) or ()) if self.text else ()
        found = look([vector, *follow])
        for other, near in zip(follow, found[1:], strict=True):
            self.foresee(contents, other, number, among, near)
        return found[0]

    def foresee(
        self,
        contents: FeedContents,
        vector: Vector,
        number: int,
        among: Visible,
        near: Mapping[int, float],
    ) -> None:
        """Keep the nearest rows to the text's vector; arguments as of :meth:`near`."""
        self._enter(contents)
        self.text, self._foreseen = None, Foreseen(bytes(vector), number, among, near)

    def near(
        self, contents: FeedContents, vector: Vector, number: int, among: Visible
    ) -> Mapping[int, float] | None:
        """Return the nearest rows to a vector, if they were looked for; once.

        Args:
            number: how many are looked for.
            among: the rows that may be seen.
        """
        self._enter(contents)
        found = self._foreseen
        if found is None or (found.vector, found.number) != (bytes(vector), number):
            return None
        if found.among is not among and (
            len(found.among) != len(among) or len(found.among & among) != len(among)
        ):
            return None
        self._foreseen = None
        return found.near

    def vectors(
        self,
        contents: FeedContents,
        ids: Sequence[int],
        read: Callable[[Sequence[int]], Sequence[tuple[int, bytes]]],
    ) -> list[tuple[int, bytes]]:
        """Return the stored vectors of rows, each after its id; ``read`` reads those not known.

        Those of one row are in the order in which they were read; rows are in any order.
        """
        self._enter(contents)
        wanted = {*ids}
        known = [row for row in self._vectors if row[0] in wanted]
        new = [id_ for id_ in ids if id_ not in self._read]
        rows = read(new) if new else ()
        self._read.update(new)
        self._vectors += rows
        return [*known, *rows]

    def _enter(self, contents: FeedContents) -> None:
        """Forget what was found in another state of the index."""
        state = contents.position, contents.generation
        if self._contents is not contents or self._state != state:
            self._foreseen, self._vectors, self._read = None, [], set()
            self._contents, self._state = contents, state


class Sequels:
    """Those of the searches for facts and for turns, given what is searched for next."""

    def __init__(self, text: str) -> None:
        self.facts, self.turns = Sequel(text), Sequel(text)
