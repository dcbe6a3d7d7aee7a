"""What a model wants before a text, which it takes either for a question or for a passage.

Many models were trained with other words before each, and find less without them. The words belong
to the vectors: they are part of the name that a file records.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from memstore.domain.arguments import MAX_NAME
from memstore.errors import InvalidArgument
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Prompts(NamedTuple):
    """What goes before each text, unchanged and without anything between."""

    query: str = ""
    passage: str = ""

    def recorded(self, model: str) -> str:
        """Return the name under which a file records a model with these prompts."""
        if self == NO_PROMPTS:
            return model
        query, passage = (json.dumps(text, ensure_ascii=False) for text in self)
        return f"{model} [query {query}, passage {passage}]"


NO_PROMPTS: Final = Prompts()

_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_RECORDED: Final = re.compile(
    rf"(?P<model>.+?) \[query (?P<query>{_TEXT}), passage (?P<passage>{_TEXT})\]", re.DOTALL
)

_SENTENCE: Final = "Represent this sentence for searching relevant passages: "
_INSTRUCTION: Final = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

KNOWN: Final[Sequence[tuple[str, Prompts]]] = (
    ("embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
    ("nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    ("mxbai-embed-large", Prompts(_SENTENCE)),
    (r"bge-(small|base|large)-en", Prompts(_SENTENCE)),
    ("bge-large$", Prompts(_SENTENCE)),
    (r"snowflake-arctic-embed(2|-[ml]-v2)", Prompts("query: ")),
    ("snowflake-arctic-embed", Prompts(_SENTENCE)),
    ("multilingual-e5-large-instruct", Prompts(f"{_INSTRUCTION} ")),
    (r"(multilingual-)?e5-(small|base|large)", Prompts("query: ", "passage: ")),
    ("qwen3-embedding", Prompts(_INSTRUCTION)),
)
"""The prompts that model cards ask for, by the beginning of a model's name without its owner and
its tag; the first that fits counts."""


def of_model(model: str) -> Prompts:
    """Return the prompts that a model is known to want."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    return next((prompts for start, prompts in KNOWN if re.match(start, name)), NO_PROMPTS)


def split(recorded: str) -> tuple[str, Prompts | None]:
    """Return the model of a recorded name, and its prompts if the name has any."""
    found = _RECORDED.fullmatch(recorded)
    if found is None:
        return recorded, None
    return found["model"], Prompts(json.loads(found["query"]), json.loads(found["passage"]))


def chosen(model: str, query: str | None, passage: str | None) -> tuple[str, Prompts]:
    """Return a model's plain name, and its prompts: those given, those in its name, or the known.

    Raises:
        ValueError: a prompt is too long for the name that a file records.
    """
    plain, named = split(model)
    prompts = of_model(plain) if named is None else named
    if query is not None:
        prompts = prompts._replace(query=query)
    if passage is not None:
        prompts = prompts._replace(passage=passage)
    if len(prompts.recorded(plain)) > MAX_NAME:
        raise InvalidArgument(
            f"is too long: a file records the model with its prompts in {MAX_NAME} characters",
            argument="query_prompt"
            if len(prompts.query) >= len(prompts.passage)
            else "passage_prompt",
        )
    return plain, prompts
