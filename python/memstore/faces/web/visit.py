"""A visit: one request of a signed-in person, with all that a page needs to answer it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.records import EVERYBODY
from memstore.errors import NotFound
from memstore.faces.web import templating, twin
from memstore.faces.web.reply import HTML, Reply, redirect
from memstore.file import paths
from memstore.lazy import cached_property
from memstore.providers.local import NO_MODEL
from memstore.store.store import elsewhere, file_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from markupsafe import Markup

    from memstore.domain.protocols import JSONGenerator
    from memstore.domain.status import Contents
    from memstore.faces.web.menu import MenuItem
    from memstore.faces.web.sessions import Session
    from memstore.store.store import Store

BACK: Final = re.compile(
    r"([a-z0-9-]{1,40}(/[a-z0-9-]{1,40}){0,5})?(\?[a-z0-9=&-]{0,200})?(#[a-z0-9-]{0,60})?"
)
"""Where a form may lead back to: an address of ours, relative to the path of the pages."""


class Visit:
    """One request of a signed-in person.

    Args:
        store: the memory, as far as the person may reach it.
        session: the sign-in.
        base: the path of the pages, with a slash at both ends.
        entry: that of the menu which the page belongs to.
        path: the rest of the address.
        numbers: those in the path and in the query, by name.
        query: those in the query alone.
        fields: those of the posted form; a name that is repeated has all its values in ``many``.
        is_twin: whether the page is asked for as JSON (:mod:`memstore.faces.web.twin`).
        swaps: whether the browser puts the answer in the place of a part of the page.
        may_write: whether the person may change anything.
        menu: all entries, also those that the menu does not list.
        owners: those that agents use if a call names none.
        leave: ends the session.
        stays: whether the session has not ended yet, nor its token; asked by what works on for it.
        generator: returns the language model that reads episodes again; ``None`` if none is set.
    """

    def __init__(
        self,
        store: Store,
        session: Session,
        *,
        base: str,
        entry: MenuItem,
        path: str,
        numbers: Mapping[str, int],
        query: Mapping[str, int],
        fields: Mapping[str, str],
        many: Mapping[str, list[str]],
        swaps: bool,
        is_twin: bool,
        may_write: bool,
        menu: Sequence[MenuItem],
        owners: Mapping[str, str],
        leave: Callable[[], Reply],
        stays: Callable[[], bool],
        generator: Callable[[], JSONGenerator | None],
    ) -> None:
        self.store = store
        self.session = session
        self.base = base
        self.entry = entry
        self.path = path
        self.numbers = numbers
        self.query = query
        self.fields = fields
        self.many = many
        self.swaps = swaps
        self.is_twin = is_twin
        self.may_write = may_write
        self.menu = menu
        self.owners = owners
        self.leave = leave
        self.stays = stays
        self.generator = generator

    # -- what was asked ----------------------------------------------------------------------------

    def number(self, name: str) -> int | None:
        """Return a number of the address; ``None`` if it is not there."""
        return self.numbers.get(name)

    def field(self, name: str) -> str:
        """Return a field of the form without blanks around it; "" if it is not there."""
        return self.fields.get(name, "").strip()

    def posted_number(self, name: str) -> int | None:
        """Return a number of the form; ``None`` if it is none."""
        text = self.field(name).removeprefix("#")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None

    def kept(self, name: str = "q") -> Mapping[str, str]:
        """Return the fields that were posted earlier and are shown under a number.

        Raises:
            NotFound: they are not kept any more.
        """
        number = self.number(name)
        if number is None:
            return {}
        fields = self.session.kept(number)
        if fields is None:
            raise NotFound("this question is not kept any more: ask it again")
        return fields

    @property
    def here(self) -> str:
        """The address of this page, with its filters and its place in a list."""
        query = "&".join(f"{name}={number}" for name, number in self.query.items())
        return f"{self.path}?{query}" if query else self.path

    @property
    def back(self) -> str:
        """The address that the form leads back to."""
        back = self.field("back")
        return back if BACK.fullmatch(back) else ""

    # -- what a page shows -------------------------------------------------------------------------

    @cached_property
    def seen(self) -> int:
        """The last line of the journal that the page is made from; every form carries it."""
        return self.store.line

    def see_now(self) -> None:
        """Forget what the page was made from, after a change of our own."""
        self.__dict__.pop("seen", None)
        self.__dict__.pop("waiting", None)

    @cached_property
    def ticket(self) -> str:
        """A token for the forms of this page."""
        return self.session.ticket()

    @cached_property
    def zone(self) -> tzinfo | None:
        return templating.zone_named(self.session.zone)

    @property
    def since(self) -> int | None:
        """The line of the journal at the visit before this one, if there was one."""
        return self.session.since.get(self.store.namespace)

    @property
    def embeds(self) -> bool:
        """Whether memories get vectors: here, or by other programs with another model."""
        file = file_of(self.store)
        return file.embedder is not None or file.wordless not in (None, NO_MODEL)

    @property
    def is_on_server(self) -> bool:
        """Whether the memory is a database on a server, and not a file."""
        return paths.is_server(self.store.path)

    @property
    def file_name(self) -> str:
        """The name of the file, without its folder."""
        return re.split(r"[/\\]", self.store.path)[-1]

    @cached_property
    def waiting(self) -> int:
        """How many proposals wait for a decision."""
        return self.store.of(EVERYBODY).proposals.count()

    @cached_property
    def elsewhere(self) -> list[tuple[str, Contents]]:
        """The other namespaces that hold anything, those with the most first."""
        held = elsewhere(self.store)
        return sorted(held.items(), key=lambda one: -one[1].facts - one[1].episodes)

    @cached_property
    def is_empty(self) -> bool:
        """Whether this namespace holds neither facts nor episodes."""
        counts = self.store.of(EVERYBODY).counts()
        held = (counts.active, counts.superseded, counts.deleted, counts.expired, counts.episodes)
        return not any(held)

    def address(self, path: str = "") -> str:
        return self.base + path

    def offers(self, path: str) -> bool:
        """Whether there is an entry with this path, listed or not."""
        return any(entry.path == path for entry in self.menu)

    def when(self, moment: datetime | None, form: str = "%d %b %Y") -> Markup | str:
        """Return a moment in the viewer's time zone, as an element; this year's without the year.

        ``form`` is one of ``strftime``.
        """
        if moment is None:
            return ""
        if moment.year == clock.utc_now().year:
            form = form.replace(" %Y", "")
        return templating.time_element(moment, self.zone, form)

    def moment(self, moment: datetime | None) -> Markup | str:
        """Return a moment with its time of day."""
        return self.when(moment, "%d %b %Y %H:%M")

    # -- replies -----------------------------------------------------------------------------------

    def page(self, template: str, status: int = 200, **values: Any) -> Reply:
        """Return a page, or a part of one, made from a template; its twin, if that is asked for."""
        if self.is_twin:
            frame = {"namespace": self.store.namespace, "line": self.seen, "waiting": self.waiting}
            return twin.reply(status, {**frame, **values})
        return Reply(status, templating.render(template, visit=self, **values), HTML)

    def to(self, path: str, *headers: tuple[str, str]) -> Reply:
        """Send the browser to another page of ours; from a twin, to a twin."""
        if self.is_twin:
            path = twin.address_of(path)
        if self.swaps:  # a redirect of a swap would be put into the page
            return Reply(204, b"", HTML, (("HX-Redirect", self.address(path)), *headers))
        return redirect(self.address(path), *headers)

    def download(self, name: str, text: str) -> Reply:
        """Return a file to be saved; ``name`` holds no stored text.

        Raises:
            NotFound: it is asked for as a twin, which only pages have.
        """
        if self.is_twin:
            raise NotFound("a file has no twin")
        kept = (("Content-Disposition", f'attachment; filename="{name}"'),)
        return Reply(200, text.encode("utf-8", "backslashreplace"), "application/jsonl", kept)
