"""The pages beside the endpoint of the protocol: one server, one port, and nothing in common.

A bearer token opens no page, and a page's cookie no tool: each is looked for on its own side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces.http.gate import is_for_programs
from memstore.faces.serving.loop import trust
from memstore.faces.web.kept_path import kept_path
from memstore.faces.web.server.gate import PagesGate
from memstore.faces.web.server.sign_in import SignIn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.serving.address import AcceptedNames, Address
    from memstore.faces.serving.bodies import Patience
    from memstore.faces.serving.stores import Stores


def with_pages(
    endpoint: ASGIApp,
    stores: Stores,
    names: AcceptedNames,
    bound: Sequence[Address],
    patience: Patience,
    owners: Mapping[str, str],
    *,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
) -> ASGIApp:
    """Return an application that serves the endpoint, and pages everywhere else."""
    pages = PagesGate(
        SignIn(stores, kept_path(), None, owners, generator),
        names=names,
        ports={one.port for one in bound},
        patience=patience,
        on_admitted=trust,
    )

    async def divided(scope: Scope, receive: Receive, send: Send) -> None:
        await (endpoint if is_for_programs(scope["path"]) else pages)(scope, receive, send)

    return divided
