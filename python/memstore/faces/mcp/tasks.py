"""The tool set ``tasks``: creating, updating and listing tasks."""

# No postponed annotations here: the schemas are made from the evaluated ones.

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Final

from memstore.domain.arguments import MAX_CONTENT
from memstore.domain.tasks import TaskScope, TaskStatus
from memstore.errors import NotFound
from memstore.faces.mcp import answer_schemas
from memstore.faces.mcp.answers import Answer, noted, of_task_change, of_tasks
from memstore.faces.mcp.arguments import Field, WithJsonSchema
from memstore.faces.mcp.tool import Id, Name, Tool
from memstore.facts.tasks import PRIORITIES, SURFACE_STARTUP
from memstore.store import answers
from memstore.store.store import Store


def _one_of(values: Iterable[str]) -> WithJsonSchema:
    """Show the model the values; the store checks them, and accepts aliases."""
    return WithJsonSchema({"type": "string", "enum": [str(value) for value in values]})


Doer = Annotated[str, _one_of(TaskScope)]
Status = Annotated[str, _one_of(TaskStatus)]
StatusOrAll = Annotated[str, _one_of((*TaskStatus, "all"))]
Priority = Annotated[str, _one_of(PRIORITIES)]
Surface = Annotated[str, _one_of((SURFACE_STARTUP,))]


def memory_task_create(
    store: Store,
    content: Annotated[str, Field(max_length=MAX_CONTENT)],
    scope: Annotated[Doer, Field(description="who does it")],
    priority: Priority = "normal",
    project: Name | None = None,
    due: Annotated[str | None, Field(description="when; best as 2026-03-01")] = None,
) -> Answer:
    """Remember something to do, across conversations."""
    return of_task_change(
        store.tasks.create(content, scope=scope, priority=priority, project=project, due=due)
    )


def memory_task_update(
    store: Store,
    id: Id,  # noqa: A002 - the tool's argument
    status: Status,
    note: Name | None = None,
) -> Answer:
    """Set a task's status: started, done, cancelled or reopened."""
    before: Mapping[str, Any] = {}
    with suppress(NotFound):  # the update below raises it
        before = store.get(id).metadata
    task = store.tasks.update(id, status, note=note)
    noted = note is not None and note != before.get("note")
    return of_task_change(task, str(before.get("status")), noted=noted)


def memory_task_list(
    store: Store,
    scope: Doer | None = None,
    status: StatusOrAll | None = None,
    project: str | None = None,
    surface: Surface | None = None,
) -> Answer:
    """List tasks, most urgent first; open ones unless status is given. At the start of a session,
    pass surface "startup".
    """
    wanted: dict[str, Any] = {
        "scope": scope, "status": status, "project": project, "surface": surface
    }  # fmt: skip
    tasks = store.tasks.list(**wanted)
    narrowing = [name for name, given in (("scope", scope), ("project", project)) if given is None]
    others = partial(
        answers.of_everybody,
        store,
        "task",
        lambda every: len(every.tasks.list(**wanted)),
        to_model=True,
    )
    return noted(of_tasks(tasks, narrowing), answers.of_list(tasks, "task", len(tasks), others))


TOOLS: Final = (
    Tool(memory_task_create, "Create a task", answer_schemas.TASK_CHANGED, unasked=True),
    Tool(
        memory_task_update, "Update a task", answer_schemas.TASK_CHANGED, repeats=True, unasked=True
    ),
    Tool(memory_task_list, "List tasks", answer_schemas.TASKS, reads=True, unasked=True),
)
