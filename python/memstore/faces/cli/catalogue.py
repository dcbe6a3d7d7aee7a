"""The commands of the command line: what the list of them says, and the module of each.

A module is imported when one of its commands is named, so a command starts with what it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from types import ModuleType

    from memstore.faces.cli import (
        completion,
        demo,
        embedding,
        episodes,
        facts,
        file,
        graph,
        hosts,
        learn,
        rebuild,
        search,
        tasks,
        tokens,
        transfer,
    )
    from memstore.faces.cli.command import Command
else:
    completion = lazy_import("memstore.faces.cli.completion")
    demo = lazy_import("memstore.faces.cli.demo")
    embedding = lazy_import("memstore.faces.cli.embedding")
    episodes = lazy_import("memstore.faces.cli.episodes")
    facts = lazy_import("memstore.faces.cli.facts")
    file = lazy_import("memstore.faces.cli.file")
    graph = lazy_import("memstore.faces.cli.graph")
    hosts = lazy_import("memstore.faces.cli.hosts")
    learn = lazy_import("memstore.faces.cli.learn")
    rebuild = lazy_import("memstore.faces.cli.rebuild")
    search = lazy_import("memstore.faces.cli.search")
    tasks = lazy_import("memstore.faces.cli.tasks")
    tokens = lazy_import("memstore.faces.cli.tokens")
    transfer = lazy_import("memstore.faces.cli.transfer")


class Entry(NamedTuple):
    """A command, by name and before its module is imported."""

    module: ModuleType
    summary: str


GROUPS: Final = {
    "store and correct": {
        "add": Entry(facts, "Store a fact: one claim about one subject."),
        "supersede": Entry(facts, "Retire a fact in favour of a newer one that is stored."),
        "confirm": Entry(facts, "Count one more confirmation that a fact holds true."),
        "update": Entry(facts, "Change a fact's metadata; what it says is superseded."),
        "delete": Entry(facts, "Take a fact out of every search; restore brings it back."),
        "restore": Entry(facts, "The newer fact was wrong, or deleting it: bring a fact back."),
        "erase": Entry(facts, "Remove a fact's text from the file for good."),
    },
    "find": {
        "search": Entry(search, "Find facts by words and by meaning, best first."),
        "recall": Entry(search, "Write what answers a question as a text of so many tokens."),
        "list": Entry(search, "List facts, oldest first."),
        "get": Entry(search, "Show one fact with all its fields."),
        "history": Entry(search, "Show how a fact changed, oldest version first."),
    },
    "learn from text": {
        "extract": Entry(learn, "Store the facts in a text; a language model reads it."),
        "remember": Entry(learn, "Learn from what was said: memories added, updated, deleted."),
        "forget": Entry(learn, "Delete a memory, or all of a user, an agent or a run."),
        "proposals list": Entry(learn, "List proposals that need a decision."),
        "proposals accept": Entry(learn, "Let what was proposed supersede what it replaces."),
        "proposals reject": Entry(learn, "Leave the facts as they are."),
        "reinstate": Entry(learn, "The supersession was wrong: both facts hold."),
        "rebuild": Entry(rebuild, "Rebuild what is derived: indexes, and facts from the log."),
        "consolidate": Entry(rebuild, "Propose one fact that says what several say."),
    },
    "relate what facts name": {
        "graph build": Entry(graph, "Build entities and relations from the facts."),
        "graph status": Entry(graph, "Say when the graph was built, and what changed since."),
        "graph entities": Entry(graph, "List entities, those of the most facts first."),
        "graph neighbours": Entry(graph, "Show what is near an entity, and which facts say so."),
        "graph likely": Entry(graph, "List names that may be one entity's; nothing is merged."),
        "graph merge": Entry(graph, "Say that two names are one entity."),
        "graph apart": Entry(graph, "Say that two names are two entities."),
        "graph forget": Entry(graph, "Take back what was said of two names."),
        "graph decisions": Entry(graph, "List what was said of names."),
        "graph drop": Entry(graph, "Remove the graph; what was said of names stays."),
    },
    "the log of episodes": {
        "episode add": Entry(
            episodes, "Record what was said or done, word for word, of any length."
        ),
        "episode search": Entry(episodes, "Find episodes by words and by meaning, best first."),
        "episode list": Entry(episodes, "List episodes, oldest first."),
        "episode get": Entry(episodes, "Show one episode whole, with all its fields."),
        "episode update": Entry(
            episodes, "Change an episode's tags, expiry or metadata; its words stay."
        ),
        "episode erase": Entry(episodes, "Remove an episode's text from the file for good."),
    },
    "tasks": {
        "task add": Entry(tasks, "Store a task."),
        "task update": Entry(tasks, "Move a task to another status."),
        "task list": Entry(tasks, "List open tasks, the most pressing first."),
    },
    "maintain the file": {
        "status": Entry(file, "Say what the store holds, and where and how it is kept."),
        "export": Entry(transfer, "Write what is held as JSON Lines: all but the embeddings."),
        "import": Entry(transfer, "Bring an export in, or what another program remembers."),
        "backup": Entry(file, "Copy the file while others use it, once or on a schedule."),
        "recover": Entry(file, "Bring a backup back; what was there is kept beside it."),
        "embed-pending": Entry(embedding, "Embed what was stored while the embedder was away."),
        "reembed": Entry(embedding, "Bring the file over to another embedding model."),
        "doctor": Entry(file, "Prove that indexes and embeddings agree with the facts."),
    },
    "remember in a host (Claude Code, Codex, Gemini CLI, Cursor, …)": {
        "setup": Entry(hosts, "Register server and hooks with the hosts that are here."),
        "hook": Entry(hosts, "Answer an event of a host; setup registers it."),
        "where": Entry(hosts, "Say which namespace is a project's, or set it."),
    },
    "serve over HTTP (memstore-mcp --http)": {
        "token create": Entry(
            tokens, "Create an access token for the HTTP server, for a namespace."
        ),
        "token list": Entry(tokens, "List the tokens of every namespace."),
        "token revoke": Entry(tokens, "End a token at once."),
    },
    "see it work": {
        "completion": Entry(completion, "Print what completes commands in bash, zsh or fish."),
        "demo": Entry(demo, "See it work, in a temporary file."),
    },
}

COMMANDS: Final = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def load(name: str) -> Command:
    """Import a command: its arguments, and what it does."""
    found: dict[str, Command] = {one.name: one for one in COMMANDS[name].module.COMMANDS}
    return found[name]
