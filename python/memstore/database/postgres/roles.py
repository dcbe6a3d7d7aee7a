"""The rights of the program's database user, as SQL for an administrator.

``memstore_owner`` owns the tables and upgrades them. The program runs as ``memstore_app``: it reads
and writes, but cannot change the schema, and neither remove lines of the journal, facts or episodes
nor rewrite a line. It can erase, which blanks the texts of lines.
"""

from __future__ import annotations

from typing import Final

from memstore.database.postgres.schema import tables

BLANKED: Final = ("before", "after", "evidence", "salt", "erased")
"""The columns of the journal that erasing empties."""

KEPT: Final = ("memstore_journal", "memstore_facts", "memstore_episodes")
"""The tables whose rows are never removed."""


def sql(owner: str = "memstore_owner", app: str = "memstore_app") -> str:
    """Return the statements that give each table to one role and the use of it to another.

    The roles exist already; an administrator runs this in the database, after the first store was
    opened for writing. It may be run again.
    """
    everything = sorted(name for name, columns in tables.columns().items() if columns)
    views = sorted(name for name, columns in tables.columns().items() if not columns)
    lines = []
    for name in everything:
        lines.append(f"ALTER TABLE {name} OWNER TO {owner};")
        lines.append(f"REVOKE ALL ON {name} FROM {app}, PUBLIC;")
        granted = ["SELECT", "INSERT"]
        if name == "memstore_journal":
            granted.append(f"UPDATE ({', '.join(BLANKED)})")
        else:
            granted.append("UPDATE")
        if name not in KEPT:
            granted.append("DELETE")
        lines.append(f"GRANT {', '.join(granted)} ON {name} TO {app};")
    for name in views:
        lines.append(f"ALTER VIEW {name} OWNER TO {owner};")
        lines.append(f"GRANT SELECT ON {name} TO {app};")
    return "\n".join(lines)
