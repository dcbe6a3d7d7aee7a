"""The tool set ``episodes``: the log, with the tools and arguments of Engram."""

# No postponed annotations here: the schemas are made from the evaluated ones.

import json
from contextlib import suppress
from typing import Annotated, Any, Final

from memstore.domain.arguments import checked_name, why_no_json
from memstore.errors import AccessDenied
from memstore.faces.mcp import answer_schemas, searches
from memstore.faces.mcp.answers import Answer, noted, of_owners
from memstore.faces.mcp.arguments import BeforeValidator, Field, WithJsonSchema, from_json
from memstore.faces.mcp.episode_answers import (
    of_added,
    of_change,
    of_health,
    of_hits,
    of_list,
    undoing,
)
from memstore.faces.mcp.facts import MAX_QUERY, Limit
from memstore.faces.mcp.tool import EpisodeId, Name, Object, Tool
from memstore.settings import MIN_RELEVANCE
from memstore.store import answers
from memstore.store.store import Store, file_of

MODES: Final = {"vector": "meaning", "keyword": "words", "hybrid": "hybrid"}

ACCEPTED_METADATA: Final = 'a JSON object such as {"ticket": 12}, or its text'


def _said(value: object) -> object:
    """Treat an empty text as left out, which is what many models mean."""
    return None if isinstance(value, str) and not value.strip() else value


def _metadata(value: object) -> object:
    """Read metadata, which may be passed as JSON text."""
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"not valid JSON ({why_no_json(error)}): give {ACCEPTED_METADATA}"
            ) from None
    if not isinstance(value, dict):
        raise ValueError(f"must be {ACCEPTED_METADATA}")
    return value


Text = Annotated[str | None, BeforeValidator(_said)]
Group = Annotated[Text, Field(description="rarely needed")]
Tags = Annotated[
    list[str],
    BeforeValidator(from_json),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Metadata = Annotated[Object | None, BeforeValidator(_metadata)]
Mode = Annotated[str, WithJsonSchema({"type": "string", "enum": list(MODES)})]


def add_memory(
    store: Store,
    content: str,
    source: Annotated[Name, Field(description="who records it, e.g. claude-code; use one")],
    name: Text = None,
    source_model: Text = None,
    source_description: Text = None,
    group_id: Group = None,
    tags: Tags = [],  # noqa: B006 - the schema's default; never changed
    thread: Text = None,
    speaker: Text = None,
    valid_at: Annotated[Text, Field(description="when it was true")] = None,
    metadata: Metadata = None,
) -> Answer:
    """Record word for word what was said, done or decided; any length."""
    return of_added(
        bound(store, group_id).episodes.add(
            content,
            source=source,
            name=name,
            source_model=source_model,
            source_description=source_description,
            tags=tags,
            thread=thread,
            speaker=speaker,
            valid_at=valid_at,
            metadata=metadata,
        ),
        store.namespace,
    )


def search(
    store: Store,
    query: Text = None,
    max_results: Limit = 10,
    before: Annotated[Text, Field(description="recorded before")] = None,
    after: Text = None,
    tags: Annotated[Tags, Field(description="must have all")] = [],  # noqa: B006
    source: Text = None,
    group_id: Text = None,
    include_expired: bool = False,
    min_similarity: Annotated[float | None, Field(ge=0, le=1)] = None,
    search_mode: Annotated[
        Mode, Field(description="keyword for names and codes, vector for concepts")
    ] = "hybrid",
    search_alpha: Annotated[
        float | None, Field(ge=0, le=1, description="higher favours meaning; 0.4")
    ] = None,
    tag_boost: Annotated[
        float, Field(ge=0, le=100, description="added to the score, no filter")
    ] = 0.0,
    valid_before: Text = None,
    valid_after: Text = None,
    expired_before: Text = None,
    expired_after: Text = None,
    context: int | None = None,
) -> Answer:
    """Find episodes, best first; without a query, the newest."""
    if search_mode not in MODES:
        raise ValueError(f"search_mode must be {', '.join(MODES)}, not {search_mode[:60]!r}")
    if query is not None and len(query) > MAX_QUERY:
        raise ValueError(f"query is longer than {MAX_QUERY:,} characters: use a shorter query")
    narrowing = {"before": before, "after": after, "tags": tags, "source": source}
    home = bound(store, group_id)
    hits = home.episodes.search(
        query,
        mode=MODES[search_mode],
        alpha=search_alpha,
        tags=tags,
        tag_boost=tag_boost,
        source=source,
        created_after=after,
        created_before=before,
        valid_after=valid_after,
        valid_before=valid_before,
        expired_after=expired_after,
        expired_before=expired_before,
        include_expired=include_expired,
        # In Engram 0 means no minimum, and a search by words has no similarity to compare.
        min_similarity=min_similarity or None,
        min_relevance=MIN_RELEVANCE,
        limit=max_results,
        context=context or 0,
    )
    searches.note(home, query or "", episodes=[hit.episode.id for hit in hits])
    unused = [name for name, given in narrowing.items() if not given]
    return of_hits(hits, answers.of_episodes(home, hits, to_model=True), store.namespace, unused)


def get_episodes(
    store: Store,
    max_results: Limit = 10,
    before: Text = None,
    after: Text = None,
    source: Text = None,
    group_id: Text = None,
    valid_before: Text = None,
    valid_after: Text = None,
    expired_before: Text = None,
    expired_after: Text = None,
) -> Answer:
    """List episodes, newest first."""
    home = bound(store, group_id)
    log = home.episodes
    wanted: dict[str, Any] = {
        "created_before": before,
        "created_after": after,
        "valid_before": valid_before,
        "valid_after": valid_after,
        "expired_before": expired_before,
        "expired_after": expired_after,
        "source": source,
    }
    narrowing = {"before": before, "after": after, "source": source}
    found = log.list(**wanted, limit=max_results, newest_first=True)
    unused = [name for name, given in narrowing.items() if given is None]
    answer = of_list(found, log.count(**wanted), store.namespace, unused)
    return noted(answer, () if found else answers.of_others(home, to_model=True))


def update_episode(
    store: Store,
    id: EpisodeId,  # noqa: A002 - the tool's argument
    tags: Annotated[Tags | None, Field(description="replace the tags; [] clears")] = None,
    expired_at: Annotated[str | None, Field(description='null or "" removes it')] = None,
    metadata: Annotated[Metadata, Field(description="merged in; null removes a key")] = None,
) -> Answer:
    """Change an episode's tags, expiry or metadata."""
    changes: dict[str, Any] = {}
    if tags is not None:
        changes["tags"] = tags
    if expired_at is not None:
        changes["expired_at"] = _said(expired_at)
    if metadata is not None:
        changes["metadata"] = metadata
    log = _home(store, id).episodes
    before = log.get(id)
    return of_change(log.update(id, **changes), store.namespace) | undoing(id, before, changes)


def get_status(store: Store) -> Answer:
    """Check the memory and its embedder; count pending items."""
    status = store.status()
    return of_health(status, file_of(store).probe_embedder()) | of_owners(store, status.others)


def bound(store: Store, group_id: str | None) -> Store:
    """Return the store for a namespace, by default the server's own."""
    return store if group_id is None else store.within(checked_name(group_id, "group_id"))


def _home(store: Store, episode_id: int | str) -> Store:
    """Return the store of an episode's namespace; a number means the server's own namespace.

    The tools that change an episode have no argument for its group. So for episodes of other
    groups the answers show the UUID, which cannot be confused with a number of this namespace.
    """
    if isinstance(episode_id, int):
        return store
    with suppress(AccessDenied):  # then it is not found, as if there were no other namespace
        namespace = store.episodes.namespace_of(episode_id)
        return store if namespace is None else store.within(namespace)
    return store


TOOLS: Final = (
    Tool(add_memory, "Record an episode", answer_schemas.EPISODE_STORED, unasked=True),
    Tool(
        search,
        "Search episodes",
        answer_schemas.EPISODES,
        alias="episode_search",
        reads=True,
        unasked=True,
    ),
    Tool(get_episodes, "List episodes", answer_schemas.EPISODES, reads=True),
    # null has a meaning for expired_at: it removes the expiry.
    Tool(
        update_episode,
        "Change an episode",
        answer_schemas.EPISODE_STORED,
        destroys=True,
        repeats=True,
        nulls={"expired_at": ""},
    ),
    Tool(get_status, "Check the memory", answer_schemas.HEALTH, alias="episode_status", reads=True),
)
