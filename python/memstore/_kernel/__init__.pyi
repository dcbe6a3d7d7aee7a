"""The Rust kernel: float32 vectors as bytes, the index that searches use, and the ranking.

One module for each idea:

- :mod:`~memstore._kernel.vectors`: vectors as bytes, and their cosines;
- the index: :mod:`~memstore._kernel.columns`, :mod:`~memstore._kernel.words`,
  :mod:`~memstore._kernel.features` and :mod:`~memstore._kernel.codes`, with
  :mod:`~memstore._kernel.ids` that say which rows may be found;
- :mod:`~memstore._kernel.mentions`: which facts mention the names of a graph;
- :mod:`~memstore._kernel.ranking`: the order of results;
- :mod:`~memstore._kernel.language`: what words say without a model;
- :mod:`~memstore._kernel.claims`: claims as their words, and two of them side by side;
- :mod:`~memstore._kernel.model`: the built-in model;
- :mod:`~memstore._kernel.chain`: the hash chain of the journal;
- :mod:`~memstore._kernel.json`: texts of JSON objects;
- :mod:`~memstore._kernel.locks`: file locks.

The following holds for every function:

- An array must be a numpy array of exactly the dtype and number of dimensions given here,
  C-contiguous and aligned. Nothing is converted silently: a wrong type or dtype is a `TypeError`,
  a wrong number of dimensions or another memory layout a `ValueError`, and both say which
  `np.ascontiguousarray(...)` call helps.
- Arguments are copied before the GIL is released; the caller may change them as soon as the call
  returns. Results are new objects that the caller owns.
- If there is not enough memory, a `MemoryError` is raised and nothing is changed.
- NaN and infinities are refused with a `ValueError` that names the argument and the position.
- On a free-threaded build every function may be called from any thread at any time.

And for the four structures of the index:

- Rows of a saved file are mapped, so that processes share them; later ones are in memory. `nbytes`
  counts this process's own memory, without mapped files.
- `save` writes all rows to a file that exists: one that was removed does not come back. Meanwhile
  other writers wait, but readers do not. The rows in memory stay there; open the file to use it
  instead. `database` are 16 bytes that identify the database (otherwise a `ValueError`), `position`
  is the one in its changes that the rows are current for. An `OSError` says that the file cannot be
  written.
- `open` maps such a file; changes to the rows stay in memory. An `OSError` says that it cannot be
  read, a `ValueError` that it is damaged or was derived from something else. `position` is the one
  that it was saved with, 0 if none was opened.
- `is_intact` tells whether the opened file is what was written; it is always true if none was
  opened. It is false if a part of the file could not be read: its mapping then shows zeros. It is
  false, too, if the contents do not have their checksum, which is compared if the file's length or
  time differ, or if `compare` asks for it: 50 ms for 400 MB. Rows and scores that were returned
  before a false may be wrong.
- Every method releases the GIL and may be called from any thread: readers run in parallel, and a
  writer runs alone. A reader sees all of a `put` or nothing of it.
"""

from memstore._kernel import (
    chain,
    claims,
    codes,
    columns,
    features,
    ids,
    json,
    language,
    locks,
    mentions,
    model,
    ranking,
    vectors,
    words,
)

__all__ = [
    "PanicException",
    "chain",
    "claims",
    "codes",
    "columns",
    "features",
    "ids",
    "json",
    "language",
    "locks",
    "mentions",
    "model",
    "ranking",
    "vectors",
    "words",
]

class PanicException(BaseException):
    """A panic in the kernel: a damaged file is mapped, or there is an error in it."""
