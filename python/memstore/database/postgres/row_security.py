"""Row-level security by tenant: the server itself shows a connection the rows of one tenant only.

Each transaction names its tenant in a setting that ends with it, so it holds for a connection that
a pool hands to the next program, too. Without the setting, no row is seen or written. The owner of
the tables is exempt, so that dumps are complete; the program's role must be another one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memstore.database.postgres.connection import Sent
from memstore.database.postgres.schema import tables

if TYPE_CHECKING:
    from collections.abc import Iterable

TENANT: Final = "memstore.tenant"
"""The setting that names the tenant of a transaction."""

NAMESPACES: Final = "memstore.namespaces"
"""The setting that names, as JSON, the namespaces whose tenants a transaction looks up."""

OWN: Final = f"tenant = current_setting('{TENANT}', true)"

LOOKED_UP: Final = (
    "namespace IN (SELECT json_array_elements_text(coalesce(nullif("
    f"current_setting('{NAMESPACES}', true), ''), '[]')::json))"
)
"""A namespace may be another tenant's; who names it learns that, and nobody gets a list."""

NAME: Final = "SELECT set_config($1, $2, true)"
"""Sets it until the end of a transaction, or of what is sent together outside of one."""

IS_ON: Final = "SELECT relrowsecurity FROM pg_class WHERE oid = to_regclass('memstore_facts')"


def policies() -> str:
    """Return the statements that switch it on; the owner of the tables runs them, perhaps again."""
    lines = [
        *policies_of(tables.rows()),
        "DROP POLICY IF EXISTS memstore_lookup ON memstore_namespaces;",
        f"CREATE POLICY memstore_lookup ON memstore_namespaces FOR SELECT USING ({LOOKED_UP});",
    ]
    # Else a view reads the tables with the rights of its owner, who is exempt.
    lines += [f"ALTER VIEW {name} SET (security_invoker = true);" for name in tables.views()]
    return "\n".join(lines)


def policies_of(names: Iterable[str]) -> list[str]:
    """Return the statements for these tables, whose rows are a tenant's own."""
    return [
        line
        for name in names
        for line in (
            f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY;",
            f"DROP POLICY IF EXISTS memstore_tenant ON {name};",
            f"CREATE POLICY memstore_tenant ON {name} USING ({OWN}) WITH CHECK ({OWN});",
        )
    ]


def naming(tenant: str) -> Sent:
    """Return the statement that names the tenant of the transaction that it is in."""
    return Sent(NAME, (TENANT, tenant))


def looking_up(namespaces: Iterable[str]) -> Sent:
    """Return the statement that lets a transaction see whose these namespaces are."""
    return Sent(NAME, (NAMESPACES, json.dumps([*namespaces])))
