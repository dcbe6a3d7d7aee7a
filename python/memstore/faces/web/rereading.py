"""Episodes that a language model reads again: in a thread, with its progress; the result stays."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from memstore.domain import clock
from memstore.errors import Cancelled, Explained
from memstore.faces import wording
from memstore.lazy import lazy_import
from memstore.store.store import file_of, in_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from memstore.domain.protocols import JSONGenerator
    from memstore.file.file import File
    from memstore.learn import extraction
    from memstore.learn.extraction import Extracted
    from memstore.store.store import Store
else:
    extraction = lazy_import("memstore.learn.extraction")

POLICY: Final = "judged"
"""What is learned replaces only what its words prove outdated; the rest becomes a question."""

MAX_KEPT: Final = 100
"""Results that are kept for a file."""


class Rereading:
    """One reading of an episode, in a run of its own, so that it can be undone as a whole.

    Args:
        store: where the episode is; its author is who started it.
        episode_id: the episode.
        generator: reads it.
        stays: whether who started it is still signed in: the reading ends with that.
    """

    def __init__(
        self,
        store: Store,
        episode_id: int,
        generator: JSONGenerator,
        stays: Callable[[], bool],
    ) -> None:
        run = clock.new_run()
        self._store = in_run(store, run)
        self._episode_id = episode_id
        self._generator = generator
        self._stays = stays
        self._stop = threading.Event()
        self.run = str(uuid.UUID(bytes=run))
        self.model = generator.model
        self.is_running = True
        self.done = 0
        self.total = 0
        self.at: datetime | None = None
        """When it ended."""
        self.items: Sequence[Extracted] = ()
        self.changed = False
        """Whether it changed any fact."""
        self.trouble = ""
        """Why it came to no result; nothing was stored then."""

    def start(self) -> None:
        threading.Thread(target=self._read, name="rereading", daemon=True).start()

    def stop(self) -> None:
        """End it after the piece that the model reads now; nothing is stored."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to end, and still waits for the model."""
        return self.is_running and self._stop.is_set()

    def _read(self) -> None:
        try:
            own = self._store.of(self._store.episodes.get(self._episode_id).scope)
            extractor = extraction.Extractor(own, self._generator, policy=POLICY)
            self.items = extractor.extract_episode(
                self._episode_id, progress=self._tell, cancelled=self._is_over
            ).items
            self.changed = bool(own.ledger.log(run=self.run, limit=1))
        except Cancelled:
            self.trouble = (
                "It was stopped; nothing was stored."
                if self._stop.is_set()
                else "The sign-in that started it has ended; nothing was stored."
            )
        except (Explained, ValueError) as error:
            self.trouble = wording.in_pages(error)
        finally:
            self.at = clock.utc_now()
            self.is_running = False

    def _is_over(self) -> bool:
        return self._stop.is_set() or not self._stays()

    def _tell(self, done: int, total: int) -> None:
        self.done, self.total = done, total


_Kept = OrderedDict[tuple[str, int], Rereading]
_known: WeakKeyDictionary[File, _Kept] = WeakKeyDictionary()
_lock = threading.Lock()


def begin(
    store: Store, episode_id: int, generator: JSONGenerator, stays: Callable[[], bool]
) -> Rereading:
    """Have an episode read, unless that is being done; for the arguments see Rereading."""
    key = (store.namespace, episode_id)
    with _lock:
        kept = _known.setdefault(file_of(store), OrderedDict())
        last = kept.get(key)
        if last is not None and last.is_running:
            return last
        kept[key] = reading = Rereading(store, episode_id, generator, stays)
        kept.move_to_end(key)
        if len(kept) > MAX_KEPT:
            kept.popitem(last=False)
    reading.start()
    return reading


def last(store: Store, episode_id: int) -> Rereading | None:
    """Return the last reading of an episode that was started here."""
    with _lock:
        return _known.get(file_of(store), OrderedDict()).get((store.namespace, episode_id))
