"""One session over standard input and output."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NoReturn

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from memstore.faces.mcp.opening import end, on_signals
from memstore.faces.mcp.relay import Answers, relay
from memstore.faces.mcp.tool_server import ToolServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.faces.mcp.opening import Opening
    from memstore.faces.mcp.tool import Tool

logger = logging.getLogger(__name__)


async def serve(tools: Mapping[str, Tool], opening: Opening) -> None:
    """Answer one client until its input ends and what was asked is answered."""
    server = ToolServer(tools, lambda _: opening).server
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception]()
        answers = Answers(outgoing)
        group.start_soon(relay, incoming, send, answers)
        await server.run(receive, answers, server.create_initialization_options())
        group.cancel_scope.cancel()


def run(tools: Mapping[str, Tool], opening: Opening) -> NoReturn:
    """Serve until the input ends or a signal comes, close the store, and end the process."""
    on_signals(lambda _number, _frame: end(opening, 0))
    status = 1
    try:
        anyio.run(serve, tools, opening)
        status = 0
    except Exception:
        logger.exception("the session failed")
    finally:
        end(opening, status)
