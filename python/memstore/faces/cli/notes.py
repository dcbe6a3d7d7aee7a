"""Notes of an answer as sentences of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from memstore.domain import clock, notes
from memstore.faces.escaping import counted
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.folding import text_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from memstore import projects
    from memstore.domain.notes import Note
    from memstore.domain.status import Contents
    from memstore.faces import wording
    from memstore.faces.cli import flags
    from memstore.store.answers import StoredFact
else:
    flags = lazy_import("memstore.faces.cli.flags")
    wording = lazy_import("memstore.faces.wording")
    projects = lazy_import("memstore.projects")

EMPTY: Final = "the memory is empty; store a fact with memstore add"

MAX_NAMED: Final = 3
"""How many of the namespaces that hold something a note names."""


class Wording(NamedTuple):
    """What the sentences of a command depend on."""

    arguments: argparse.Namespace
    nothing: str = "nothing found"
    """Said if nothing was found, with what to try."""
    sign: str = "#"
    """What stands before the ids of what was found."""


def sentences(note: Note, asked: Wording) -> Iterator[str]:
    """Yield what the command line says for a note."""
    match note:
        case notes.Duplicate() | notes.Superseded() | notes.Proposed():
            pass  # in the sentence about what was done
        case notes.Expired():
            way = f"memstore expire {note.id} --never"
            yield f"#{note.id} has expired already, so that no search finds it ({way})"
        case notes.Near():
            for one in note.facts:
                way = f"memstore supersede {one.id} {note.new_id}"
                yield f"may replace #{one.id} {text_of(one.subject, one.content)} ({way})"
        case notes.Pending():
            yield (
                f"stored as #{note.id}; its embedding is pending: "
                f"{wording.on_command_line(note.reason)} "
                "(searches by words find it; memstore embed-pending retries)"
            )
        case notes.WordsOnly():
            if note.code != "no_embedder":  # that was chosen
                yield f"searched by words only: {wording.on_command_line(note.reason)}"
        case notes.OnlyNewest():
            yield f"the last {note.count} match no word and are only the newest"
        case notes.LessRelevant():
            left = f"{note.count} less relevant"
            way = "which --min-relevance 0 shows"
            yield f"nothing found but {left}, {way}" if note.is_all else f"{left} left out, {way}"
        case notes.Respelt():
            yield str(note)
        case notes.Provisional():
            yield "the order may still change: the index is being built; search again in seconds"
        case notes.AboutOthers():
            by = f": {asked.sign}{note.id} is nearer by {-note.difference:.3f} of terms"
            yield f"{note}{by if getattr(asked.arguments, 'explain', False) else ''}"
        case notes.AsOf():
            yield f"as of {clock.to_text(note.moment)}; nearness is that of today's vectors"
        case notes.PartOf():
            yield f"{note.count:,} of {counted(note.total, note.noun)}"
        case notes.NothingFound():
            yield asked.nothing
        case notes.NothingStored():
            yield asked.nothing if note.turns else EMPTY
        case notes.OthersHold():
            held = " and ".join(counted(number, noun) for noun, number in note.counts.items())
            yield f"other owners have {held}: {flags.ways_to_see(note.owners)}"
        case notes.OtherNamespaces():
            yield _of_namespaces(note.contents, asked.arguments)
        case _:
            assert_never(note)


def done(stored: StoredFact) -> str:
    """Return the sentence about what was done."""
    told = f"stored as #{stored.fact.id}"
    for note in stored.notes:
        match note:
            case notes.Duplicate():
                told = f"already stored, confirmed: #{stored.fact.id}"
            case notes.Superseded():
                told += f", superseding #{note.old_id}"
            case notes.Proposed():
                told += f"; superseding #{note.old_id} is proposed, as that counts more"
    return told


def _of_namespaces(contents: Mapping[str, Contents], arguments: argparse.Namespace) -> str:
    own = projects.project_of().namespace

    def order(name: str) -> tuple[bool, int]:
        return name != own, -contents[name].facts - contents[name].episodes

    first = sorted(contents, key=order)
    named = [f"{name} ({_numbers(contents[name])})" for name in first[:MAX_NAMED]]
    if len(contents) > MAX_NAMED:
        named.append(f"{len(contents) - MAX_NAMED} more")
    ways = [flags.in_shell({"--namespace": first[0]}), "--namespaces all"]
    way = " or ".join(ways[: 1 + hasattr(arguments, "namespaces")])
    holds = "holds" if len(contents) == 1 else "hold"
    which = counted(len(contents), "other namespace")
    return f"{which} {holds} more: {', '.join(named)}: use {way}"


def _numbers(contents: Contents) -> str:
    numbers = {"fact": contents.facts, "episode": contents.episodes}
    return ", ".join(counted(number, noun) for noun, number in numbers.items() if number)
