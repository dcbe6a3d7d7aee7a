"""How each face words an error: one table from argument to flag, one from remedy to sentence.

What a user typed is part of the text and never rewritten: only the names and sentences below are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.errors import Explained, Remedy

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND_LINE_ARGUMENTS: Final[Mapping[str, str]] = {
    "agent_id": "--agent",
    "created_after": "--after",
    "created_before": "--before",
    "expired_at": "--expires-at",
    "expires_at": "--expires-at",
    "run_id": "--run",
    "secret": "--secret-file",
    "user_id": "--user",
    "valid_after": "--valid-after",
    "valid_at": "--valid-at",
    "valid_before": "--valid-before",
    "vector_weight": "--vector-weight",
    "word_weight": "--word-weight",
}

COMMAND_LINE_REMEDIES: Final[Mapping[Remedy, str]] = {
    Remedy.RESTORE: "Restore it first: memstore restore.",
    Remedy.UPDATE_TASK: "Use memstore task update.",
    Remedy.NAME_FILE: "Name another file with --db.",
    Remedy.OPEN_AGAIN: "Run the command again.",
    Remedy.OPEN_WRITABLE: "Run it without MEMSTORE_READ_ONLY.",
    Remedy.CHOOSE_EMBEDDER: "Choose one with --embedder.",
    Remedy.USE_STORED_MODEL: (
        "Name the model the file holds or use --embedder none, or switch the file to another "
        "model with memstore reembed."
    ),
    Remedy.CHECK_SERVICE: (
        "Check that the service is running and that --ollama or MEMSTORE_OPENAI is its address."
    ),
    Remedy.CHECK_KEY: "Check OPENAI_API_KEY.",
    Remedy.ALLOW_TIME: "It may still be loading its model: try again.",
    Remedy.BUILD_GRAPH: "Build the graph: memstore graph build.",
    Remedy.LIST_ENTITIES: "List its entities: memstore graph entities.",
    Remedy.LIST_DECISIONS: "List the decisions: memstore graph decisions.",
    Remedy.FORGET_DECISION: "Take one of these decisions back first: memstore graph forget.",
    Remedy.CHOOSE_GENERATOR: "Choose one with --generator.",
    Remedy.NAME_OWNERS: "Name the owners it was stored for with --user, --agent and --run.",
    Remedy.SKIP_DAMAGED: "Repair the file, or leave out what is damaged with --skip-damaged.",
    Remedy.KEEP_NAMESPACES: "Import it with --keep-namespaces, or export one namespace at a time.",
    Remedy.OMIT_NAMESPACE: "Leave --namespace out.",
    Remedy.REBUILD: "Run memstore doctor --rebuild.",
}

SERVER_ARGUMENTS: Final[Mapping[str, str]] = {
    "created_after": "after",
    "created_before": "before",
    "fact_id": "id",
}

SERVER_REMEDIES: Final[Mapping[Remedy, str]] = {
    Remedy.FIND_ID: "Use memory_search or memory_list to find the id.",
    Remedy.RESTORE: "Store it again with memory_store.",
    Remedy.ADD_AGAIN: "Store the text again with memory_store.",
    Remedy.UPDATE_TASK: "Use memory_task_update.",
    Remedy.NAME_FILE: "Start the server with another --db.",
    Remedy.OPEN_AGAIN: "Restart the server.",
    Remedy.OPEN_WRITABLE: "Start the server without --read-only or MEMSTORE_READ_ONLY.",
    Remedy.CHOOSE_EMBEDDER: "Start the server with --embedder.",
    Remedy.USE_STORED_MODEL: (
        "Start the server with the model the file holds or with --embedder none, or switch the "
        "file to another model with memstore reembed."
    ),
    Remedy.CHECK_SERVICE: COMMAND_LINE_REMEDIES[Remedy.CHECK_SERVICE],
    Remedy.CHECK_KEY: COMMAND_LINE_REMEDIES[Remedy.CHECK_KEY],
    Remedy.ALLOW_TIME: COMMAND_LINE_REMEDIES[Remedy.ALLOW_TIME],
    Remedy.BUILD_GRAPH: COMMAND_LINE_REMEDIES[Remedy.BUILD_GRAPH],
    Remedy.LIST_ENTITIES: COMMAND_LINE_REMEDIES[Remedy.LIST_ENTITIES],
    Remedy.LIST_DECISIONS: COMMAND_LINE_REMEDIES[Remedy.LIST_DECISIONS],
    Remedy.FORGET_DECISION: COMMAND_LINE_REMEDIES[Remedy.FORGET_DECISION],
    Remedy.CHOOSE_GENERATOR: "Start the server with --generator.",
    Remedy.KEEP_NAMESPACES: COMMAND_LINE_REMEDIES[Remedy.KEEP_NAMESPACES],
    Remedy.REBUILD: COMMAND_LINE_REMEDIES[Remedy.REBUILD],
}


def on_command_line(error: Explained) -> str:
    """Return an error in words of the command line."""
    return _worded(error, COMMAND_LINE_ARGUMENTS, COMMAND_LINE_REMEDIES)


def in_server(error: Explained) -> str:
    """Return an error in words of the MCP server."""
    return _worded(error, SERVER_ARGUMENTS, SERVER_REMEDIES)


def _worded(error: Explained, arguments: Mapping[str, str], remedies: Mapping[Remedy, str]) -> str:
    told = error.told(arguments)
    if error.remedy is None:
        return told
    return f"{told.rstrip('.')}. {remedies.get(error.remedy, error.remedy.value)}"
