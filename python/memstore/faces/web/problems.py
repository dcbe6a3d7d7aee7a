"""Problems: what a page says when something went wrong, and the way on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore import errors
from memstore.errors import Explained
from memstore.faces import wording
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.records import JournalLine
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit


class Way(NamedTuple):
    """A way on: a link to a page of ours."""

    text: str
    path: str


class Problem(NamedTuple):
    status: int
    title: str
    text: str
    ways: tuple[Way, ...] = ()


HOME = Way("Home", "")

NOTHING_HERE = Problem(
    404,
    "Nothing here",
    "There is no such page or record here. It may have been erased, or belong to somebody else.",
    (HOME, Way("Subjects", "subjects")),
)
READ_ONLY = Problem(
    403,
    "Read-only",
    "These pages may only be read: nothing was changed.",
    (HOME,),
)
STALE_FORM = Problem(
    403,
    "This form is out of date",
    "It belongs to an earlier sign-in, or to another page. Nothing was changed: open the page "
    "again and repeat it.",
    (HOME,),
)
FAILED = Problem(
    500,
    "That failed",
    "Something unexpected went wrong; the terminal of the server says what. What was acknowledged "
    "before is stored.",
    (HOME,),
)


class ChangedSince(Exception):
    """A fact changed after the page was made that a form was sent from; nothing was done.

    Args:
        fact_id: the fact.
        lines: what changed, as the journal has it.
    """

    def __init__(self, fact_id: int, lines: Sequence[JournalLine]) -> None:
        super().__init__("the fact was changed in the meantime")
        self.fact_id = fact_id
        self.lines = lines


def of(error: Exception) -> Problem:
    """Return what to say about an error of the library."""
    text = wording.in_pages(error)
    match error:
        case errors.NotFound():
            return NOTHING_HERE
        case errors.AccessDenied():
            return Problem(403, "Not allowed", text, (HOME,))
        case errors.Conflict():
            return Problem(409, "Nothing was changed", text, (HOME,))
        case errors.StoreBusy():
            return Problem(
                503,
                "The memory is busy",
                "Another program is using it and did not finish in time. Nothing was changed: try "
                "again in a moment.",
                (HOME,),
            )
        case errors.FileMissing():
            return Problem(503, "The file is missing", text, (HOME,))
        case errors.FileReplaced():
            return Problem(
                503,
                "The file was replaced",
                "Another file is in its place now. Open the page again to see what is in that one.",
                (HOME,),
            )
        case errors.SchemaError():
            return Problem(503, "This version cannot read the file", text, (Way("State", "state"),))
        case errors.EmbedderError() | errors.GeneratorError():
            return Problem(502, "A model did not answer", text, (HOME,))
        case errors.StorageError():
            return Problem(
                503, "The memory could not be read or written", text, (Way("State", "state"),)
            )
        case Explained() | ValueError() | TypeError():
            return Problem(400, "That cannot be read", text, (HOME,))
    return FAILED


def reply(visit: Visit, problem: Problem) -> Reply:
    """Return a page that says what went wrong; in a page that is open, only its sentence.

    It does not name its own address, so that pages of what is missing, foreign or erased are alike.
    """
    visit.path, visit.query = "", {}
    if not visit.swaps:
        return visit.page("problem.html", problem.status, problem=problem)
    part = visit.page("parts/problem.html", problem.status, problem=problem)
    where = (("HX-Retarget", "#problems"), ("HX-Reswap", "innerHTML"))
    return part._replace(headers=(*part.headers, *where))


def changed_since(visit: Visit, error: ChangedSince) -> Reply:
    """Return a page that says what changed meanwhile, so that the form did nothing."""
    if not visit.swaps:
        return visit.page("changed_since.html", 409, error=error)
    return visit.page("parts/changed_since.html", 409, error=error)
