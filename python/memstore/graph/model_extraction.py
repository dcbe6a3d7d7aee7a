"""Asking a model how the names in a fact are related, and checking its answer against the fact.

Both ends of a relation must occur in the fact as whole words. Names that the model invented, or was
tricked into by a fact, are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import MAX_NAME, checked_text
from memstore.domain.entities import RefusedRelation
from memstore.errors import GeneratorError, GeneratorRejected, ReplyError
from memstore.frozen import field, frozen
from memstore.graph.rule_extraction import (
    COMMON,
    MAX_LABEL_WORDS,
    MAX_NAME_CHARACTERS,
    Text,
    Triple,
)
from memstore.prompting.messages import fence, fill, numbered, template
from memstore.prompting.reply import Unusable, ask, list_schema, parse_list, shown
from memstore.text.names import lowered, name_key, occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.domain.protocols import Generator

BLOCK_FACTS: Final = 12

BLOCK_CHARACTERS: Final = 6_000
"""Characters of the facts in one prompt; a longer fact gets its own prompt."""

MAX_FACT_CHARACTERS: Final = 12_000
"""The longest fact that a model is asked about, in characters; only rules read longer ones."""

SCHEMA: Final = list_schema(
    "relations",
    fact={"type": "integer"},
    source={"type": "string"},
    label={"type": "string"},
    target={"type": "string"},
)

_LABEL: Final = re.compile(r"[^\W_]+(?:[ '’-][^\W_]+)*")
_MAX_LABEL_CHARACTERS: Final = 60


@frozen
class Reading:
    triples: dict[int, list[Triple]] = field(default_factory=dict)
    """By the id of each fact that was read; empty for a fact without a relation."""
    refused: list[RefusedRelation] = field(default_factory=list)


def reader(generator: Generator) -> str:
    """Identify the model and the prompt: if either changes, facts are read again."""
    asked = template("memstore.graph", "relate") + json.dumps(SCHEMA, sort_keys=True)
    return f"{generator.model} {hashlib.sha256(asked.encode()).hexdigest()[:12]}"


def blocks(texts: Sequence[Text]) -> Iterator[list[Text]]:
    block: list[Text] = []
    for text in texts:
        size = sum(len(one.content) for one in block) + len(text.content)
        if block and (len(block) == BLOCK_FACTS or size > BLOCK_CHARACTERS):
            yield block
            block = []
        block.append(text)
    if block:
        yield block


def read(block: Sequence[Text], generator: Generator) -> Reading:
    """Ask a model about some facts at once; if its reply is unusable, about each one separately.

    A fact without a usable reply is refused and stays unread, so that it cannot block the others.

    Raises:
        GeneratorError: the model is unavailable, or rejected all of several facts.
    """
    reading = Reading()
    short = [text for text in block if len(text.content) <= MAX_FACT_CHARACTERS]
    for text in block:
        if len(text.content) > MAX_FACT_CHARACTERS:
            reason = f"longer than {MAX_FACT_CHARACTERS:,} characters: only rules read it"
            reading.refused.append(RefusedRelation(text.fact_id, reason))
    try:
        if short:
            _understand(ask(generator, prompt(short), SCHEMA), short, reading)
    except (ReplyError, GeneratorRejected) as error:
        _read_singly(short, generator, reading, error)
    return reading


def _read_singly(
    texts: Sequence[Text], generator: Generator, reading: Reading, first: GeneratorError
) -> None:
    failed: list[GeneratorError] = []
    for text in texts:
        try:
            if len(texts) == 1:
                raise first
            _understand(ask(generator, prompt([text]), SCHEMA), [text], reading)
        except (ReplyError, GeneratorRejected) as error:
            failed.append(error)
            reading.refused.append(RefusedRelation(text.fact_id, str(error)))
    if 1 < len(texts) == len(failed) and all(isinstance(e, GeneratorRejected) for e in failed):
        raise failed[0]


def prompt(texts: Sequence[Text]) -> str:
    """Return the prompt: facts numbered from 1, fenced as data."""
    claims = ({"about": text.subject, "says": text.content} for text in texts)
    return fill(template("memstore.graph", "relate"), facts=fence(numbered(claims), "facts"))


def _understand(reply: str, texts: Sequence[Text], reading: Reading) -> None:
    entries = parse_list(reply, "relations")
    found: dict[int, dict[Triple, None]] = {text.fact_id: {} for text in texts}
    for entry in entries:
        text = shown(entry.get("fact"), texts) if isinstance(entry, dict) else None
        try:
            if text is None:
                raise Unusable("it does not name a fact that was shown")
            found[text.fact_id][_triple(entry, text)] = None
        except Unusable as error:
            of = 0 if text is None else text.fact_id
            reading.refused.append(RefusedRelation(of, str(error)))
    reading.triples.update({fact_id: [*triples] for fact_id, triples in found.items()})


def _triple(entry: Any, text: Text) -> Triple:
    source, target = (_end(entry.get(name), name, text) for name in ("source", "target"))
    if name_key(source) == name_key(target):
        raise Unusable("its source and its target are the same")
    label = entry.get("label")
    if not isinstance(label, str) or len(label) > _MAX_LABEL_CHARACTERS:
        raise Unusable(f"its label is not a text of at most {_MAX_LABEL_CHARACTERS} characters")
    words = " ".join(lowered(label).split())
    if not _LABEL.fullmatch(words) or len(words.split()) > MAX_LABEL_WORDS:
        raise Unusable(f"its label is not one to {MAX_LABEL_WORDS} words: {label!a}")
    return Triple(source, words, target)


def _end(name: object, which: str, text: Text) -> str:
    try:
        end = " ".join(checked_text(name, which, MAX_NAME).split())
    except (TypeError, ValueError) as error:
        raise Unusable(str(error)) from None
    key = name_key(end)
    if not 1 < len(key) <= MAX_NAME_CHARACTERS or key in COMMON:
        raise Unusable(f"its {which} is not a name: {end[:MAX_NAME_CHARACTERS]!a}")
    if not occurs(end, text.content, text.subject):
        raise Unusable(f"its {which} does not occur in the fact: {end!a}")
    return end
