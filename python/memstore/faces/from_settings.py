"""The store, the embedder and the generator that settings choose."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memstore import providers, settings
from memstore.errors import EmbedderMismatch, InvalidArgument, Reason
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.domain.protocols import Embedder, JSONGenerator
    from memstore.faces import mounts, options
    from memstore.file import paths
    from memstore.providers import http_generator
    from memstore.settings import Settings
    from memstore.store import opening
    from memstore.store.store import Store
else:
    mounts = lazy_import("memstore.faces.mounts")
    options = lazy_import("memstore.faces.options")
    paths = lazy_import("memstore.file.paths")
    http_generator = lazy_import("memstore.providers.http_generator")
    opening = lazy_import("memstore.store.opening")


def make_generator(chosen: Settings) -> JSONGenerator | None:
    """Return the generator named in the settings, if any."""
    name = chosen.generator or "none"
    if name == "none" and (chosen.generator_model or chosen.generator_url):
        raise ValueError(
            "--generator-model and --generator-url belong to a generator: name it with "
            "--generator or MEMSTORE_GENERATOR"
        )
    try:
        return providers.generator(
            name,
            model=chosen.generator_model,
            base_url=chosen.generator_url,
        )
    except InvalidArgument as error:
        # An embedder's arguments have the same names, and other flags.
        error.argument = {"model": "generator_model", "base_url": "generator_url"}.get(
            error.argument or "", error.argument
        )
        raise


@contextmanager
def open_generator(chosen: Settings) -> Iterator[JSONGenerator | None]:
    """Make a generator as :func:`make_generator` does, and close its connections afterwards."""
    made = make_generator(chosen)
    try:
        yield made
    finally:
        if made is not None and isinstance(made, http_generator.HttpGenerator):
            made.close()


def make_embedder(chosen: Settings) -> Embedder | None:
    """Return the embedder named in the settings; ``None`` for words only."""
    name = chosen.embedder_name
    return providers.embedder(
        name,
        model=chosen.model,
        base_url={"ollama": chosen.ollama, "openai": chosen.openai}.get(name),
        **chosen.prompts,
    )


def open_store(
    chosen: Settings,
    *,
    actor: str = "user",
    source: str,
    create: bool = True,
    by_words: bool = False,
) -> Store:
    """Open the store that the settings describe; raises what :func:`memstore.open` does.

    ``actor`` (``user`` or ``agent``) and ``source`` are recorded in the journal. Without
    ``create``, a file or a memory that is named and does not exist is an error; the user's own
    file is created. With ``by_words``, a file of another model is opened without an embedder.
    """
    name = chosen.embedder_name
    arguments: dict[str, Any] = {
        "path": chosen.db,
        "namespace": chosen.namespace or settings.DEFAULT_NAMESPACE,
        "actor": actor,
        "source": source,
        "read_only": chosen.read_only,
        "create": create or chosen.db in (None, ":memory:"),
        "durability": chosen.durability,
        "secrets": chosen.secrets or "redact",
        "half_lives_seconds": (
            None if chosen.half_lives is None else options.half_lives(chosen.half_lives)
        ),
        "without_rules": options.names(chosen.without_rules) if chosen.without_rules else (),
    }
    base_url = {"ollama": chosen.ollama, "openai": chosen.openai}.get(name)
    file = _file(chosen)
    if file is not None and not os.path.exists(file):
        mounts.check(file)
    store = _opened(chosen, arguments, base_url, by_words=by_words)
    if file is not None and (paths.has_own_disk(file) or os.path.exists(settings.mounts_file())):
        mounts.note(file)
    return store


def rehearsing(chosen: Settings) -> Settings:
    """Return settings for a command that is to write nothing: a missing file is not created."""
    file = _file(chosen)
    return chosen if file is None or os.path.exists(file) else chosen._replace(db=":memory:")


def _file(chosen: Settings) -> str | None:
    """Return the file that the settings name; ``None`` for a server or one in memory."""
    if chosen.db == ":memory:" or paths.is_server(chosen.db):
        return None
    return os.path.expanduser(settings.default_path() if chosen.db is None else chosen.db)


def _opened(
    chosen: Settings, arguments: dict[str, Any], base_url: str | None, *, by_words: bool
) -> Store:
    name = chosen.embedder_name
    try:
        if name == "local" and not chosen.embedder:
            return opening.open(**arguments)
        named = {"model": chosen.model, "base_url": base_url, **chosen.prompts}
        return opening.open(**{**arguments, **named}, embedder=name)
    except EmbedderMismatch as error:
        is_chosen = chosen.db or chosen.embedder or chosen.model or base_url
        if is_chosen and not by_words:
            raise
        # The default file, with another program's model: the user did not choose the embedder.
        return opening.open_by_words(Reason.of(error), **arguments)
