"""The tool set ``graph``: the people and things that facts mention, and their relations."""

# No postponed annotations here: the schemas are made from the evaluated ones.

from typing import Annotated, Final

from memstore.faces.mcp import answer_schemas
from memstore.faces.mcp.answers import Answer, noted
from memstore.faces.mcp.arguments import Field
from memstore.faces.mcp.facts import Limit, Offset
from memstore.faces.mcp.graph_answers import of_entities, of_neighbours
from memstore.faces.mcp.tool import Name, Tool
from memstore.store import answers
from memstore.store.store import Store


def memory_graph_entities(
    store: Store,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Answer:
    """List the people and things that stored facts mention, those with the most facts first."""
    graph = store.graph
    found = graph.entities(limit=limit, offset=offset)
    others = (
        ()
        if found or offset
        else answers.of_everybody(
            store, "entity", lambda every: every.graph.status().entities, to_model=True
        )
    )
    return noted(of_entities(found, graph.status(), offset), others)


def memory_graph_neighbours(
    store: Store,
    name: Annotated[Name, Field(description="any name of the person or thing")],
    depth: Annotated[int, Field(ge=1, le=5, description="steps away")] = 1,
    limit: Limit = 10,
) -> Answer:
    """Show what a person or thing is related to, nearest first, with the facts that state it."""
    return of_neighbours(store.graph.neighbours(name, depth=depth, limit=limit))


TOOLS: Final = (
    Tool(memory_graph_entities, "List people and things", answer_schemas.ENTITIES, reads=True),
    Tool(
        memory_graph_neighbours,
        "Show how things are related",
        answer_schemas.NEIGHBOURS,
        reads=True,
    ),
)
