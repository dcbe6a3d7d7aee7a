"""The hosts: where each keeps its settings, and what memstore writes there.

docs/hosts.md says which of this was tested with the real program, and which is from documentation.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.faces.hosts.edits import Edit
from memstore.faces.hosts.registration import shell_line
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

NAME: Final = "memstore"

HOOK_SECONDS: Final = 10
FOLDER_OF_WORKSPACE: Final = "${workspaceFolder}"


class Registration(NamedTuple):
    """What to register."""

    server: list[str]
    """The server's command with its flags, without a namespace."""
    hook: list[str] | None
    """The command of the hooks, without the event; ``None`` for no hooks."""
    flags: list[str]
    """The flags for the file and how it is opened."""
    namespace: str
    keeps: bool
    """Whether conversations are stored."""
    project: Path | None
    """The project to register it for; ``None`` for the user."""
    environment: dict[str, str]
    """Variables that the server's command needs and hosts do not pass on."""
    url: str | None = None
    """The address of a server over HTTP; ``None`` for one that the host starts."""
    secret: str | None = None
    """The token for it; ``None`` if the host signs in itself."""
    program: list[str] | None = None
    """The command ``memstore``, for hosts that ask it for the token."""
    own_memory: str = "keep"
    """Whether hosts go on remembering by themselves: ``keep`` or ``off``."""
    prompts: bool = True
    """Whether prompts are told what bears on them."""
    memory: dict[str, str] | None = None
    """The settings that choose the memory, or ``server``: its address."""


class Host(NamedTuple):
    """A program that agents run in."""

    name: str
    title: str
    program: str
    """The name of its executable on the PATH."""
    folder: Callable[[], Path]
    """The folder of its settings; the host counts as installed if it exists."""
    server: Callable[[Registration], list[tuple[Path, Edit]]]
    hooks: Callable[[Registration], list[tuple[Path, Edit]]] = lambda _: []
    in_project: bool = True
    """Whether a project can have its own settings."""
    in_folder: bool = True
    """Whether it starts servers in the project's folder; else ``--namespace auto`` could not find
    the project, except where the host's settings are the project's own."""
    note: str = ""
    own_memory_off: Callable[[Registration], list[tuple[Path, Edit]]] = lambda _: []
    """What turns off that it remembers by itself; nothing if it cannot be turned off."""

    @property
    def is_here(self) -> bool:
        return self.folder().is_dir() or shutil.which(self.program) is not None


def stdio(wanted: Registration, *, auto: bool = True, workspace: bool = False) -> dict[str, Any]:
    """Return the entry of a server in the form that most hosts use.

    ``auto`` is false for hosts that do not start servers in the project's folder: there
    ``--namespace auto`` could not find the project.
    """
    namespace = wanted.namespace
    if namespace == "auto" and not (auto or wanted.project):
        namespace = settings.DEFAULT_NAMESPACE
    command, *arguments = [*wanted.server, "--namespace", namespace]
    server: dict[str, Any] = {"command": command, "args": arguments}
    environment = settings.data_environment() | wanted.environment
    if workspace and namespace == "auto":
        environment["MEMSTORE_PROJECT"] = FOLDER_OF_WORKSPACE
    return {**server, "env": environment} if environment else server


def _home(*parts: str) -> Path:
    return Path.home().joinpath(*parts)


def _applications(*parts: str) -> Path:
    """Return the settings folder of a graphical program."""
    return Path(settings.configuration_folder(), *parts)


def _below(wanted: Registration, home: Path, *parts: str) -> Path:
    return wanted.project.joinpath(*parts) if wanted.project else home


def _hooks(
    wanted: Registration, host: str, file: Path, events: dict[str, str], shape: Callable[..., Any]
) -> list[tuple[Path, Edit]]:
    """Return one array element for each event; ``events`` maps the host's names to ours."""
    if wanted.hook is None:
        return []
    edits = []
    for event, use in events.items():
        if (use == "keep" and not wanted.keeps) or (use == "prompt" and not wanted.prompts):
            continue
        # A server has one namespace for each token.
        namespace = [] if wanted.url is not None else ["--namespace", wanted.namespace]
        flags = [*wanted.flags, *namespace, "--host", host]
        words = [*wanted.hook, event, *flags]
        edits.append((file, Edit(("hooks", event), shape(words, event), "append")))
    return edits


SHOWN: Final = {"alwaysLoad": True}
"""Claude Code shows the tools of a server without this only to a model that searches for them."""

CLAUDE_EVENTS: Final = {
    "SessionStart": "tell",
    "UserPromptSubmit": "prompt",
    "PreCompact": "keep",
    "SessionEnd": "keep",
}
GEMINI_EVENTS: Final = {
    "SessionStart": "tell",
    "BeforeAgent": "prompt",
    "PreCompress": "keep",
    "SessionEnd": "keep",
}
CURSOR_EVENTS: Final = {"sessionStart": "tell", "preCompact": "keep", "sessionEnd": "keep"}


def _claude_shape(words: list[str], event: str) -> dict[str, Any]:
    command: dict[str, Any] = {"command": shell_line(words)}
    if sys.platform == "win32":  # the shell would be Git Bash, to which a backslash is a quote
        command = {"command": words[0], "args": words[1:]}
    group = {"hooks": [{"type": "command", **command, "timeout": HOOK_SECONDS}]}
    return (
        {"matcher": "startup|resume|clear|compact|fork", **group}
        if event == "SessionStart"
        else group
    )


def _codex_shape(words: list[str], event: str) -> dict[str, Any]:
    seconds = 3 if event == "SessionEnd" else HOOK_SECONDS  # Codex allows no more at the end
    return {"hooks": [{"type": "command", "command": shell_line(words), "timeout": seconds}]}


def _gemini_shape(words: list[str], event: str) -> dict[str, Any]:
    hook = {"type": "command", "name": NAME, "command": shell_line(words)}
    return {"hooks": [{**hook, "timeout": HOOK_SECONDS * 1000}]}


def _cursor_shape(words: list[str], event: str) -> dict[str, Any]:
    return {"command": shell_line(words)}


def _claude_hooks(wanted: Registration) -> list[tuple[Path, Edit]]:
    # The paths are this machine's, so for a project they go into the file that is not shared.
    file = _below(wanted, claude_folder() / "settings.json", ".claude", "settings.local.json")
    return _hooks(wanted, "claude-code", file, CLAUDE_EVENTS, _claude_shape)


def _claude_memory(wanted: Registration) -> list[tuple[Path, Edit]]:
    file = _below(wanted, claude_folder() / "settings.json", ".claude", "settings.local.json")
    return [(file, Edit(("autoMemoryEnabled",), False))]


def _codex_memory(wanted: Registration) -> list[tuple[Path, Edit]]:
    file = _below(wanted, codex_folder() / "config.toml", ".codex", "config.toml")
    return [(file, Edit(("features", "memories"), False))]


def claude_folder() -> Path:
    return Path(settings.host_folder("CLAUDE_CONFIG_DIR") or _home(".claude"))


def codex_folder() -> Path:
    return Path(settings.host_folder("CODEX_HOME") or _home(".codex"))


def _codex_server(wanted: Registration) -> list[tuple[Path, Edit]]:
    file = _below(wanted, codex_folder() / "config.toml", ".codex", "config.toml")
    # Without these, a server that starts slowly is missing for the whole session.
    server = {**stdio(wanted), "required": True, "startup_timeout_sec": 30}
    return [(file, Edit(("mcp_servers", NAME), server))]


def _codex_hooks(wanted: Registration) -> list[tuple[Path, Edit]]:
    file = _below(wanted, codex_folder() / "hooks.json", ".codex", "hooks.json")
    return _hooks(wanted, "codex", file, CLAUDE_EVENTS, _codex_shape)


def _gemini_file(wanted: Registration) -> Path:
    return _below(wanted, _home(".gemini", "settings.json"), ".gemini", "settings.json")


def _cursor_hooks(wanted: Registration) -> list[tuple[Path, Edit]]:
    file = _below(wanted, _home(".cursor", "hooks.json"), ".cursor", "hooks.json")
    edits = _hooks(wanted, "cursor", file, CURSOR_EVENTS, _cursor_shape)
    return [(file, Edit(("version",), 1, "require")), *edits] if edits else []


def _vscode_server(wanted: Registration) -> list[tuple[Path, Edit]]:
    file = _below(wanted, _applications("Code", "User", "mcp.json"), ".vscode", "mcp.json")
    server = stdio(wanted, auto=False, workspace=True)
    return [(file, Edit(("servers", NAME), {"type": "stdio", **server}))]


def _zed_folder() -> Path:
    return _applications("Zed") if sys.platform == "win32" else _home(".config", "zed")


def _opencode_server(wanted: Registration) -> list[tuple[Path, Edit]]:
    folder = wanted.project or _home(".config", "opencode")
    with_comments = folder / "opencode.jsonc"
    file = with_comments if with_comments.is_file() else folder / "opencode.json"
    server = stdio(wanted)
    registered = {"type": "local", "command": [server["command"], *server["args"]], "enabled": True}
    if "env" in server:
        registered["environment"] = server["env"]
    return [(file, Edit(("mcp", NAME), registered))]


HOSTS: Final = (
    Host(
        "claude-code",
        "Claude Code",
        "claude",
        claude_folder,
        lambda _: [],  # registered by its own command, because it rewrites its file all the time
        _claude_hooks,
        own_memory_off=_claude_memory,
    ),
    Host(
        "codex",
        "Codex",
        "codex",
        codex_folder,
        _codex_server,
        _codex_hooks,
        note="Codex runs hooks once you have trusted them: start codex and enter /hooks",
        own_memory_off=_codex_memory,
    ),
    Host(
        "gemini-cli",
        "Gemini CLI",
        "gemini",
        lambda: _home(".gemini"),
        lambda wanted: [(_gemini_file(wanted), Edit(("mcpServers", NAME), stdio(wanted)))],
        lambda wanted: _hooks(
            wanted, "gemini-cli", _gemini_file(wanted), GEMINI_EVENTS, _gemini_shape
        ),
        note="Gemini CLI uses servers and hooks in folders that you trust",
    ),
    Host(
        "cursor",
        "Cursor",
        "cursor",
        lambda: _home(".cursor"),
        lambda wanted: [
            (
                _below(wanted, _home(".cursor", "mcp.json"), ".cursor", "mcp.json"),
                Edit(("mcpServers", NAME), stdio(wanted, workspace=True)),
            )
        ],
        _cursor_hooks,
    ),
    Host(
        "vscode",
        "VS Code",
        "code",
        lambda: _applications("Code", "User"),
        _vscode_server,
        in_folder=False,
    ),
    Host(
        "zed",
        "Zed",
        "zed",
        _zed_folder,
        lambda wanted: [
            (
                _below(wanted, _zed_folder() / "settings.json", ".zed", "settings.json"),
                Edit(("context_servers", NAME), {"source": "custom", "env": {}, **stdio(wanted)}),
            )
        ],
    ),
    Host(
        "windsurf",
        "Windsurf",
        "windsurf",
        lambda: _home(".codeium", "windsurf"),
        lambda wanted: [
            (
                _home(".codeium", "windsurf", "mcp_config.json"),
                Edit(("mcpServers", NAME), stdio(wanted, auto=False)),
            )
        ],
        in_project=False,
        in_folder=False,
    ),
    Host(
        "opencode",
        "OpenCode",
        "opencode",
        lambda: _home(".config", "opencode"),
        _opencode_server,
    ),
    Host(
        "claude-desktop",
        "Claude Desktop",
        "claude-desktop",
        lambda: _applications("Claude"),
        lambda wanted: [
            (
                _applications("Claude", "claude_desktop_config.json"),
                Edit(("mcpServers", NAME), stdio(wanted, auto=False)),
            )
        ],
        in_project=False,
        in_folder=False,
    ),
)


def by_name() -> dict[str, Host]:
    return {host.name: host for host in HOSTS}
