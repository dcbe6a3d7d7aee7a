"""Makes the pages of ``docs/reference/`` from the docstrings, for ``docs/site.py``.

Each public name of the package is on one page, with its signature, its fields, its methods, and its
docstring as Markdown. Two pages of the folder are written by hand.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

import memstore

if TYPE_CHECKING:
    from collections.abc import Iterator

STORE = "tasks episodes proposals keys ledger searches sources transfer graph readings"
FILE = "generations tokens"
"""The parts of a store and of a file that have methods of their own."""

PAGES = {
    "store": (
        "The store",
        "open recover Store View File AsyncStore AsyncView AsyncFile Recovered StoreStatus "
        "PastStatus StoreCounts Others Owner Subject RecordedSearch GivenFact Head Finding",
    ),
    "facts": (
        "Facts and searches",
        "Fact NewFact Scope AtLeast MetadataFilter AnyOf Not "
        "SearchHit SearchHits AboutOthers Matched Span Results "
        "WordsOnly Recalled Task Portion UnreadThread "
        "Proposal Question Decided JournalLine Act ActChange LogLine DayActivity Difference "
        "Differences Support TrustChange Explanation ExplanationEntry WhyNot RankedFact "
        "RepairedFact",
    ),
    "changes": (
        "Changes in one transaction",
        "AddFact SupersedeFact DeleteFact DeleteKey KeepFact MayReplace MayYieldTo YieldsTo "
        "AlsoReplaces Applied Plan AsyncPlan Step PlanConflict Reverted ErasurePlan "
        "AsyncErasurePlan ErasureStep "
        "ErasureCounts Erased Remains",
    ),
    "episodes": ("Episodes", "Episode NewEpisode EpisodeHit EpisodeHits ThreadSummary"),
    "learning": (
        "Learning",
        "Memory AsyncMemory Extractor Extraction Extracted Outcome Refusal extract_facts "
        "consolidate Consolidated",
    ),
    "models": (
        "Embedders and generators",
        "Embedder LocalEmbedder OllamaEmbedder OpenAIEmbedder Generator JSONGenerator "
        "OllamaGenerator OpenAIGenerator AnthropicGenerator",
    ),
    "graph": (
        "The graph",
        "Entity Relation Neighbour Neighbours LikelySame EntityDecision GraphBuilt GraphStatus",
    ),
    "errors": (
        "Errors and access",
        "MemstoreError StorageError StoreBusy FileReplaced FileMissing StoreClosed SchemaError "
        "NotFound "
        "Conflict FactChanged IdempotencyConflict EmbedderError EmbedderUnavailable "
        "EmbedderRejected EmbedderMismatch GeneratorError GeneratorUnavailable "
        "GeneratorRejected LearningError "
        "AccessDenied Cancelled TransferError SyncError InvalidArgument InvalidArgumentType Remedy "
        "AccessToken Explained",
    ),
}
WRITTEN = {
    "keys": ("Facts under keys", "store.keys filters unsearched"),
    "browsing": ("Reading the whole memory", "store.list store.ledger.changes store.searches"),
}
"""The pages of the folder that are written by hand, with what they are about."""
SECTIONS = ("Args", "Returns", "Raises", "Yields")
WIDTH = 88
UNQUOTED = re.compile(r"(?<=: |> )'([^']+)'")
"""An annotation, which inspect shows as a string."""


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    made = {f"{page}.md": _page(title, names.split()) for page, (title, names) in PAGES.items()}
    rows = [
        f"| [{title}]({page}.md) | {' '.join(f'`{name}`' for name in names.split())} |"
        for page, (title, names) in (PAGES | WRITTEN).items()
    ]
    head = "# Reference\n\nThe public names of `memstore`, from its docstrings.\n\n| page | names |"
    return {"index.md": "\n".join([head, "|---|---|", *rows, ""]), **made}


def _page(title: str, names: list[str]) -> str:
    parts = [f"# {title}", *(part for name in names for part in _named(name))]
    if "Store" in names:
        parts += _parts_of_a_store()
    return "\n\n".join(parts) + "\n"


def _named(name: str) -> Iterator[str]:
    value = getattr(memstore, name)
    yield f"## {name}"
    if not inspect.isclass(value):
        yield _signature(f"memstore.{name}", value)
        yield markdown(value.__doc__)
        return
    if _is_called(value):
        yield _signature(f"memstore.{name}", value)
    yield markdown(value.__doc__)
    yield from _fields(value)
    if name not in (
        "AsyncStore",
        "AsyncView",
        "AsyncFile",
        "AsyncMemory",
    ):  # their methods are those of the others
        yield from _methods(value, "###")


def _is_called(kind: type) -> bool:
    is_error = issubclass(kind, Exception)
    return not (is_error or kind in (memstore.Store, memstore.File, memstore.Remedy))


def _parts_of_a_store() -> Iterator[str]:
    with memstore.open(":memory:", embedder=None) as store:
        for whole, names in ((store, STORE), (store.file, FILE)):
            for name in names.split():
                kind, part = type(whole), type(getattr(whole, name))
                yield f"## {kind.__name__}.{name}"
                yield markdown(getattr(kind, name).__doc__ or part.__doc__)
                yield from _methods(part, "###")


def _methods(kind: type, level: str) -> Iterator[str]:
    for name, value in _members(kind).items():
        if name.startswith("_") or not getattr(value, "__doc__", None):
            continue
        if isinstance(value, property):
            yield f"{level} `{name}`"
            yield markdown(value.__doc__)
        elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
            yield f"{level} {name}"
            yield _signature(name, getattr(kind, name))
            yield markdown(value.__doc__)


def _members(kind: type) -> dict[str, Any]:
    """Return what a class defines; of a store and its rooms, also what they have as views."""
    bases = [one for one in kind.__mro__ if one.__module__.startswith("memstore.store.")]
    return {n: v for one in reversed(bases or [kind]) for n, v in vars(one).items()}


def _fields(kind: type) -> Iterator[str]:
    """List the annotated fields, each with the string below it."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):
        return
    assert isinstance(tree, ast.ClassDef)
    lines = []
    for node, below in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or ast.unparse(node.target).startswith("_"):
            continue
        said = ""
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            said = f": {_inline(' '.join(str(below.value.value).split()))}"
        lines.append(f"- `{ast.unparse(node.target)}` (`{ast.unparse(node.annotation)}`){said}")
    if lines:
        yield "\n".join(lines)


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return f"```python\n{name}(…)\n```"
    own = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    text = f"{name}{signature.replace(parameters=own)}"
    if len(text) > WIDTH:
        text = _one_a_line(name, own, text.rpartition(") -> ")[2])
    text = UNQUOTED.sub(r"\1", text)
    return f"```python\n{text}\n```"


def _one_a_line(name: str, parameters: list[inspect.Parameter], returns: str) -> str:
    """Write a long signature with a line for each parameter."""
    lines, starred = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not starred:
            lines.append("    *,")
        starred |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        lines.append(f"    {one},")
    return "\n".join([f"{name}(", *lines, f") -> {returns}"])


def markdown(docstring: str | None) -> str:
    """Return a docstring with its sections as lists, and its references as code."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    made: list[str] = []
    section = False
    for line in lines:
        if line.rstrip(":") in SECTIONS and line.endswith(":"):
            section = True
            made += ["", f"**{line.rstrip(':')}**", ""]
        elif section and re.match(r"    [*\w., ]+:( |$)", line):
            name, _, said = line.strip().partition(":")
            made.append(f"- `{name}`:{said}")
        elif section and line.startswith("    "):
            made.append(f"  {line.strip()}")
        else:
            section = section and not line
            made.append(line)
    return _inline("\n".join(made).strip())


def _inline(text: str) -> str:
    text = re.sub(r":[a-z]+:`~?(?:memstore\.)?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`").replace("<", "&lt;") if "```" not in text else text
