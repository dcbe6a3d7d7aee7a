"""Registers the server by Claude Code's own command, which rewrites its file all the time."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from memstore import settings
from memstore.errors import MemstoreError
from memstore.faces.hosts import jsonc
from memstore.faces.hosts.catalogue import NAME, claude_folder
from memstore.faces.hosts.files import SettingsUnreadable, read
from memstore.faces.hosts.placing import at

PROGRAM = "claude"
PATIENCE_SECONDS = 60
MISSING = "(missing)"


class HostFailed(MemstoreError):
    """A host's own command could not be run, or failed."""


def registered(project: Path | None) -> Any:
    """Return the entry registered for the user or for one project; ``MISSING`` if none is."""
    folder = settings.host_folder("CLAUDE_CONFIG_DIR")
    text = read(Path(folder, ".claude.json") if folder else Path.home() / ".claude.json")
    place = ["projects", str(project)] if project else []
    try:
        return at(jsonc.value(text or ""), [*place, "mcpServers", NAME])
    except (KeyError, ValueError):
        return MISSING


def register(server: dict[str, Any] | str, project: Path | None) -> None:
    """Replace the registered server; ``MISSING`` removes it."""
    scope = "local" if project else "user"
    before = registered(project)
    if before != MISSING:
        _run(["mcp", "remove", "--scope", scope, NAME], project)
    add = ["mcp", "add-json", "--scope", scope, NAME]
    try:
        if server != MISSING:
            _run([*add, json.dumps(server)], project)
    except HostFailed:
        if before != MISSING:
            with suppress(HostFailed):
                _run([*add, json.dumps(before)], project)
        raise


def plugin(project: Path | None = None) -> str | None:
    """Return our plugin if it is enabled for the user or the project; ``None`` if it is not."""
    files = [claude_folder() / "settings.json"]
    if project is not None:
        files += [project / ".claude" / name for name in ("settings.json", "settings.local.json")]
    enabled: dict[str, Any] = {}
    for file in files:
        with suppress(KeyError, ValueError, TypeError, SettingsUnreadable):
            enabled |= at(jsonc.value(read(file) or ""), ["enabledPlugins"])
    ours = (name for name, on in enabled.items() if on is True and name.split("@")[0] == NAME)
    return next(ours, None)


def _run(arguments: list[str], project: Path | None) -> None:
    program = shutil.which(PROGRAM)
    if program is None:
        raise HostFailed(f"the program {PROGRAM} is not on the PATH")
    try:
        done = subprocess.run(  # noqa: S603 - the host's own command
            [program, *arguments],
            cwd=project or Path.home(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise HostFailed(f"{PROGRAM} {arguments[1]} takes more than {PATIENCE_SECONDS} s") from None
    if done.returncode:
        raise HostFailed(f"{PROGRAM} {arguments[1]} failed: {(done.stderr or done.stdout).strip()}")
