"""Templates: everything that they print is escaped, and hidden characters are spelt out."""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

from memstore import __version__
from memstore.domain import clock, project_names, zones
from memstore.faces.escaping import counted, visible_lines
from memstore.faces.web import files, kept_path, twin
from memstore.faces.web.words import TAGS, changed_words

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from jinja2.bccache import Bucket

FOLDER: Final = Path(__file__).parent / "templates"

COMPILED: Final = "templates"
"""The folder of compiled templates, beside the kept path."""

FIRST: Final = ("enter.html", "home.html")
"""What is shown first, and so is compiled first."""

SHOWN_CHARACTERS: Final = 4000
"""How much of a long text a page shows before "show all"."""

TITLE_CHARACTERS: Final = 300
"""How much of a long text is shown as a title."""


def render(template: str, **values: Any) -> bytes:
    """Return a template with values as UTF-8; those without a value are an error."""
    return _environment.get_template(template).render(**values).encode("utf-8", "backslashreplace")


def prepare() -> None:
    """Compile the templates, in a thread, so that the first page need not wait for that."""
    threading.Thread(target=_compile, name="memstore-templates", daemon=True).start()


def _compile() -> None:
    for name in (*FIRST, *_environment.list_templates(["html"])):
        _environment.get_template(name)


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates, kept for the user: compiling all takes longer than the first page.

    jinja2 compares a checksum of the source, and its own and Python's version. Where the folder
    cannot be written, templates are compiled at each start.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError, ValueError, EOFError, TypeError):  # damaged: compiled again
            bucket.bytecode_from_string(self._path(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            path = self._path(bucket)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            number, name = tempfile.mkstemp(dir=path.parent)  # mode 0600
            with os.fdopen(number, "wb") as file:
                file.write(bucket.bytecode_to_string())
            Path(name).replace(path)

    def _path(self, bucket: Bucket) -> Path:
        return kept_path.folder() / COMPILED / f"{bucket.key}.compiled"


def zone_named(name: str) -> tzinfo | None:
    """Return a time zone; ``None``, which is the user's here, if there is none of that name."""
    return zones.first_known(name)


def time_element(moment: datetime, zone: tzinfo | None, form: str) -> Markup:
    """Return a moment as ``<time>``, in a time zone, with the whole moment in its title."""
    local = moment.astimezone(zone or zones.user())
    whole = local.strftime("%Y-%m-%d %H:%M:%S %Z").rstrip()
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        clock.to_text(moment), whole, local.strftime(form).lstrip("0")
    )


def _shown(value: object) -> object:
    """Spell out what is hidden in a text; markup of ours passes."""
    if value is None:
        return ""
    return visible_lines(value) if type(value) is str else value


def _is_long(text: str) -> bool:
    return len(text) > SHOWN_CHARACTERS


def beginning(text: str) -> str:
    """Return as much of a text as a list shows."""
    return text[:SHOWN_CHARACTERS] + "…" if _is_long(text) else text


def title_of(text: str) -> str:
    """Return as much of a text as a title shows."""
    return text[:TITLE_CHARACTERS] + "…" if len(text) > TITLE_CHARACTERS else text


def _project(metadata: dict[str, Any]) -> str:
    """Return the project that a fact or a turn comes from; empty if none is known."""
    return project_names.short(project_names.of(metadata) or "")


def _new_environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_Compiled(),
    )
    environment.filters |= {
        "counted": counted,
        "beginning": beginning,
        "is_long": _is_long,
        "title_of": title_of,
        "project": _project,
    }
    environment.globals |= {
        "changed_words": changed_words,
        "static": files.address,
        "tags": TAGS,
        "twin_of": twin.address_of,
        "version": __version__,
    }
    return environment


_environment: Final = _new_environment()
