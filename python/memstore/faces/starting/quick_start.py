"""The entry point of ``memstore-mcp``, which parses simple flags itself to start faster.

A host waits only a moment for its servers before its first model request; building the full parser
would take a third of the time until the tools are listed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.faces.mcp import catalogue, session
from memstore.faces.serving import opening
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.faces import from_settings
    from memstore.faces.starting import every_flag
    from memstore.settings import Settings
else:
    every_flag = lazy_import("memstore.faces.starting.every_flag")
    from_settings = lazy_import("memstore.faces.from_settings")

TAKING_A_VALUE: Final = ("db", "namespace", "embedder", "tools", "answers", "user")

ODD: Final = (
    "model", "ollama", "openai", "half_lives", "without_rules", "learn_unread",
    "durability", "timezone", "backup_every", "backup_keep", "backup_folder",
    "sync_every",
)  # fmt: skip
"""Settings that can contradict others or need parsing; the full parser handles them."""


def main(argv: Sequence[str] | None = None) -> None:
    """Serve as the flags say; all but the plainest are read by :mod:`.every_flag`."""
    given = sys.argv[1:] if argv is None else argv
    try:
        chosen = _plain(given)
        offered = catalogue.offered(
            chosen.tools, read_only=chosen.read_only, answers=chosen.answers
        )._replace(owners=chosen.owners, confined=chosen.is_bound)
    except ValueError:
        offered = None
    if offered is None:
        every_flag.main(given)  # reports what is wrong, if anything is
        return
    session.run(
        offered,
        opening.Opening(lambda: opening.open_store(chosen), syncing=chosen),
        lambda: from_settings.make_generator(chosen),
        is_named=chosen.namespace is not None,
    )


def _plain(given: Sequence[str]) -> Settings:
    """Read settings from simple flags and the environment; ValueError if any is not simple."""
    flags: dict[str, str | bool] = {}
    rest = list(given)
    while rest:
        name = rest.pop(0).removeprefix("--").replace("-", "_")
        if name in ("read_only", "any_user"):
            flags[name] = True
        elif name in TAKING_A_VALUE and rest and rest[0].strip() and rest[0][0] != "-":
            flags[name] = rest.pop(0)
        else:
            raise ValueError(name)
    chosen = settings.from_environment()
    if any(getattr(chosen, name) for name in ODD):
        raise ValueError("odd")
    if flags.get("embedder", "none") not in settings.EMBEDDERS:
        raise ValueError("embedder")
    return chosen._replace(**flags)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
