"""What a write changes besides the rows it names: the feeds, the counts, members and tags.

SQLite does this with triggers. Here a write is one statement that changes the rows (``now``),
reads them as they were (``was``), and writes what is derived from both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.postgres.dialect import ARRAY, OBJECT

if TYPE_CHECKING:
    from collections.abc import Iterator


TENANT: Final = "memstore_tenant"
"""The parameter that names the tenant."""


class Write(NamedTuple):
    """A statement that inserts into, updates or deletes from one table."""

    kind: str
    table: str
    alias: str
    columns: frozenset[str]
    """The columns that an UPDATE sets."""
    body: str
    """The statement without RETURNING."""
    condition: str
    """The WHERE clause of an UPDATE."""
    returning: str


FED: Final = {
    "memstore_facts": frozenset(
        "content subject category segments namespace user_id agent_id run_id superseded_by"
        " deleted_at expired_at subject_key category_key thread seq valid_at created_at"
        " last_confirmed_at".split()
    ),
    "memstore_episodes": frozenset(
        "content content_hash name source_description segments source valid_at expired_at user_id"
        " agent_id run_id thread seq speaker created_at".split()
    ),
}
"""The columns whose change an index has to see. A fact's use counts are none of them."""

COUNTED: Final = {
    "memstore_facts": frozenset(
        "namespace user_id agent_id run_id subject_key category_key superseded_by deleted_at"
        " created_at".split()
    ),
    "memstore_episodes": frozenset(["content_hash", "user_id", "agent_id", "run_id"]),
}

QUARTER: Final = (
    "substr(r.created_at, 1, 14) || CASE WHEN substr(r.created_at, 15, 2) < '15' THEN '00'"
    " WHEN substr(r.created_at, 15, 2) < '30' THEN '15'"
    " WHEN substr(r.created_at, 15, 2) < '45' THEN '30' ELSE '45' END"
)
"""The quarter of an hour in which a row was stored."""

WHAT_COUNTS: Final = {
    "memstore_facts": f"('fact', '', TRUE), ('fact_quarter', {QUARTER}, TRUE),"
    " ('deleted', '', r.deleted_at IS NOT NULL),"
    " ('subject', r.subject_key, r.superseded_by IS NULL AND r.deleted_at IS NULL),"
    " ('category', r.category_key, r.superseded_by IS NULL AND r.deleted_at IS NULL)",
    "memstore_episodes": "('episode', '', r.content_hash <> ''),"
    f" ('episode_quarter', {QUARTER}, r.content_hash <> '')",
}

ACTIVE: Final = (
    f"EXISTS (SELECT 1 FROM memstore_generations g WHERE g.tenant = :{TENANT}"
    " AND g.id = r.generation_id AND g.state = 'active')"
)

MEMBERS: Final = (
    "SELECT DISTINCT r.tenant, member.key, CASE json_typeof(member.value)"
    " WHEN 'string' THEN 'text' WHEN 'number' THEN 'number' WHEN 'boolean' THEN 'truth'"
    " WHEN 'null' THEN 'null' ELSE 'other' END, CASE json_typeof(member.value)"
    " WHEN 'string' THEN member.value #>> '{}' WHEN 'number' THEN member.value #>> '{}'"
    " WHEN 'boolean' THEN CASE member.value #>> '{}' WHEN 'true' THEN '1' ELSE '0' END"
    " ELSE '' END, r.id FROM now r CROSS JOIN json_each("
    f"{OBJECT.format('r.metadata')}) AS member"
)

TAGS: Final = (
    "SELECT DISTINCT r.tenant, tag.value, r.id FROM now r CROSS JOIN json_array_elements_text("
    f"{ARRAY.format('r.tags')}) AS tag (value)"
)

PARTS: Final = frozenset("now was fed counted unfiled members untagged tagged".split())
"""The names of the parts of a statement with effects."""

EFFECTS: Final = frozenset({"fed", "uncounted"})
"""The effects after which something is due before the commit."""


def with_effects(
    write: Write, without: frozenset[str] = frozenset(), *, returns: bool
) -> tuple[str, frozenset[str]] | None:
    """Return the statement with its effects, and their names; ``None`` if there are none.

    Args:
        without: effects that it is known not to have.
    """
    parts, names = parts_of(write, without)
    if len(parts) == 1:
        return None
    wanted = (write.returning or "1") if returns else "count(*)"
    text = f"WITH {', '.join(parts)} SELECT {wanted} FROM now AS {write.alias}"
    return text, names


def needless(table: str, *, lacks_metadata: bool, is_fed: bool) -> frozenset[str]:
    """Return the effects that new rows do not have.

    Args:
        lacks_metadata: whether none of them has metadata.
        is_fed: whether the feed gets their ids by what is written with them.
    """
    if table == "memstore_facts" and lacks_metadata:
        return frozenset({"members"})
    if table == "memstore_fact_vectors" and is_fed:
        return frozenset({"fed"})
    return frozenset()


def parts_of(
    write: Write, without: frozenset[str] = frozenset()
) -> tuple[list[str], frozenset[str]]:
    """Return the parts of the WITH clause that a statement becomes, and its effects' names.

    Args:
        without: effects that it is known not to have.
    """
    effects = {name: text for name, text in _effects(write) if name not in without}
    parts = []
    if write.kind == "UPDATE" and not effects.keys().isdisjoint({"counted", "members", "tagged"}):
        named = write.alias if write.alias == write.table else f"{write.table} AS {write.alias}"
        parts.append(f"was AS (SELECT {write.alias}.* FROM {named} {write.condition})")
    parts.append(f"now AS ({write.body} RETURNING {write.alias}.*)")
    parts += [f"{name} AS ({text})" for name, text in effects.items()]
    names = frozenset(effects)
    if write.kind == "UPDATE" and "counted" in names:
        names |= {"uncounted"}  # a count may be zero now
    return parts, names & EFFECTS


def _effects(write: Write) -> Iterator[tuple[str, str]]:
    table = write.table
    if table in FED:
        yield from _effects_of_texts(write)
    elif table in ("memstore_fact_vectors", "memstore_piece_vectors"):
        yield from _effects_of_vectors(write)
    elif table == "memstore_pieces":
        if write.kind == "DELETE" or write.columns & {"start", "stop", "episode_id"}:
            yield "fed", _feeding_episodes("r.episode_id", "r.id")
    elif table == "memstore_distrusted" and write.kind != "UPDATE":
        yield "fed", _feeding_facts("r.fact_id")
    elif table == "memstore_distrusted_episodes" and write.kind != "UPDATE":
        yield "fed", _feeding_episodes("r.episode_id")


def _effects_of_texts(write: Write) -> Iterator[tuple[str, str]]:
    is_new = write.kind == "INSERT"
    is_fact = write.table == "memstore_facts"
    if is_new or write.columns & FED[write.table]:
        yield "fed", _feeding_facts("r.id") if is_fact else _feeding_episodes("r.id")
    elif is_fact and "metadata" in write.columns:  # open tasks do not age
        yield "fed", _feeding_facts("r.id", "r.subject_key = 'todo'")
    if is_new or write.columns & COUNTED[write.table]:
        yield "counted", _counting(write, with_old=not is_new)
    if is_fact and (is_new or "metadata" in write.columns):
        if not is_new:
            yield (
                "unfiled",
                "DELETE FROM memstore_fact_members m USING was r"
                f" WHERE m.tenant = :{TENANT} AND m.fact_id = r.id",
            )
        yield (
            "members",
            f"INSERT INTO memstore_fact_members (tenant, key, kind, value, fact_id) {MEMBERS}",
        )
    if not is_fact and (is_new or "tags" in write.columns):
        yield from _tagging(is_new=is_new)


def _tagging(*, is_new: bool) -> Iterator[tuple[str, str]]:
    if not is_new:
        yield (
            "untagged",
            f"DELETE FROM memstore_episode_tags t USING was r WHERE t.tenant = :{TENANT}"
            f" AND t.episode_id = r.id AND (t.tenant, t.tag, t.episode_id) NOT IN ({TAGS})",
        )
    yield (
        "tagged",
        f"INSERT INTO memstore_episode_tags (tenant, tag, episode_id) {TAGS}"
        " ON CONFLICT DO NOTHING",
    )


def _effects_of_vectors(write: Write) -> Iterator[tuple[str, str]]:
    if write.kind == "UPDATE" and "embedding" not in write.columns:
        return
    has_vector = "" if write.kind == "UPDATE" else "r.embedding IS NOT NULL AND "
    if write.table == "memstore_fact_vectors":
        yield "fed", _feeding_facts("r.fact_id", f"{has_vector}{ACTIVE}")
        return
    episode = (
        "coalesce((SELECT p.episode_id FROM memstore_pieces p"
        f" WHERE p.tenant = :{TENANT} AND p.id = r.piece_id), 0)"
    )
    yield "fed", _feeding_episodes(episode, "r.piece_id", f"{has_vector}{ACTIVE}")


def _feeding_facts(id_: str, test: str = "TRUE") -> str:
    return (
        "INSERT INTO memstore_fact_changes (tenant, id)"
        f" SELECT r.tenant, {id_} FROM now r WHERE {test}"
    )


def _feeding_episodes(id_: str, piece_id: str = "NULL::bigint", test: str = "TRUE") -> str:
    return (
        "INSERT INTO memstore_episode_changes (tenant, id, piece_id)"
        f" SELECT r.tenant, {id_}, {piece_id} FROM now r WHERE {test}"
    )


def _counting(write: Write, *, with_old: bool) -> str:
    def counts(rows: str, number: int) -> str:
        return (
            "SELECT r.tenant, r.namespace, c.kind, coalesce(r.user_id, '') AS user_id,"
            " coalesce(r.agent_id, '') AS agent_id, coalesce(r.run_id, '') AS run_id, c.key,"
            f" {number} AS number FROM {rows} r CROSS JOIN LATERAL"
            f" (VALUES {WHAT_COUNTS[write.table]}) AS c (kind, key, counts) WHERE c.counts"
        )

    both = counts("now", 1)
    if with_old:
        both = f"{both} UNION ALL {counts('was', -1)}"
    return (
        "INSERT INTO memstore_counts"
        " (tenant, namespace, kind, user_id, agent_id, run_id, key, number)"
        " SELECT tenant, namespace, kind, user_id, agent_id, run_id, key, sum(number)"
        f" FROM ({both}) AS changed GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(number) <> 0"
        " ON CONFLICT (tenant, namespace, kind, user_id, agent_id, run_id, key)"
        " DO UPDATE SET number = memstore_counts.number + excluded.number"
    )
