"""Words errors for each face: one table from argument to flag, one from remedy to sentence.

What a user typed is part of the text and never rewritten: only the names and sentences below are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.errors import Explained, Reason, Remedy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWN_FLAGS: Final = (
    "actor before episode fact limit owner since source until "
    "context durability embedder expired_after expired_before expires_at generator generator_model "
    "generator_url head min_relevance model namespace ranking secrets seq speaker thread "
    "valid_after valid_at valid_before valid_on vector_weight word_weight"
)
"""Arguments with a flag of their name."""

COMMAND_LINE_ARGUMENTS: Final[Mapping[str, str]] = {
    "a": "EARLIER",
    "b": "LATER",
    "agent_id": "--agent",
    "half_lives_seconds": "--half-lives",
    "timezone": "--timezone",
    "without_rules": "--without-rules",
    "base_url": "the address of --ollama or MEMSTORE_OPENAI",
    "created_after": "--after",
    "created_before": "--before",
    "deleted_at": "--deleted-at",
    "kinds": "--kind",
    "moment": "--as-of",
    "passphrase": "the passphrase",
    "path": "--db",
    "place": "ADDRESS",
    "token": "--token-file or MEMSTORE_TOKEN",
    "every_seconds": "--every",
    "expired_at": "--expires-at",
    "decide": "--undo",
    "lines": "--line",
    "acts": "--act",
    "run": "--run-uuid",
    "words": "--prove",
    "run_id": "--run",
    "secret": "--secret-file",
    "user_id": "--user",
    **{name: f"--{name.replace('_', '-')}" for name in OWN_FLAGS.split()},
}

COMMAND_LINE_REMEDIES: Final[Mapping[Remedy, str]] = {
    Remedy.RESTORE: "Restore it first: memstore restore.",
    Remedy.RESTORE_BACKUP: "Bring a backup back: memstore recover BACKUP.",
    Remedy.ACCEPT: "Accept the proposal: memstore proposals accept.",
    Remedy.TRUST_SOURCE: "If you trust this source, give it a level: memstore trust.",
    Remedy.IMPORT_UNVERIFIED: "Export again, or take it as it is: memstore import --unverified.",
    Remedy.REJECT: "Reject the proposal: memstore proposals reject.",
    Remedy.SAY_ANY_SUBJECT: "If this is intended, add --any-subject.",
    Remedy.UPDATE_TASK: "Use memstore task update.",
    Remedy.CREATE_TASK: "Use memstore task add.",
    Remedy.NAME_FILE: "Name another file with --db.",
    Remedy.USE_STANDARD_STREAM: "Use a regular file, or - with < or a pipe.",
    Remedy.CREATE_FILE: "memstore add creates it; or name another file with --db.",
    Remedy.CREATE_MEMORY: "memstore add creates it; or name another with --namespace.",
    Remedy.NAME_PROGRAM: "Name that program: memstore import --from PROGRAM.",
    Remedy.OPEN_NAMESPACE: "Name it with --namespace.",
    Remedy.BACK_UP_SERVER: "Back the server up with pg_dump, or use memstore export.",
    Remedy.SET_UP_SERVER: "Create them first: memstore postgres init.",
    Remedy.OPEN_AGAIN: "Run the command again.",
    Remedy.OPEN_REPLACED: "Run the command again; it opens what is there now.",
    Remedy.MOUNT_DISK: "Mount it; or name another file with --db.",
    Remedy.PUT_BACK: (
        "Put the file back, or mount its disk, and run the command again; for a new memory, run "
        "memstore add."
    ),
    Remedy.OPEN_WRITABLE: "Run it without MEMSTORE_READ_ONLY.",
    Remedy.CHOOSE_EMBEDDER: "Choose one with --embedder.",
    Remedy.NAME_EMBEDDER: (
        "Choose another with --embedder, or none for words only; pymemstore from PyPI has the "
        "model."
    ),
    Remedy.REMAKE_VECTORS: (
        "Name another model, or recompute all vectors with memstore reembed --again."
    ),
    Remedy.REEMBED: (
        "Run memstore reembed, which embeds what is missing and then switches to the new model."
    ),
    Remedy.FINISH_STAGED: (
        "Finish it with memstore reembed and that model, or drop it with memstore reembed --drop."
    ),
    Remedy.SWITCH_FIRST: "Switch to another generation first with memstore reembed.",
    Remedy.SUPERSEDE: "Supersede it with memstore supersede, or use a new --key.",
    Remedy.USE_STORED_MODEL: (
        "Name the model the file holds or use --embedder none, or switch the file to another "
        "model with memstore reembed."
    ),
    Remedy.CHECK_SERVICE: (
        "Check that the service is running (Ollama: `ollama serve`), that --ollama or "
        "MEMSTORE_OPENAI is its address, and the network and proxy settings."
    ),
    Remedy.CHECK_KEY: "Check OPENAI_API_KEY, and that it may use this model.",
    Remedy.CHECK_MODEL: (
        "Check that --ollama or MEMSTORE_OPENAI points to an embedding service that has this model."
    ),
    Remedy.CHECK_GENERATOR: (
        "Check that the language model's service is running (Ollama: `ollama serve`), that "
        "--generator-url is its address, and the network and proxy settings."
    ),
    Remedy.CHECK_GENERATOR_KEY: (
        "Check OPENAI_API_KEY or ANTHROPIC_API_KEY, and that it may use this model."
    ),
    Remedy.CHECK_GENERATOR_MODEL: (
        "Check that --generator-url points to a chat service that has this model."
    ),
    Remedy.SEND_LESS: "Send a shorter text.",
    Remedy.ALLOW_TIME: "It may still be loading its model: try again.",
    Remedy.BUILD_GRAPH: "Build the graph: memstore graph build.",
    Remedy.LIST_ENTITIES: "List its entities: memstore graph entities.",
    Remedy.LIST_DECISIONS: "List the decisions: memstore graph decisions.",
    Remedy.FORGET_DECISION: "Take one of these decisions back first: memstore graph forget.",
    Remedy.CHOOSE_GENERATOR: "Choose one with --generator.",
    Remedy.NAME_OWNERS: "Name the owners it was stored for with --user, --agent and --run.",
    Remedy.CREATE_TOKEN: "Create a token: memstore token create.",
    Remedy.LIST_TOKENS: "List the tokens: memstore token list.",
    Remedy.LEAVE_SECRET_OUT: "Leave it out, or use --secrets redact or --secrets keep.",
    Remedy.SKIP_DAMAGED: "Repair the file, or leave out what is damaged with --skip-damaged.",
    Remedy.KEEP_NAMESPACES: "Import it with --keep-namespaces, or export one namespace at a time.",
    Remedy.OMIT_NAMESPACE: "Leave --namespace out.",
    Remedy.PLAN_AGAIN: "Run the command again, and read what it would do now.",
    Remedy.REBUILD: "Run memstore doctor --rebuild.",
    Remedy.OWN_PLACE: (
        "Give the devices a folder or a repository of their own; if this one is meant: memstore "
        "sync ADDRESS --project-repository."
    ),
    Remedy.NAME_PLACE: (
        "Name a folder, the address of a git repository, or https:// and the address of a server: "
        "memstore sync ADDRESS."
    ),
    Remedy.SAY_PASSPHRASE: (
        "Run it where it can ask for the passphrase: memstore sync, or memstore sync "
        "--passphrase-file FILE."
    ),
    Remedy.SEAL_PLACE: (
        "Say --no-trust; or memstore sync --leave, and then name the place with --passphrase-file."
    ),
    Remedy.RETRY_QUARANTINED: (
        "Words find them. To ask the embedder again, run memstore embed-pending "
        "--retry-quarantined --everywhere."
    ),
}

SERVER_ARGUMENTS: Final[Mapping[str, str]] = {
    "created_after": "after",
    "created_before": "before",
    "every_seconds": "--backup-every",
    "fact_id": "id",
    "moment": "as_of",
    **{
        name: COMMAND_LINE_ARGUMENTS[name]
        for name in (
            "base_url durability embedder generator generator_model generator_url "
            "half_lives_seconds model path without_rules"
        ).split()
    },
}

SERVER_REMEDIES: Final[Mapping[Remedy, str]] = {
    **COMMAND_LINE_REMEDIES,
    Remedy.NAME_OWNERS: Remedy.NAME_OWNERS.value,
    Remedy.OMIT_NAMESPACE: Remedy.OMIT_NAMESPACE.value,
    Remedy.SAY_ANY_SUBJECT: "If this is intended, pass any_subject: true.",
    Remedy.NAME_FILE: "Start the server with another --db.",
    Remedy.SEAL_PLACE: (
        "Say memstore sync --no-trust; or memstore sync --leave, and then memstore sync PLACE "
        "--passphrase-file FILE."
    ),
    Remedy.OPEN_NAMESPACE: "Start the server with that --namespace.",
    Remedy.OPEN_AGAIN: "Restart the server.",
    Remedy.RESTORE_BACKUP: (
        "Bring a backup back with memstore recover BACKUP; the next call uses it."
    ),
    Remedy.OPEN_REPLACED: "Call the tool again; it opens what is there now.",
    Remedy.PUT_BACK: (
        "Put the file back, or mount its disk: the next call uses it. For a new memory, restart "
        "the server."
    ),
    Remedy.OPEN_WRITABLE: "Start the server without --read-only or MEMSTORE_READ_ONLY.",
    Remedy.CHOOSE_EMBEDDER: "Start the server with --embedder.",
    Remedy.USE_STORED_MODEL: (
        "Start the server with the model the file holds or with --embedder none, or switch the "
        "file to another model with memstore reembed."
    ),
    Remedy.LEAVE_SECRET_OUT: "Store it without the secret.",
    Remedy.CHOOSE_GENERATOR: "Start the server with --generator.",
    Remedy.SKIP_DAMAGED: (
        "Repair the file, or leave out what is damaged with memstore import --skip-damaged."
    ),
    Remedy.KEEP_NAMESPACES: (
        "Import it with memstore import --keep-namespaces, or export one namespace at a time."
    ),
}


PAGE_ARGUMENTS: Final[Mapping[str, str]] = {
    "content": "the text",
    "created_after": "stored from",
    "created_before": "stored until",
    "fact_id": "the number",
    "moment": "as of",
    "patch": "the metadata",
    "user_id": "user",
    "agent_id": "agent",
    "run_id": "run",
}
"""What pages call the arguments of the library: the labels of their fields."""

PAGE_REMEDIES: Final[Mapping[Remedy, str]] = {
    **COMMAND_LINE_REMEDIES,
    Remedy.RETRY: "Look at it as it is now, and decide again.",
    Remedy.PLAN_AGAIN: "Open it again to see what it would do now.",
    Remedy.RESTORE: "Restore it first.",
    Remedy.ACCEPT: "Accept the proposal in the inbox.",
    Remedy.REJECT: "Reject the proposal in the inbox.",
    Remedy.UPDATE_TASK: "Change it on the page of the tasks.",
    Remedy.FIND_ID: "Search for it.",
    Remedy.FIND_EPISODE: "Look for it in the log.",
    Remedy.LEAVE_SECRET_OUT: "Leave it out.",
    Remedy.OPEN_WRITABLE: "Start the server without --read-only or MEMSTORE_READ_ONLY.",
    Remedy.OPEN_NAMESPACE: "Start the server with that --namespace.",
    Remedy.OPEN_AGAIN: "Start the server again.",
    Remedy.OPEN_REPLACED: "Open the page again.",
    Remedy.PUT_BACK: "Put the file back, or mount its disk, and open the page again.",
}

TOOL_REMEDIES: Final[Mapping[Remedy, Sequence[str]]] = {
    Remedy.FIND_ID: (
        "Use {memory_search} or {memory_list} to find the id.",
        "Use {memory_search} to find the id.",
        "Use {memory_list} to find the id.",
        "Use {memory_task_list} to find the id.",
    ),
    Remedy.FIND_EPISODE: (
        "Use {search} or {get_episodes} to find the id.",
        "Use {search} to find the id.",
        "Use {get_episodes} to find the id.",
    ),
    Remedy.LIST_ENTITIES: ("Use {memory_graph_entities} to find the name.",),
    Remedy.RESTORE: ("Bring it back with {memory_delete} and undo: true.",),
    Remedy.ADD_AGAIN: ("Store the text again with {memory_store}.",),
    Remedy.REJECT: ("Reject the proposal with {memory_proposals}.",),
    Remedy.UPDATE_TASK: ("Use {memory_task_update}.",),
    Remedy.CREATE_TASK: ("Use {memory_task_create}.",),
    Remedy.SUPERSEDE: (
        "Supersede it with {memory_supersede}, or use a new idempotency_key.",
        "Use a new idempotency_key.",
    ),
}
"""Remedies that name tools: the first one whose tools are all offered is told, or else none."""


class _AnyTool(dict[str, str]):
    def __missing__(self, tool: str) -> str:
        return tool


ANY_TOOL: Final = _AnyTool()
"""Shows every tool under its own name."""


def on_command_line(error: BaseException | str) -> str:
    """Return an error, or the reason of one that was not raised, in words of the command line."""
    return _worded(error, COMMAND_LINE_ARGUMENTS, COMMAND_LINE_REMEDIES)


def in_pages(error: BaseException | str) -> str:
    """Return an error, or the reason of one that was not raised, in words of the web pages."""
    return _worded(error, PAGE_ARGUMENTS, PAGE_REMEDIES)


def in_server(error: BaseException | str, shown: Mapping[str, str | None] = ANY_TOOL) -> str:
    """Return an error, or the reason of one that was not raised, in words of the MCP server.

    Args:
        error: the error or the reason.
        shown: the name that each tool is shown by; ``None`` for those that are not offered.
    """
    remedy = error.remedy if isinstance(error, Explained | Reason) else None
    if remedy is None or remedy not in TOOL_REMEDIES:
        return _worded(error, SERVER_ARGUMENTS, SERVER_REMEDIES)
    sentences = (_naming(sentence, shown) for sentence in TOOL_REMEDIES[remedy])
    return _worded(error, SERVER_ARGUMENTS, {remedy: next(filter(None, sentences), "")})


def _naming(sentence: str, shown: Mapping[str, str | None]) -> str:
    """Return a sentence with the names of its tools; nothing if one is not offered."""
    tools = re.findall(r"\{(\w+)\}", sentence)
    if any(shown[tool] is None for tool in tools):
        return ""
    return sentence.format_map(shown)


def _worded(
    error: BaseException | str, arguments: Mapping[str, str], remedies: Mapping[Remedy, str]
) -> str:
    told = error.worded(arguments) if isinstance(error, Explained) else str(error)
    remedy = error.remedy if isinstance(error, Explained | Reason) else None
    way = "" if remedy is None else remedies.get(remedy, remedy.value)
    if not way:
        return told or type(error).__name__
    return f"{told.rstrip('.')}. {way}"
