"""What is derived from rows as they are written: the feeds, the counts, members and tags.

Each is described once. In a file, triggers keep them: their text is that of a schema that files
have, and a test holds it to what is said here. On a server, each write has parts that do
(:mod:`memstore.database.postgres.derived`). The doctor compares with it. ``{row}`` stands for the
row that was written.
"""

from __future__ import annotations

from typing import Final

from memstore.domain.records import SCOPE_FIELDS
from memstore.named import NamedTuple


class Feeding(NamedTuple):
    """A table whose changes a feed gets."""

    name: str
    """What its triggers are named after."""
    table: str
    feed: str
    id: str
    """The id of the fact or the episode in the feed."""
    piece: str = ""
    """The id of the piece in the feed; empty if it is not about one."""
    added: bool = False
    """Whether a new row is fed."""
    removed: bool = False
    """Whether a row that is deleted is fed."""
    changed: tuple[str, ...] = ()
    """The columns whose change is fed."""
    test: str = ""
    """Which rows are fed; empty for all."""
    has: str = ""
    """A column that a row has to have to be fed as it is added or removed."""


FACT_FEED: Final = "memstore_fact_changes"
EPISODE_FEED: Final = "memstore_episode_changes"

ACTIVE: Final = "{row}.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active')"
"""After a switch of generations, indexes read all vectors again."""

HOME: Final = "coalesce((SELECT episode_id FROM memstore_pieces WHERE id = {row}.piece_id), 0)"

FED: Final = (
    Feeding(
        "memstore_facts",
        "memstore_facts",
        FACT_FEED,
        "{row}.id",
        added=True,
        removed=True,
        # Use counts are left out, because searches do not need them; a confirmation makes a fact
        # fresh.
        changed=(
            *("content", "subject", "category", "segments", "namespace", "user_id", "agent_id"),
            *("run_id", "superseded_by", "deleted_at", "expired_at", "subject_key"),
            *("category_key", "thread", "seq", "valid_at", "created_at", "last_confirmed_at"),
        ),
    ),
    # Open tasks do not age, so their status matters to searches.
    Feeding(
        "memstore_tasks",
        "memstore_facts",
        FACT_FEED,
        "{row}.id",
        changed=("metadata",),
        test="{row}.subject_key = 'todo'",
    ),
    Feeding(
        "memstore_fact_vectors",
        "memstore_fact_vectors",
        FACT_FEED,
        "{row}.fact_id",
        added=True,
        removed=True,
        changed=("embedding",),
        test=ACTIVE,
        has="embedding",
    ),
    Feeding(
        "memstore_episodes",
        "memstore_episodes",
        EPISODE_FEED,
        "{row}.id",
        added=True,
        changed=(
            *("content", "content_hash", "name", "source_description", "segments", "source"),
            *("valid_at", "expired_at", "user_id", "agent_id", "run_id", "thread", "seq"),
            *("speaker", "created_at"),
        ),
    ),
    Feeding(
        "memstore_pieces",
        "memstore_pieces",
        EPISODE_FEED,
        "{row}.episode_id",
        "{row}.id",
        removed=True,
        changed=("start", "stop", "episode_id"),
    ),
    Feeding(
        "memstore_piece_vectors",
        "memstore_piece_vectors",
        EPISODE_FEED,
        HOME,
        "{row}.piece_id",
        added=True,
        removed=True,
        changed=("embedding",),
        test=ACTIVE,
        has="embedding",
    ),
    Feeding(
        "memstore_distrusted",
        "memstore_distrusted",
        FACT_FEED,
        "{row}.fact_id",
        added=True,
        removed=True,
    ),
    Feeding(
        "memstore_distrusted_episodes",
        "memstore_distrusted_episodes",
        EPISODE_FEED,
        "{row}.episode_id",
        added=True,
        removed=True,
    ),
)


class Count(NamedTuple):
    """One way in which a row counts."""

    kind: str
    key: str
    test: str = ""
    """Which rows count so; empty for all."""


class Counting(NamedTuple):
    """A table whose rows are counted in ``memstore_counts``."""

    table: str
    counts: tuple[Count, ...]
    changed: tuple[str, ...]
    """The columns that decide how a row counts."""


QUARTER: Final = (
    "substr({row}.created_at, 1, 14) || CASE"
    " WHEN substr({row}.created_at, 15, 2) < '15' THEN '00'"
    " WHEN substr({row}.created_at, 15, 2) < '30' THEN '15'"
    " WHEN substr({row}.created_at, 15, 2) < '45' THEN '30' ELSE '45' END"
)
"""The quarter of an hour in which a row was stored."""

VALID: Final = "{row}.superseded_by IS NULL AND {row}.deleted_at IS NULL"

COUNTED: Final = (
    Counting(
        "memstore_facts",
        (
            Count("fact", "''"),
            Count("fact_quarter", QUARTER),
            Count("deleted", "''", "{row}.deleted_at IS NOT NULL"),
            Count("subject", "{row}.subject_key", VALID),
            Count("category", "{row}.category_key", VALID),
        ),
        (
            *("id", "namespace", "user_id", "agent_id", "run_id", "subject_key"),
            *("category_key", "superseded_by", "deleted_at", "created_at"),
        ),
    ),
    Counting(
        "memstore_episodes",
        (
            Count("episode", "''", "{row}.content_hash <> ''"),
            Count("episode_quarter", QUARTER, "{row}.content_hash <> ''"),
        ),
        ("content_hash", "user_id", "agent_id", "run_id"),
    ),
)

COUNT_COLUMNS: Final = ("namespace", "kind", *SCOPE_FIELDS, "key", "number")


class Copied(NamedTuple):
    """A table with what a JSON column of other rows contains, to look it up."""

    table: str
    columns: tuple[str, ...]
    of: str
    """The table of the rows."""
    column: str
    """The column with the JSON."""
    id: str
    """The column with the id of the row; the last one."""

    def misfiled(self, right: str) -> str:
        """Return a query for the ids of the rows whose entries are not those that they should have.

        Args:
            right: a query for the entries that the table should have.
        """
        held = f"SELECT {', '.join(self.columns)} FROM {self.table}"
        return (
            f"SELECT {self.id} FROM ({right} EXCEPT {held}) AS lacking"
            f" UNION SELECT {self.id} FROM ({held} EXCEPT {right}) AS stray ORDER BY 1"
        )


MEMBERS: Final = Copied(
    "memstore_fact_members",
    ("key", "kind", "value", "fact_id"),
    "memstore_facts",
    "metadata",
    "fact_id",
)

TAGS: Final = Copied(
    "memstore_episode_tags", ("tag", "episode_id"), "memstore_episodes", "tags", "episode_id"
)
