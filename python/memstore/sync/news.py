"""Whether there is anything to send: asked often, by programs that do not sync themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memstore.database import journal
from memstore.database import meta as meta_table

if TYPE_CHECKING:
    from memstore.database.engine import Engine


def has_news(engine: Engine) -> bool:
    """Return whether anything was written since the last run; it may be nothing that travels."""
    with engine.read() as transaction:
        text = meta_table.get(transaction, meta_table.SYNCED)
        reached = 0 if text is None else int(json.loads(text)[0])
        return journal.last_id(transaction) > reached
