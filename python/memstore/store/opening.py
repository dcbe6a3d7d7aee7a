"""Opening a file: the choice of the embedder, schema upgrades, compatibility checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore import providers, settings
from memstore.database import meta as meta_table
from memstore.database.journal import Author
from memstore.database.migrations import (
    VERSION,
    is_usable_as_it_is,
    migrate,
    usable_version,
)
from memstore.database.sqlite.engine import WAIT_SECONDS, SqliteEngine
from memstore.database.tables import generations as generation_table
from memstore.domain import clock, zones
from memstore.domain.arguments import (
    AUTO,
    MAX_NAME,
    checked_choice,
    checked_name,
    checked_text,
)
from memstore.domain.protocols import Embedder
from memstore.domain.results import WordsOnly
from memstore.domain.standing import Standing
from memstore.errors import (
    InvalidArgument,
    InvalidArgumentType,
    Remedy,
    SchemaError,
    StorageError,
)
from memstore.file.file import File
from memstore.file.paths import file_at, is_server
from memstore.lazy import lazy_import
from memstore.store.store import Store
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import tzinfo

    from memstore import projects
    from memstore.database.engine import Durability, Engine, Transaction
    from memstore.database.postgres import engine as postgres
    from memstore.database.postgres.engine import PostgresEngine
    from memstore.embedding import compatibility
    from memstore.embedding.current import MakeEmbedder
    from memstore.errors import Reason
    from memstore.providers import local, prompts
    from memstore.search import requests
    from memstore.text.judging import judge
    from memstore.text.secrets import SecretsPolicy
else:
    compatibility = lazy_import("memstore.embedding.compatibility")
    postgres = lazy_import("memstore.database.postgres.engine")
    local = lazy_import("memstore.providers.local")
    projects = lazy_import("memstore.projects")
    prompts = lazy_import("memstore.providers.prompts")
    requests = lazy_import("memstore.search.requests")
    judge = lazy_import("memstore.text.judging.judge")


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    namespace: str = settings.DEFAULT_NAMESPACE,
    embedder: str | Embedder | None = "auto",
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    query_prompt: str | None = None,
    passage_prompt: str | None = None,
    actor: str = "user",
    source: str = "library",
    read_only: bool = False,
    create: bool = True,
    durability: Durability | None = None,
    synchronous: str | None = None,
    secrets: SecretsPolicy = "keep",
    half_lives_seconds: Mapping[str, float] | None = None,
    without_rules: Iterable[str] = (),
    timezone: tzinfo | str | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> Store:
    """Open a file of memories; it is created or upgraded if necessary.

    Opening loads no model and contacts no server. Any number of threads may use the store, and any
    number of processes the file.

    Args:
        path: the file; ``None`` for the user's own, e.g. ``~/.local/share/memstore/memory.db``;
            ``":memory:"`` for a temporary one that is discarded with the store. A URL
            ``postgresql://user@host/database`` opens a memory on a server, with the extra
            ``postgres``; libpq's settings apply to it (``PGPASSFILE``, service files, TLS).
        namespace: the partition that every read and write is bound to. ``"auto"`` selects that of
            the current folder's project. Such a store also reads ``default``, and stores facts of
            the categories ``preference`` and ``identity`` there.
        embedder: ``"local"`` (works offline, no key), ``"ollama"``, ``"openai"`` (any
            OpenAI-compatible server), ``"fastembed"`` (with the extra ``fastembed``), an
            :class:`Embedder`, the name ``"MODULE:FACTORY"`` of a function that returns one, or
            ``None`` for words only. ``"auto"``, the default, is ``"local"``, or words only if this
            build has no embedding model.
        model: the model of ``"ollama"``, ``"openai"`` or ``"fastembed"``.
        base_url: the address of that server.
        api_key: its key; by default ``OPENAI_API_KEY``.
        query_prompt: what the server's model wants before a question, and
        passage_prompt: before any other text; by default those that the file was begun with, or
            those known of the model (docs/embedding.md).
        actor: the person or program that makes the changes, for the journal.
        source: the interface they are made through, for the journal.
        read_only: refuse every write.
        create: create what does not exist: the file or, on a server, a memory of the namespace.
            Without it, and with ``read_only``, that is an error, and nothing is created.
        durability: what a confirmed write survives: ``"full"``, the default, a power failure;
            ``"normal"``, a crash of the process (a power failure may lose the last writes, but does
            not damage the file). Threads that write at once share a sync of the disk.
        synchronous: SQLite's names for the same: ``"FULL"`` or ``"NORMAL"``.
        secrets: what to do with texts that seem to contain a key or a token: ``"keep"`` stores them
            unchanged, ``"redact"`` replaces the secret with its kind, ``"refuse"`` raises an error.
            Imported texts are not changed.
        half_lives_seconds: how fast facts age, by category, for searches that do not say so
            themselves (see :meth:`Store.search`); ``{}`` for no ageing. By default a ``note``
            has 30 days, and other categories do not age.
        without_rules: rules by which a newer fact replaces an older one that are switched off, by
            name, such as ``"VALUE"`` (``memstore.text.judging.judge.Rule``): in what is learned,
            and in what searches and :meth:`Store.may_replace` show to be newer.
        timezone: the user's, such as ``"Europe/Berlin"`` or ``"+05:30"``, in which days begin and
            end (docs/days.md); ``None`` for ``MEMSTORE_TIMEZONE``, or else the machine's.
        wait_seconds: how long a write waits while another process writes.

    Raises:
        EmbedderMismatch: the file holds the vectors of another model; the error names both, and the
            file is not changed.
        SchemaError: the file is newer than this program, or another program's; it is not changed.
        StorageError: it cannot be opened or created, or does not exist.
        ValueError: an invalid argument, such as a URL for ``path``.
    """
    if path is not None and not is_server(path):
        file_at(path)
    lacks_model = embedder == "auto" and not local.HAS_MODEL
    if embedder == "auto":
        embedder = "none" if lacks_model else "local"
    told = {"query_prompt": query_prompt, "passage_prompt": passage_prompt}
    chosen = _embedder(embedder, model=model, base_url=base_url, api_key=api_key, **told)
    make_embedder = _maker(embedder, base_url, api_key)
    screen = Screen(secrets)
    zone = None if timezone is None else zones.checked(timezone)
    half_lives = None if half_lives_seconds is None else requests.half_lives(half_lives_seconds)
    off = judge.named_rules(without_rules) if without_rules else frozenset()
    author = Author(
        checked_text(actor, "actor", MAX_NAME),
        checked_text(source, "source", MAX_NAME),
        run=clock.new_run(),
    )
    own = projects.project_of().namespace if namespace == AUTO else None
    engine = _engine(
        path,
        (own, settings.DEFAULT_NAMESPACE) if own else (namespace or settings.DEFAULT_NAMESPACE,),
        _durability(durability, synchronous),
        wait_seconds,
        read_only=read_only,
        create=create,
    )
    follow = make_embedder if query_prompt is None is passage_prompt else None
    try:
        chosen = _fitting(engine, chosen, follow, read_only)
    except BaseException:
        engine.close(untouched=True)
        raise
    try:
        upgraded: list[str] = []
        if not read_only:
            migrate(engine, upgraded.append)
        file = File(
            engine,
            author,
            chosen,
            make_embedder=make_embedder,
            read_only=read_only,
            screen=screen,
            half_lives_seconds=half_lives,
            without_rules=off,
            zone=zone,
            open_aside=_aside,
        )
        if lacks_model:
            file.search_words_only(WordsOnly("no_model", local.NO_MODEL))
        file.upgraded = "; ".join(upgraded) or None
        shared = settings.DEFAULT_NAMESPACE
        if own is not None:
            return Store(file, Standing(own, shared=shared), closes_file=True)
        return Store(file, Standing(namespace or shared), closes_file=True)
    except BaseException:
        engine.close()
        raise


def _engine(
    path: str | os.PathLike[str] | None,
    namespaces: Sequence[str],
    durability: Durability | None,
    wait_seconds: float,
    *,
    read_only: bool,
    create: bool,
) -> SqliteEngine | PostgresEngine:
    """Return the engine of a path, for a store of these namespaces."""
    if not is_server(path):
        return SqliteEngine(
            settings.default_path() if path is None else path,
            durability=durability or "full",
            wait_seconds=wait_seconds,
            read_only=read_only,
            create=create,
        )
    if durability is not None:
        raise InvalidArgument(
            "is for files; the server's own setting synchronous_commit applies",
            argument="durability",
        )
    for name in namespaces:
        checked_name(name, "namespace")
    require_driver()
    return postgres.PostgresEngine(
        path, *namespaces, wait_seconds=wait_seconds, read_only=read_only, create=create
    )


def require_driver() -> None:
    """Import what PostgreSQL needs.

    Raises:
        StorageError: it is not installed.
    """
    try:
        _ = postgres.PostgresEngine
    except ImportError as error:
        raise StorageError(
            f"PostgreSQL needs packages that are not installed ({error})",
            remedy=Remedy.INSTALL_POSTGRES,
        ) from None


def _aside() -> File:
    return open(":memory:", embedder=None).file


def open_by_words(reason: Reason, **options: Any) -> Store:
    """Open a file like :func:`open`, but without an embedder; searches report why."""
    store = open(**options, embedder=None)
    store._file.search_words_only(WordsOnly("other_model", reason))
    return store


def _durability(durability: Durability | None, synchronous: str | None) -> Durability | None:
    if synchronous is None:
        return durability
    by_name: dict[str, Durability] = {"FULL": "full", "NORMAL": "normal"}
    checked_choice(synchronous, by_name, "synchronous")
    if durability is not None and durability != by_name[synchronous]:
        raise InvalidArgument(
            f"{synchronous!r} contradicts durability {durability!r}", argument="synchronous"
        )
    return by_name[synchronous]


def _embedder(given: str | Embedder | None, **options: str | None) -> Embedder | None:
    if isinstance(given, str):
        return providers.embedder(given, **options)
    if stray := [name for name, value in options.items() if value is not None]:
        raise InvalidArgument("applies only to an embedder that is named", argument=stray[0])
    if given is None:
        return None
    if isinstance(given, type) or not isinstance(given, Embedder):
        name = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise InvalidArgumentType(
            'must be "local", "ollama", "openai", "fastembed", "MODULE:FACTORY", None, or an '
            f"object with a `model` and an `embed(texts)`, not {name}",
            argument="embedder",
        )
    checked_text(given.model, "the embedder's model", MAX_NAME)
    return given


def _maker(
    given: str | Embedder | None, base_url: str | None, api_key: str | None
) -> MakeEmbedder | None:
    """Return a function that makes embedders of other models, if ``given`` names a provider.

    A store uses it when its file switches to another model. The built-in model needs no service, so
    it is available with every provider.
    """
    if not isinstance(given, str) or given == "none":
        return None

    def make(model: str) -> Embedder | None:
        if local.HAS_MODEL and model == local.MODEL:
            return local.LocalEmbedder()
        if given in ("local", "fastembed") or ":" in given:
            return None
        plain, named = prompts.split(model)
        query, passage = named or prompts.NO_PROMPTS
        options = {"model": plain, "query_prompt": query, "passage_prompt": passage}
        return _embedder(given, base_url=base_url, api_key=api_key, **options)

    return make


def _stored_model(transaction: Transaction, version: int) -> str | None:
    """Return the embedding model named in a file of this schema version, if any."""
    if version == VERSION:
        return generation_table.active(transaction).model
    return meta_table.get(transaction, "embedding_model")


def _fitting(
    engine: Engine, embedder: Embedder | None, make: MakeEmbedder | None, read_only: bool
) -> Embedder | None:
    """Check, before anything is written, that the file can be used with this embedder.

    Args:
        make: makes another one where the file has the same model with other prompts; ``None`` if
            it may not.

    Returns:
        The embedder to use.
    """
    with engine.read() as transaction:
        then = generation_table.ACTIVE, *(engine.parts_to_ask if read_only else ())
        version = usable_version(transaction, engine.path, then=then)
        if read_only and not is_usable_as_it_is(engine, transaction, version):
            early = "an early form of " if version == VERSION else ""
            raise SchemaError(
                f"{engine.path!r} has {early}schema version {version}, and {VERSION} is required",
                remedy=Remedy.OPEN_WRITABLE,
            )
        stored = _stored_model(transaction, version)
    if embedder is None or stored in (None, embedder.model):
        return embedder
    is_same = prompts.split(str(stored))[0] == prompts.split(embedder.model)[0]
    fitting = make(str(stored)) if make is not None and is_same else None
    if fitting is None:
        raise compatibility.mismatch(repr(engine.path), str(stored), embedder.model)
    return fitting
