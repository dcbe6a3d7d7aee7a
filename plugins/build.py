"""Writes the files for hosts and registries: all that contain the version.

The plugins for Claude Code and Codex, the bundle for Claude Desktop, and ``server.json``. Run it
after a change of the version or the hooks: ``python plugins/build.py``. A test compares the files
with its output. The skill, the other commands and the bundle's ``server.py`` are written by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memstore import __version__
from memstore.faces.hosts import catalogue
from memstore.faces.hosts.registration import OF_UVX
from memstore.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = "Durable memory: each session begins with open tasks and the project's facts."
SHORT = "Durable memory for AI agents: facts in one file, found by words and by meaning."
REGISTRY_NAME = "io.github.memstore/pymemstore"
"""The registry finds this name in a comment of the README to verify the package."""
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
START = ["uvx", f"pymemstore@{__version__}"]
COMMAND_LINE = ["uvx", "--from", f"pymemstore=={__version__}", "memstore"]

DISTIL = f"""\
---
description: Turn conversations that no model has read into facts
---

Run `{" ".join(COMMAND_LINE)} distil --show --namespace auto` and do what it prints: it shows
turns of earlier conversations, and asks you to store with the `memory_*` tools what will matter.

It names a command, `memstore distil --done …`, that counts these turns as read. Run it, with
`{" ".join(COMMAND_LINE)}` in place of `memstore`, only when everything is stored. It prints the
next turns: go on until none are left, or until I stop you. Then tell me in a few lines what you
stored and changed.
"""

OF_UV = ("UV_CACHE_DIR", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_OFFLINE")
FOR_CODEX = {
    # Which Codex passes on to hooks, but not to servers, and both must use the same file.
    "env_vars": sorted(
        [*OF_UVX, *OF_UV, *(f"MEMSTORE_{name.upper()}" for name in Settings._fields)]
    ),
    # Without these, a server that starts slowly is missing for the whole session.
    "required": True,
    "startup_timeout_sec": 30,
}


def files() -> dict[str, Any]:
    """Return every file that is generated, by its path in the repository."""
    about = {
        "name": "memstore",
        "version": __version__,
        "description": SUMMARY,
        "author": {"name": "The memstore developers"},
        "license": "MIT",
        "keywords": ["memory", "mcp", "sqlite"],
    }
    server = {"command": START[0], "args": [*START[1:], "--namespace", "auto"]}
    listed = {"name": "memstore", "source": "./plugins/memstore", "description": SUMMARY}
    return {
        ".claude-plugin/marketplace.json": {
            "name": "memstore",
            "owner": {"name": "The memstore developers"},
            "metadata": {"description": "memstore for Claude Code and Codex"},
            "plugins": [listed],
        },
        "plugins/memstore/.claude-plugin/plugin.json": about,
        "plugins/memstore/.codex-plugin/plugin.json": {
            **about,
            "skills": "./skills/",
            "mcpServers": "./codex.mcp.json",
            "hooks": "./hooks/codex.json",
        },
        "plugins/memstore/.mcp.json": {"mcpServers": {"memstore": server | catalogue.SHOWN}},
        "plugins/memstore/codex.mcp.json": {"mcpServers": {"memstore": server | FOR_CODEX}},
        "plugins/memstore/hooks/hooks.json": hooks("claude-code"),
        "plugins/memstore/hooks/codex.json": hooks("codex"),
        "plugins/memstore/commands/distil.md": DISTIL,
        "server.json": {
            "$schema": SCHEMA,
            "name": REGISTRY_NAME,
            "description": SHORT,
            "version": __version__,
            "packages": [
                {
                    "registryType": "pypi",
                    "identifier": "pymemstore",
                    "version": __version__,
                    "runtimeHint": "uvx",
                    "transport": {"type": "stdio"},
                }
            ],
        },
        "deploy/mcpb/manifest.json": {
            "manifest_version": "0.4",
            "name": "memstore",
            "display_name": "memstore",
            "version": __version__,
            "description": SHORT,
            "author": about["author"],
            "license": "MIT",
            "keywords": about["keywords"],
            "server": {
                "type": "uv",
                "entry_point": "server.py",
                "mcp_config": {
                    "command": "uv",
                    "args": ["run", "--directory", "${__dirname}", "server.py"],
                },
            },
            "compatibility": {
                "platforms": ["darwin", "linux", "win32"],
                "runtimes": {"python": ">=3.11"},
            },
        },
        "deploy/mcpb/pyproject.toml": "[project]\n"
        'name = "memstore-bundle"\n'
        f'version = "{__version__}"\n'
        'requires-python = ">=3.11"\n'
        f'dependencies = ["pymemstore=={__version__}"]\n',
    }


def hooks(host: str) -> dict[str, Any]:
    """Return what setup would register with a host, started by ``uvx``."""
    wanted = catalogue.Registration(
        server=START,
        hook=[*COMMAND_LINE, "hook"],
        flags=[],
        namespace="auto",
        keeps=True,
        project=None,
        environment={},
    )
    edits = [edit for _, edit in catalogue.by_name()[host].hooks(wanted)]
    return {"hooks": {edit.path[-1]: [edit.value] for edit in edits}}


def text(value: Any) -> str:
    """Return a file's text: that itself, or a value as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, value in files().items():
        (ROOT / name).write_text(text(value), encoding="utf-8")
