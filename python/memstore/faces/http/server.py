"""The HTTP server: what it serves, its tokens, and when it refuses to start."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from memstore.errors import Conflict, MemstoreError, StorageError
from memstore.faces import wording
from memstore.faces.http.device_files import with_device_files
from memstore.faces.http.endpoint import McpEndpoint, Watch
from memstore.faces.http.gate import MAX_BODY_BYTES, PATH, Gate, for_pages
from memstore.faces.http.hooks import with_hooks
from memstore.faces.mcp import prompts
from memstore.faces.serving.address import AcceptedNames, Address, listen, reachable
from memstore.faces.serving.bodies import Patience
from memstore.faces.serving.connection import MAX_HEAD_BYTES, MAX_PAGE_HEAD_BYTES
from memstore.faces.serving.draining import Drain
from memstore.faces.serving.loop import serve, trust
from memstore.faces.serving.opening import end, on_signals
from memstore.faces.serving.readiness import Readiness
from memstore.faces.serving.stores import Stores
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.types import ASGIApp

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.http import provider_tokens
    from memstore.faces.http.identity import Identity
    from memstore.faces.http.metrics import Metrics
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.serving.opening import Opening

    MakeMetrics: TypeAlias = Callable[[Catalogue, Stores, Readiness], Metrics]
    WithPages: TypeAlias = Callable[
        [ASGIApp, Stores, AcceptedNames, Sequence[Address], Patience, Mapping[str, str]], ASGIApp
    ]
else:  # only servers with an identity provider need it
    provider_tokens = lazy_import("memstore.faces.http.provider_tokens")

logger = logging.getLogger(__name__)

FIRST_TOKEN: Final = "first"  # noqa: S105 - a name
"""The name of the token that is created if a file never had one."""


def run(
    catalogue: Catalogue,
    opening: Opening,
    address: Address,
    names: AcceptedNames,
    *,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
    no_token: bool = False,
    with_pages: WithPages | None = None,
    identity: Identity | None = None,
    with_metrics: tuple[Address, MakeMetrics] | None = None,
    drain_seconds: float = 0.0,
    patience: Patience = Patience(),  # noqa: B008 (frozen)
) -> NoReturn:
    """Serve until a signal comes, close the store, and end the process.

    Every request needs a token. If the file never had one, one is created and shown on standard
    error.

    Args:
        no_token: serve without a token, on this machine only and only while the file has none.
        with_pages: adds the pages for people, which need a token in any case; ``None`` for none.
        identity: the identity provider whose tokens are accepted, too; ``None`` for none.
        with_metrics: the address that shows metrics, without a token; ``None`` for none.
        drain_seconds: how long requests are accepted after the signal; until then a proxy may
            notice that the server is not ready.
    """
    status = 1
    # Set before the file is opened, which may take long: as process 1 of a container, the server
    # would otherwise ignore signals.
    on_signals(lambda _number, _frame: end(opening, 0))
    try:
        sockets = listen(address)
        public = reachable(sockets) or not names.local
        if public and no_token:
            raise ValueError(
                f"other machines may reach {address}, and --no-token serves this one only: omit it"
            )
        bound = [Address(*opened.getsockname()[:2]) for opened in sockets]
        # In a thread, because signals are not handled while SQLite works in this one.
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(
                _prepare_tokens, opening, bound[0], public, no_token, identity is not None
            ).result()
        serving = [f"memstore-mcp: serving http://{one}{PATH}" for one in bound]
        measured = []
        if with_metrics is not None:
            measured = listen(with_metrics[0])
            shown = [Address(*opened.getsockname()[:2]) for opened in measured]
            serving = [
                *(f"memstore-mcp: metrics at http://{one}/metrics" for one in shown),
                *serving,
            ]
        if with_pages is not None:
            serving += [f"memstore-mcp: pages at http://{one}/" for one in bound]
        for line in (*told, *serving):
            print(line, file=sys.stderr, flush=True)
        stores = Stores(opening)
        readiness = Readiness(stores)
        metrics = None if with_metrics is None else with_metrics[1](catalogue, stores, readiness)
        endpoint = McpEndpoint(
            catalogue,
            stores,
            generator,
            largest_body=MAX_BODY_BYTES,
            watch=Watch() if metrics is None else metrics.watch,
        )
        gate = Gate(
            with_device_files(
                with_hooks(
                    endpoint,
                    stores,
                    catalogue.owners,
                    is_bound=catalogue.confined,
                    records=catalogue.records,
                ),
                stores,
            ),
            stores,
            names=names,
            writing=catalogue.writing() | prompts.WRITING,
            needs_token=not no_token,
            patience=patience,
            readiness=readiness,
            on_admitted=trust,
            provider=None if identity is None else provider_tokens.ProviderTokens(identity),
        )
        app = for_pages(gate, names)
        if with_pages is not None:
            app = with_pages(app, stores, names, bound, patience, catalogue.owners)
        if metrics is not None:
            ports = {opened.getsockname()[1] for opened in measured}
            app = metrics.at(ports, metrics.counting(app))
        serve(
            app,
            [*sockets, *measured],
            opening,
            running=endpoint.running(),
            head_seconds=patience.head_seconds,
            max_head_bytes=MAX_HEAD_BYTES if with_pages is None else MAX_PAGE_HEAD_BYTES,
            drain=Drain(drain_seconds, readiness.drain),
        )
        status = 0
    except (MemstoreError, OSError, ValueError) as error:
        print(f"memstore-mcp: {wording.in_server(error)}", file=sys.stderr)
    except Exception:
        logger.exception("the server failed")
    finally:
        end(opening, status)


def _prepare_tokens(
    opening: Opening, bound: Address, public: bool, no_token: bool, has_provider: bool
) -> tuple[str, ...]:
    """Make sure that a token exists if one is needed; return the lines that show a new one."""
    try:
        store = opening.store()
        has_tokens = store.file.tokens.required()
    except (MemstoreError, ValueError, TypeError) as error:
        if public:
            raise
        # Serve anyway: each call reports the error, and the file may be repaired in the meantime.
        logger.warning("the store did not open: %s", wording.in_server(error))
        return ()
    create = "create one with `memstore token create NAME`"
    if has_tokens:
        if no_token:
            raise ValueError(f"{store.path} holds tokens, so requests need one: omit --no-token")
        if not (has_provider or store.file.tokens.usable()):
            raise ValueError(f"{store.path} has no valid token: {create}")
        return ()
    if no_token or has_provider:
        return ()
    try:
        token, secret = store.file.tokens.create(FIRST_TOKEN, namespace=store.namespace)
    except Conflict:  # another server was first, and has shown it
        return ()
    except StorageError as error:
        raise ValueError(
            f"{store.path} holds no token, and none can be created ({error}): {create}, or serve "
            "this machine only with --no-token"
        ) from error
    return (
        f"memstore-mcp: token {token.id} ({token.name}) reads and writes in {token.namespace}; its "
        "secret is shown this once, and stored nowhere:",
        secret,
        f"memstore-mcp: for Claude Code: claude mcp add --transport http memstore "
        f'http://{_local(bound)}{PATH} --header "Authorization: Bearer {secret}"',
    )


def _local(bound: Address) -> Address:
    """Return an address for connecting from this machine, even if the server listens on all."""
    return bound._replace(host={"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound.host, bound.host))  # noqa: S104
