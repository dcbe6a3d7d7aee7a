"""The prompt ``distil``: the next portion of conversations that no model has read."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import SCOPE_FIELDS
from memstore.errors import InvalidArgument
from memstore.faces import distilling
from memstore.faces.mcp import calls
from memstore.faces.mcp.tool import episode_id
from memstore.learn.memory import Memory
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.store.store import Store

DONE: Final = (
    "say so: run `{command}`, or, if you have no shell here, ask for the prompt distil again with "
    "{last} as its argument done; that also shows the next turns."
)


def text(
    catalogue: Catalogue,
    open_store: Callable[[], Store],
    done: str,
    arguments: Mapping[str, str],
) -> str:
    """Return the text of the prompt, after counting the turns up to ``done`` as read."""
    return calls.explained(lambda: _text(catalogue, open_store(), done, arguments))


def _text(catalogue: Catalogue, store: Store, done: str, arguments: Mapping[str, str]) -> str:
    named = {name: arguments[name] for name in SCOPE_FIELDS if arguments.get(name)}
    owners: Any = named or catalogue.owners
    if catalogue.confined:
        owners = {**catalogue.owners, **named}
    if catalogue.confined and owners.get("user_id") != catalogue.owners.get("user_id"):
        raise InvalidArgument("cannot be another user than that of this access", argument="user_id")
    memory = Memory(store)
    if done:
        memory.mark_read(store.episodes.get(episode_id(done)).id, **owners)
    how = DONE.format(command=_command(store, owners), last=distilling.LAST)
    return distilling.task_text(memory.portion(**owners), catalogue.shown, how)


def _command(store: Store, owners: Mapping[str, str]) -> str:
    """Return the command that marks the turns as read, for any folder that it is run in."""
    flags = {"--db": store.path, "--namespace": store.namespace}
    flags |= {f"--{name.removesuffix('_id')}": owner for name, owner in owners.items()}
    told = " ".join(f"{flag} {shlex.quote(value)}" for flag, value in flags.items())
    return visible(f"memstore distil --done {distilling.LAST} {told}")
