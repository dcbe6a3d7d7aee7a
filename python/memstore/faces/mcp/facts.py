"""The tool set ``facts``: store, find and correct facts, and see how they changed."""

# No postponed annotations here: the schemas are made from the evaluated ones.

from typing import TYPE_CHECKING, Annotated, Any, Final

from memstore.database.journal import Kind
from memstore.database.short_transactions import BYTES_AT_ONCE, ROW_BYTES
from memstore.domain.arguments import MAX_CONTENT
from memstore.domain.metadata import OPERATORS, MetadataFilter, encode
from memstore.domain.queries import FactSearch
from memstore.domain.records import CATEGORIES, TODO, Fact, JournalLine, NewFact
from memstore.domain.tasks import OPEN_STATUSES
from memstore.faces.mcp import answer_schemas, answers, searches
from memstore.faces.mcp.answers import Answer
from memstore.faces.mcp.arguments import BeforeValidator, Field, WithJsonSchema, from_json
from memstore.faces.mcp.episode_answers import of_said, of_turns
from memstore.faces.mcp.tool import (
    AnyId,
    EpisodeId,
    Id,
    Name,
    Object,
    Tool,
    ToolError,
    episode_id,
)
from memstore.facts.tasks import as_task
from memstore.frozen import asdict, replace
from memstore.lazy import lazy_import
from memstore.store import answers as store_answers
from memstore.store.store import Store, file_of

if TYPE_CHECKING:
    from memstore.domain import chains
else:
    chains = lazy_import("memstore.domain.chains")

MAX_QUERY: Final = 4_000

MIN_TOKENS: Final = 50
MAX_TOKENS: Final = 5_000

MAX_TASKS: Final = 3
"""Open tasks that a search mentions."""

CHANGED: Final = (Kind.METADATA, Kind.UPDATE, Kind.PIN, Kind.UNPIN, Kind.CONFIRM)
"""What may happen to a fact that stays active."""

RETIRED: Final = (Kind.SUPERSEDE, Kind.ACCEPT)
"""What supersedes a fact."""

MAX_PAGE: Final = 100
"""Facts of one answer; more would not fit."""

Conditions = Annotated[
    Object, Field(description='conditions, all required: {"key": value}, {"key": {">=": 3}}')
]
Context = Annotated[int | None, Field(description="neighbours to add")]
Offset = Annotated[int, Field(ge=0, le=1_000_000_000), WithJsonSchema({"type": "integer"})]
Text = str | None
Further = Annotated[
    list[dict[str, Any]],
    BeforeValidator(from_json),
    WithJsonSchema({"type": "array", "items": {"type": "object"}}),
]
Limit = Annotated[int, Field(ge=1, le=MAX_PAGE)]


def memory_store(
    store: Store,
    content: Annotated[str, Field(max_length=MAX_CONTENT, description="one self-contained claim")],
    subject: Annotated[Name, Field(description="who or what; keep one spelling")],
    category: Annotated[
        Name | None, Field(description=f"{', '.join(CATEGORIES)}; notes fade with age")
    ] = None,
    metadata: Object | None = None,
    supersedes: Annotated[Id | None, Field(description="the fact it replaces")] = None,
    any_subject: bool = False,
    idempotency_key: Name | None = None,
    episode: EpisodeId | None = None,
    expired_at: Text = None,
    also: Annotated[
        Further, Field(description="more facts, {content, subject?, …}; all or none")
    ] = [],  # noqa: B006
) -> Answer:
    """Remember one durable fact. Search first; if it corrects a stored fact, pass supersedes. A
    known fact is confirmed instead, with status "duplicate".
    """
    first: dict[str, Any] = {
        "content": content,
        "subject": subject,
        "category": category,
        "metadata": metadata,
        "supersedes": supersedes,
        "any_subject": any_subject,
        "idempotency_key": idempotency_key,
        "episode": episode,
        "expired_at": expired_at,
    }
    given = [first, *(_read_further(one, place, first) for place, one in enumerate(also, 2))]
    _check_bytes(given)
    new = [_new(store, one) for one in given]
    stored = [answers.of_stored(one) for one in store_answers.store_facts(store, new)]
    return stored[0] | ({"also": stored[1:]} if also else {})


def _check_bytes(given: list[dict[str, Any]]) -> None:
    """Refuse more facts than may be stored in one act: all other writers would wait for it."""
    if len(given) == 1:
        return
    texts = [one["content"] + (encode(one["metadata"]) or "") for one in given]
    total = sum(ROW_BYTES + len(text.encode(errors="replace")) for text in texts)
    if total > BYTES_AT_ONCE:
        raise ToolError(
            f"also: these {len(given):,} facts have {total:,} bytes, counting {ROW_BYTES:,} more"
            f" for each; one act stores at most {BYTES_AT_ONCE:,}. None was stored: store them in"
            " several calls"
        )


def _further(
    store: Store,
    content: Annotated[str, Field(max_length=MAX_CONTENT)],
    subject: Name | None = None,
    category: Name | None = None,
    metadata: Object | None = None,
    supersedes: Id | None = None,
    any_subject: bool = False,
    idempotency_key: Name | None = None,
    expired_at: Text = None,
) -> Answer:
    """Take the arguments of a further fact; what is told here is never shown."""
    raise NotImplementedError  # pragma: no cover


_further.__name__ = "also"
FURTHER: Final = Tool(_further, "", {}, is_owned=False)


def _read_further(given: dict[str, Any], place: int, first: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a further fact, about the subject of the first if it names none."""
    try:
        read = FURTHER.read(given)
    except ToolError as error:
        raise ToolError(f"fact {place}, none was stored: {error}") from None
    read["subject"] = read["subject"] or first["subject"]
    return read | {"episode": first["episode"]}


def _new(store: Store, given: dict[str, Any]) -> NewFact:
    """Return a fact to be stored; its episode is one of the same owners."""
    values = {**given}
    if (episode := values.pop("episode")) is not None:
        values["episode_id"] = store.episodes.get(episode).id
    return NewFact(**values)


def memory_search(
    store: Store,
    query: Annotated[str, Field(max_length=MAX_QUERY)],
    subject: str | None = None,
    category: str | None = None,
    limit: Limit = 10,
    include_superseded: bool = False,
    metadata: Conditions | None = None,
    context: Context = None,
    max_tokens: Annotated[
        int | None, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="text this long")
    ] = None,
    after: Text = None,
    before: Text = None,
    valid_after: Text = None,
    valid_before: Text = None,
    min_relevance: float | None = None,
    as_of: Text = None,
) -> Answer:
    """Find facts and what was said. Use before answering about the user, their people, projects or
    past decisions.
    """
    asked = FactSearch(
        subject=subject,
        category=category,
        filters=conditions(metadata),
        created_after=after,
        created_before=before,
        valid_after=valid_after,
        valid_before=valid_before,
        active_only=not include_superseded,
        min_relevance=min_relevance,
        limit=limit,
        context=context or 0,
    )
    if max_tokens is not None:
        recall = store_answers.recall(
            store,
            query,
            asked,
            max_tokens=max_tokens,
            counter=answers.tokens_of_recall,
            as_of=as_of,
            to_model=True,
        )
        recalled = recall.recalled
        searches.note(store, query, recalled.facts, recalled.episodes)
        return answers.of_recalled(recalled, recall.notes, max_tokens)
    found = store_answers.search(store, query, asked, as_of=as_of, to_model=True)
    said = found.said or ()
    searches.note(
        store,
        query,
        [hit.fact.id for hit in found.hits],
        [hit.episode.id for hit in said],
    )
    narrowing = (("subject", subject), ("category", category))
    unused = [name for name, value in narrowing if value is None]
    answer = answers.of_search(found.hits, found.notes, unused)
    if as_of is None and (open_tasks := _open_tasks(store, query, asked)):
        answer["open_tasks"] = open_tasks
    if said:
        answer["said"] = of_said(said, store.namespace, answer)
    return answer


def _open_tasks(store: Store, query: str, asked: FactSearch) -> list[Answer]:
    """Return the open tasks that a search matches, unless it asks for something narrower."""
    if asked.subject or asked.category or asked.filters:
        return []
    of_tasks = replace(asked, subject=TODO, tasks=True, limit=MAX_TASKS, context=0)
    hits = store.search(query, **asdict(of_tasks))
    found = [as_task(hit.fact) for hit in hits if hit.fact.status == "active"]
    return [answers.of_task(task) for task in found if task.status in OPEN_STATUSES]


def memory_list(
    store: Store,
    subject: str | None = None,
    category: str | None = None,
    limit: Limit = 20,
    offset: Offset = 0,
    metadata: Object | None = None,
    after: Text = None,
    before: Text = None,
    valid_after: Text = None,
    valid_before: Text = None,
    as_of: Text = None,
) -> Answer:
    """Page through active facts, newest first."""
    wanted: dict[str, Any] = {
        "subject": subject,
        "category": category,
        "filters": conditions(metadata),
        "created_after": after,
        "created_before": before,
        "valid_after": valid_after,
        "valid_before": valid_before,
    }
    seen = store_answers.at(store, as_of)
    page = seen.list(**wanted, limit=limit, offset=offset, newest_first=True)
    others = () if page or offset else store_answers.of_others(store, to_model=True)
    return answers.noted(
        answers.of_list(page, seen.count(**wanted), offset),
        (*others, *store_answers.of_moment(seen)),
    )


def memory_delete(
    store: Store,
    id: Id,  # noqa: A002 - the tool's argument
    undo: bool = False,
) -> Answer:
    """Delete a fact that was never true; else supersede it. undo reverses either."""
    if not undo:
        deleted = store.delete(id)
        return answers.of_deletion(deleted, chains.older(store.history(id), id))
    fact = store.get(id)
    if chosen := _last_change(store, fact):
        plan = store.ledger.revert(**chosen)
        if plan.steps and not plan.conflicts:
            plan.apply()
            return answers.of_taken_back(store.get(id), fact.superseded_by)
    superseded = fact.status == "superseded"
    return answers.of_repair(store.reinstate(id) if superseded else store.restore(id))


def _last_change(store: Store, fact: Fact) -> dict[str, Any]:
    """Return what to take back of the act that changed a fact last, unless that took one back.

    Of an act that stored several facts, only what it did to this one, and to one that it replaced.
    """
    chain = store.ledger.journal(fact.id)
    last = [line for line in chain if line.fact_id == fact.id][-1]
    if "reverts" in (last.evidence or {}):
        return {}
    if fact.status == "active" and last.kind in CHANGED:
        return {"acts": [last.txn]}
    if fact.status == "active" and last.kind == Kind.ADD:
        gone = [line.id for line in chain if _replaces(line, fact.id) and line.txn == last.txn]
        return {"lines": [last.id, *gone]} if gone else {}
    if fact.status == "superseded" and last.kind in RETIRED:
        newer = store.get_many([fact.superseded_by or 0])  # none of other owners
        alone = "consolidates" not in (last.evidence or {})
        return {"lines": [last.id]} if alone and newer and newer[0].status == "active" else {}
    return {}


def _replaces(line: JournalLine, fact_id: int) -> bool:
    return line.kind in RETIRED and (line.after or {}).get("superseded_by") == fact_id


def memory_supersede(store: Store, old_id: Id, new_id: Id, any_subject: bool = False) -> Answer:
    """Replace a fact by a newer stored one."""
    return answers.of_change(
        store.supersede(old_id, new_id, any_subject=any_subject)
    ) | answers.undoing(old_id)


def memory_history(
    store: Store,
    id: AnyId | None = None,  # noqa: A002 - the tool's argument
    subject: str | None = None,
    why: Annotated[bool, Field(description="what it rests on")] = False,
    as_of: Text = None,
) -> Answer:
    """Show how a fact changed, by any version's id, or all of a subject; or what was said around
    e12.
    """
    if why and not isinstance(id, int):
        raise ValueError("why explains one fact: give its id")
    if isinstance(id, str):
        return of_turns(store.episodes.around(episode_id(id)), store.namespace)
    seen = store_answers.at(store, as_of)
    facts = seen.history(id, subject=subject)
    answer = answers.of_history(facts, id)
    if why and id is not None:
        answer |= answers.of_explanation(seen.ledger.explain(id))
    others = () if facts else store_answers.of_others(store, to_model=True)
    return answers.noted(answer, (*others, *store_answers.of_moment(seen)))


def memory_confirm(
    store: Store,
    id: Id,  # noqa: A002 - the tool's argument
) -> Answer:
    """Record that a fact is still true."""
    fact = store.confirm(id)
    return {"id": fact.id, "confirmed": fact.confirmed_count} | answers.taking_back(id)


def memory_update(
    store: Store,
    id: Id,  # noqa: A002 - the tool's argument
    metadata: Annotated[Object | None, Field(description="merged in; null removes a key")] = None,
    pinned: Annotated[bool | None, Field(description="sessions begin with it")] = None,
) -> Answer:
    """Change a fact's metadata, or pin it. Its content never changes; supersede it."""
    if metadata is None and pinned is None:
        raise ValueError("neither metadata nor pinned was given")
    before = fact = store.get(id)
    if metadata is not None:
        fact = store.update_metadata(id, metadata)
    if pinned is not None:
        fact = store.pin(id) if pinned else store.unpin(id)
    return answers.of_updated(fact, before, metadata or {})


def memory_status(store: Store) -> Answer:
    """Count what is stored."""
    status = store.status()
    told = answers.of_status(status, file_of(store).embedder_trouble)
    return told | answers.of_owners(store, status.others)


TOOLS: Final = (
    Tool(memory_store, "Remember a fact", answer_schemas.STORED, unasked=True),
    Tool(memory_search, "Search memory", answer_schemas.FOUND, reads=True, unasked=True),
    Tool(memory_list, "List facts", answer_schemas.FACTS, reads=True),
    Tool(
        memory_delete,
        "Delete or bring back a fact",
        answer_schemas.DELETED,
        destroys=True,
        repeats=True,
    ),
    Tool(memory_supersede, "Supersede a fact", answer_schemas.STORED),
    Tool(memory_history, "Show how facts changed", answer_schemas.HISTORY, reads=True),
    Tool(memory_confirm, "Confirm a fact", answer_schemas.CONFIRMED),
    Tool(
        memory_update, "Change metadata or pin", answer_schemas.UPDATED, destroys=True, repeats=True
    ),
    Tool(memory_status, "Count what is stored", answer_schemas.STATUS, reads=True),
)


def conditions(given: dict[str, Any] | None) -> list[MetadataFilter]:
    """Read ``{"key": value}`` and ``{"key": {">=": 3, "<": 9}}`` as filters that all hold."""
    filters: list[MetadataFilter] = []
    for key, wanted in (given or {}).items():
        compared = wanted if isinstance(wanted, dict) else {"=": wanted}
        if not compared or not compared.keys() <= set(OPERATORS):
            raise ValueError(
                f"metadata condition on {key!r}: give a value, or an object of operators "
                f'({" ".join(OPERATORS)}) such as {{">=": 3}}'
            )
        filters += [MetadataFilter(key, op, value) for op, value in compared.items()]
    return filters
