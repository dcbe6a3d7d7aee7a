"""The commands of the command line: the summary and the module of each.

A module is imported when one of its commands is named, so a command starts with what it uses.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore.faces.cli import command
    from memstore.faces.cli.command import Command
else:
    command = lazy_import("memstore.faces.cli.command")


class Entry(NamedTuple):
    """A command whose module is not imported yet."""

    module: str
    """Its name in this package."""
    summary: str


GROUPS: Final = {
    "store and correct": {
        "add": Entry("facts", "Store a fact: one claim about one subject."),
        "supersede": Entry("facts", "Mark a fact as superseded by a newer one already stored."),
        "confirm": Entry("facts", "Record that a fact was confirmed once more."),
        "pin": Entry("facts", "Let every session of the project begin with a fact."),
        "unpin": Entry("facts", "Remove the pin of a fact."),
        "update": Entry("facts", "Change a fact's metadata; its text never changes."),
        "delete": Entry("facts", "Delete a fact; restore brings it back."),
        "restore": Entry("facts", "Bring a fact back; it replaces any newer version."),
        "revert": Entry("undo", "Take back what an episode, a source, a run or an hour did."),
        "erase": Entry("erasing", "Permanently remove facts and episodes from the file."),
    },
    "find": {
        "search": Entry("search", "Find facts by words and by meaning, best first."),
        "recall": Entry("search", "Print what answers a question, within a token budget."),
        "briefing": Entry("search", "Show what a session of the project begins with."),
        "list": Entry("search", "List facts, oldest first."),
        "get": Entry("search", "Show one fact with all its fields."),
        "history": Entry("search", "Show the versions of a fact, oldest first."),
        "log": Entry("log", "Show what was done to the memory, newest first."),
        "diff": Entry("log", "Show what changed between two moments."),
        "searches": Entry("searches", "Show what agents asked a server and were given."),
        "support": Entry("ledger", "Show why a fact is believed: who said it, and where."),
        "explain": Entry("ledger", "Explain a fact: what speaks for it, what changed it, why."),
    },
    "learn from text": {
        "extract": Entry("learn", "Extract facts from a text with a language model."),
        "remember": Entry("learn", "Learn from a conversation: add, update, delete memories."),
        "distil": Entry("distil", "Show conversations no model has read, for an agent."),
        "learn": Entry("distil", "Let a language model read the conversations none has read."),
        "forget": Entry("learn", "Delete one memory, or all of a user, agent or run."),
        "inbox": Entry("inbox", "Decide on the proposals, one key each."),
        "proposals list": Entry("learn", "List the proposals waiting for a decision."),
        "proposals accept": Entry("learn", "Accept a proposal: the new fact supersedes the old."),
        "proposals reject": Entry("learn", "Reject a proposal: the facts stay as they are."),
        "proposals reopen": Entry("learn", "Open a rejected proposal again."),
        "reinstate": Entry("learn", "Undo a supersession: both facts hold."),
        "rebuild": Entry("learn", "Rebuild derived data: indexes, and facts from episodes."),
        "consolidate": Entry("learn", "Propose one fact to replace several that overlap."),
    },
    "entities and relations in the facts": {
        "graph build": Entry("graph", "Build the graph of entities and relations."),
        "graph status": Entry("graph", "Show when the graph was built and what changed since."),
        "graph entities": Entry("graph", "List entities, most mentioned first."),
        "graph neighbours": Entry("graph", "Show an entity's relations and the facts behind them."),
        "graph likely": Entry("graph", "List names that may mean the same entity."),
        "graph merge": Entry("graph", "Record that two names mean the same entity."),
        "graph apart": Entry("graph", "Record that two names mean different entities."),
        "graph forget": Entry("graph", "Undo merge or apart for two names."),
        "graph decisions": Entry("graph", "List the merge and apart decisions."),
        "graph drop": Entry("graph", "Remove the graph; merge and apart decisions stay."),
    },
    "the log of episodes": {
        "episode add": Entry("episodes", "Record what was said or done, verbatim, at any length."),
        "episode search": Entry("episodes", "Find episodes by words and by meaning, best first."),
        "episode list": Entry("episodes", "List episodes, oldest first."),
        "episode get": Entry("episodes", "Show one episode in full, with all its fields."),
        "episode update": Entry("episodes", "Change an episode's tags, expiry or metadata."),
        "episode erase": Entry("episodes", "Permanently remove an episode's text from the file."),
    },
    "tasks": {
        "task add": Entry("tasks", "Add a task."),
        "task update": Entry("tasks", "Change a task's status."),
        "task list": Entry("tasks", "List open tasks, most urgent first."),
    },
    "maintain the file": {
        "trust": Entry("ledger", "Show how much sources count, or set it for one."),
        "distrust": Entry("ledger", "Hide what rests on a source alone, until it is trusted."),
        "status": Entry("file", "Show what the store holds, where it is and its settings."),
        "export": Entry("transfer", "Export everything but the embeddings as JSON Lines."),
        "import": Entry("transfer", "Import an export, or another program's memories."),
        "backup": Entry("file", "Back up the file while in use, once or on a schedule."),
        "copy": Entry("file", "Copy a whole memory to a server, or back to a file."),
        "recover": Entry("file", "Restore a backup; the current file is kept beside it."),
        "embed-pending": Entry(
            "embedding", "Embed what was stored while no embedder was available."
        ),
        "reembed": Entry("embedding", "Move the file to another embedding model."),
        "verify": Entry("file", "Check that nobody rewrote the journal, or a row past it."),
        "doctor": Entry("file", "Check the file: indexes, embeddings, journal and links."),
    },
    "keep memories on a PostgreSQL server": {
        "postgres init": Entry(
            "postgres", "Create the tables in a database, and roles on request."
        ),
        "postgres check": Entry(
            "postgres", "Check what a database needs, and say what is missing."
        ),
        "postgres roles": Entry("postgres", "Print the SQL that makes the roles and their rights."),
        "postgres distribute": Entry("postgres", "Divide the tables over a Citus cluster."),
    },
    "connect a host (Claude Code, Codex, Gemini CLI, Cursor, …)": {
        "setup": Entry("hosts", "Register the server and hooks with the installed hosts."),
        "hook": Entry("hosts", "Handle a host's event; setup registers this."),
        "spool": Entry("hosts", "Show what waits to be sent to a server, or send it."),
        "where": Entry("hosts", "Show or set the namespace of a project."),
    },
    "see it in the browser": {
        "web": Entry("web", "See what the agent knows, and why, and put it right."),
    },
    "serve over HTTP (memstore-mcp --http)": {
        "token create": Entry("tokens", "Create an access token for the HTTP server."),
        "token list": Entry("tokens", "List the tokens of every namespace."),
        "token revoke": Entry("tokens", "Revoke a token immediately."),
    },
    "try it": {
        "completion": Entry("completion", "Print the completion script for bash, zsh or fish."),
        "demo": Entry("demo", "See memstore at work in a temporary file."),
    },
}

COMMANDS: Final = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def load(name: str) -> Command:
    """Import a command's module and return the command."""
    module = f"{__package__}.{COMMANDS[name].module}"
    __import__(module)
    defined = vars(sys.modules[module]).values()
    return next(one for one in defined if isinstance(one, command.Command) and one.name == name)
