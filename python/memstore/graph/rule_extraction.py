"""Extracting entities and relations from facts by rules: the same facts give the same graph.

Entities are subjects, names recognised by their capitals, names given by a person or a model, and
every other occurrence of such a name as whole words, ignoring case. If a sentence begins with a
name, the words between it and the next name are the label of a relation; otherwise the subject
``mentions`` the other names.

Word lists tell names from other words, in English and German.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memstore.domain.entities import MENTIONS
from memstore.domain.records import TODO
from memstore.named import NamedTuple
from memstore.text.lexicon import ARTICLES, BREAKS, CALENDAR, DAYS, FUNCTION, PERSONAL, word_set
from memstore.text.names import POSSESSIVE, lowered, name_key, plain, word_spans
from memstore.text.words import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memstore.text.names import Span


COPULAS: Final = word_set("is are was were ist sind war waren")

PERSON_VERBS: Final = word_set(
    "works worked lives lived likes liked loves hates dislikes enjoys prefers wants owns "
    "speaks knows met married studies studied teaches taught plays drinks eats reads moved "
    "joined graduated retired thinks believes said told asked decided mentioned arbeitet "
    "wohnt lebt mag liebt hasst bevorzugt trinkt isst spricht kennt heißt studiert spielt "
    "möchte sagte findet"
)
"""Verbs whose subject is usually a person: a capitalised word before one of them counts as a name,
even at the beginning of a sentence."""

VERBS: Final = (
    PERSON_VERBS
    | COPULAS
    | word_set(
        "has had have uses used needs needed requires required runs supports contains built "
        "bought sold created wrote visited called founded leads led manages managed reports hired "
        "hosts depends deployed switched started stopped plans planned keeps takes took gets got "
        "gave gives makes made goes went comes came writes drives drove travels does did can will "
        "would should must may might could learned learnt learns tracks stores serves belongs "
        "born hat hatte nutzt verwendet benutzt braucht läuft kauft baut leitet gehört fährt "
        "kommt geht macht kann soll muss darf plant liest schreibt lernt besucht wurde wird"
    )
)

STARTERS: Final = word_set(
    "yes no not never always often sometimes usually currently now today yesterday tomorrow "
    "recently maybe perhaps also only just please note remember here there what where when "
    "why how all some many most every each both either neither other another once later soon "
    "still according instead however therefore moreover everything nothing something see ask "
    "call email meet tell send buy fix add use update check read write make run review "
    "prepare plan finish start stop schedule book remind contact talk give get let keep try "
    "ja nein nicht nie immer oft manchmal derzeit heute gestern morgen vielleicht auch nur "
    "bitte hier dort was wo wann warum wie jeder jede jedes viele einige manche"
)
"""Other words that often begin a sentence or a task and are not names."""

SHORT: Final = word_set(
    "ceo cto cfo coo cio vp svp hr pr qa pm am ok todo faq id ids url urls pdf cv phd msc bsc "
    "mba it tv diy asap fyi eta tbd utc gmt cet est usd eur gbp n/a"
)
"""Written in capitals, but not names."""

COMMON: Final = FUNCTION | VERBS | STARTERS | CALENDAR | {f"{day}s" for day in DAYS} | SHORT
"""Words that are never a name on their own."""

TITLES: Final = word_set("dr mr mrs ms prof st jr sr mt")
"""A full stop after one of them does not end a sentence."""

CONNECTORS: Final = word_set("de da di del della van von bin ibn al")
WHOLE_BEFORE_OF: Final = word_set(
    "bank university universities college institute school academy museum library ministry "
    "department office board court council house republic kingdom states city church cathedral "
    "association society federation union league bay cape gulf isle lake king queen prince duke"
)
"""Part of the name if ``of`` and a name follow: Bank of America, but Alice of Initech."""

AFTER_CONNECTOR: Final = word_set("der den de la")
"""Allowed after a connector inside a name: Hans van der Berg, Oscar de la Renta."""

GERMAN: Final = word_set(
    "und ist nicht ein eine einen einem mit für auf bei aus seit sich dem zum zur beim vom "
    "wird wurde auch aber oder arbeitet wohnt lebt mag liebt hasst bevorzugt trinkt isst "
    "spricht kennt heißt studiert spielt möchte nutzt verwendet benutzt braucht läuft kauft "
    "fährt kommt geht macht liest schreibt lernt besucht gehört sind waren haben kann muss"
)
"""Any of them in lower case marks a fact as German, where every noun has a capital."""

ROMANCE: Final = word_set(
    "el los las una que por para les dans avec pour une che il gli della sono uma não het een "
    "niet voor"
)
"""Any of them marks a fact as in a language where words like ``de`` do not join names."""


_ENDS: Final = frozenset('.!?:;…\n"“„«(。！？：')
"""After one of these a capital may only mark the start of a sentence."""

_HEADING: Final = 4
"""The fewest words of a sentence that can be a heading, with a capital in every word."""

_MYSELF: Final = frozenset(("i", "i'm", "i’m", "i've", "i’ve", "i'll", "i’ll", "i'd", "i’d"))
"""Always capitalised, so its capital proves nothing."""

_MAX_WORDS: Final = 6
"""The most words of a name; a longer run of capitalised words is a heading or a list."""


class Sentences(NamedTuple):
    text: str
    words: list[Span]
    low: list[str]
    starts: list[int]
    """Indexes of the words that begin a sentence."""

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield for each sentence the index of its first word and the one after its last."""
        yield from pairwise([*self.starts, len(self.words)])

    def written(self, place: int) -> str:
        start, end = self.words[place]
        return self.text[start:end]

    def gap(self, place: int) -> str:
        """Return the text between a word and the one before it."""
        return self.text[self.words[place - 1][1] : self.words[place][0]]


def cut(content: str) -> Sentences:
    text = plain(content)
    low = lowered(text)
    words = word_spans(text)
    found = Sentences(text, words, [low[start:end] for start, end in words], [0] if words else [])
    end = words[0][1] if words else 0
    for place, (start, next_end) in enumerate(words):
        # Most words are one space apart.
        if start - end > 1 or text[end:start] not in " ":
            gap = text[end:start]
            if place and not _ENDS.isdisjoint(gap) and not _abbreviated(found, place, gap):
                found.starts.append(place)
        end = next_end
    return found


def _abbreviated(sentences: Sentences, place: int, gap: str) -> bool:
    """Whether the full stop before a word belongs to an initial or a title."""
    before = sentences.written(place - 1)
    initial = len(before) == 1 and before.isupper()
    return gap == ". " and (initial or sentences.low[place - 1] in TITLES)


class _Run(NamedTuple):
    """Consecutive words with capitals, as written."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    """The text before each word; empty for the first."""
    begins: bool
    """Whether it begins a sentence."""
    german: bool


class Capitals:
    """Collects evidence text by text; :meth:`names` then decides which words are names."""

    def __init__(self) -> None:
        self._capital: Counter[str] = Counter()
        self._lower: Counter[str] = Counter()
        self._people: set[str] = set()
        self._runs: dict[_Run, None] = {}

    def read(self, sentences: Sentences) -> None:
        capital = [
            sentences.written(place) != word and not word[0].isdigit() and word not in _MYSELF
            for place, word in enumerate(sentences.low)
        ]
        lower = [word for word, high in zip(sentences.low, capital, strict=True) if not high]
        self._lower.update(lower)
        german = not GERMAN.isdisjoint(lower)
        connecting = not german and ROMANCE.isdisjoint(lower)
        for first, last in sentences.ranges():
            sentence = capital[first:last]
            if True not in sentence or self._is_heading(sentences.low[first:last], sentence):
                continue
            self._weigh(sentences.low[first:last], sentence)
            for begin, end in _runs(sentences, capital, first, last, connecting):
                words = tuple(sentences.written(place) for place in range(begin, end))
                gaps = ("", *(sentences.gap(place) for place in range(begin + 1, end)))
                self._runs[_Run(words, gaps, begin == first, german)] = None

    @staticmethod
    def _is_heading(words: list[str], capital: list[bool]) -> bool:
        """Whether small words are capitalised too, so that capitals prove nothing."""
        if len(words) < _HEADING:
            return False
        small = [high for word, high in zip(words, capital, strict=True) if word in FUNCTION]
        named = [high for word, high in zip(words, capital, strict=True) if word not in FUNCTION]
        return all(named) and True in small[capital[0] and words[0] in FUNCTION :]

    def _weigh(self, words: list[str], capital: list[bool]) -> None:
        self._capital.update(
            word for word, high in zip(words[1:], capital[1:], strict=True) if high
        )
        if capital[0] and len(words) > 1 and words[1] in PERSON_VERBS:
            self._capital[words[0]] += 1
            self._people.add(words[0])

    def names(self) -> list[str]:
        """Return the names as written, in the order in which they first occurred."""
        found = {name: None for run in self._runs if (name := self._name(run)) is not None}
        return [*found]

    def _name(self, run: _Run) -> str | None:
        first = 0
        while first < len(run.words) and self._is_no_part(run.words[first], run, first):
            first += 1
        words = run.words[first:]
        if not words or len(words) > _MAX_WORDS:
            return None
        if len(words) > 1:
            return words[0] + "".join(
                map("".join, zip(run.gaps[first + 1 :], words[1:], strict=True))
            )
        return words[0] if self._stands_alone(words[0], run.german) else None

    def _is_no_part(self, word: str, run: _Run, place: int) -> bool:
        """Whether the first word of a run is capitalised for another reason."""
        low = lowered(word)
        if low in COMMON:
            return low in SHORT or not word.isupper() or len(word) < 2  # US may be a part
        if word == low:  # de, van: left over because the word before was not part of the name
            return True
        return run.begins and place == 0 and self._lower[low] > self._capital[low]

    def _stands_alone(self, word: str, german: bool) -> bool:
        low = lowered(word)
        if len(word) < 2 or low in COMMON:
            return False
        if any(letter.isupper() for letter in word[1:]):  # GitHub, IBM
            return True
        if german:
            return low in self._people
        return 0 < self._capital[low] >= self._lower[low]


def _runs(
    sentences: Sentences, capital: list[bool], first: int, last: int, connecting: bool
) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalised words, including the small words of a name."""
    place = first
    while place < last:
        if not capital[place]:
            place += 1
            continue
        end = place + 1
        while (following := _next(sentences, capital, end, last, connecting)) is not None:
            end = following + 1
        yield place, end
        place = end


def _next(
    sentences: Sentences, capital: list[bool], place: int, last: int, connecting: bool
) -> int | None:
    """Return the index of the next word of a name, if the name continues."""
    words = sentences.low
    at = place
    if connecting and at < last and not capital[at] and _connects(words, at):
        at += 1
        if at < last and not capital[at] and words[at] in AFTER_CONNECTOR:
            at += 1
    if at >= last or not capital[at]:
        return None
    gaps = {sentences.gap(step) for step in range(place, at + 1)}
    return at if gaps <= {" ", ". "} else None


def _connects(words: list[str], place: int) -> bool:
    word = words[place]
    return word in CONNECTORS or (word == "of" and words[place - 1] in WHOLE_BEFORE_OF)


MAX_LABEL_WORDS: Final = 6
"""The most words of a label; longer text says more than how two things are related."""

MAX_NAME_CHARACTERS: Final = 100
"""The most characters of a name that is searched for; longer subjects are sentences."""

_BETWEEN: Final = re.compile(r"(?:(?P<of>['’]s) )?(?P<words>[^\W_]+(?:[ '’-][^\W_]+)*)")
"""The text allowed between two related names: words, without punctuation."""

_ASIDE: Final = frozenset('"“”„«»()')
"""Marks after which a sentence may not be about the subject."""


class Text(NamedTuple):
    fact_id: int
    subject: str
    content: str


class Triple(NamedTuple):
    source: str
    label: str
    target: str


class Derived(NamedTuple):
    """A graph; names are referred to by their index in ``names``."""

    names: list[tuple[str, str]]
    """Key and name."""
    mentions: list[tuple[int, int]]
    """Name and fact id."""
    relations: list[tuple[int, int, int, str]]
    """Name, name, fact id and label."""


def derive(
    texts: Sequence[Text],
    aliases: Iterable[str] = (),
    triples: Mapping[int, Sequence[Triple]] | None = None,
) -> Derived:
    """Return the graph of some facts; everything in it is in the order of the facts.

    Aliases are names that a person gave; they are entities only if they occur. Triples are a
    model's checked relations, by fact id.
    """
    read = triples or {}
    capitals = Capitals()
    for text in texts:
        capitals.read(cut(text.content))
    given = [text.subject for text in texts if text.subject != TODO]
    given += [name for said in read.values() for triple in said for name in (triple[0], triple[2])]
    names = _Names([*given, *aliases, *capitals.names()])
    graph = _Graph()
    for text in texts:
        graph.add(text, names, read.get(text.fact_id, ()))
    return graph.derived()


class _Names:
    def __init__(self, names: Iterable[str]) -> None:
        self._keys: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}
        for key in dict.fromkeys(map(name_key, names)):
            self._look_for(key)

    def _look_for(self, key: str) -> None:
        if not 1 < len(key) <= MAX_NAME_CHARACTERS or key in COMMON:
            return
        spans = word_spans(key)
        # A full stop at the end may be the end of the sentence.
        if not spans or spans[0][0] > 0 or key[spans[-1][1] :] not in ("", "."):
            return
        core = key[: spans[-1][1]]
        if core.isdigit() or (core in self._keys and core != key):
            return
        self._keys[core] = key
        lengths = self._lengths.setdefault(key[slice(*spans[0])], [])
        if len(spans) not in lengths:
            lengths.append(len(spans))
            lengths.sort(reverse=True)

    def found(self, sentences: Sentences) -> Iterator[tuple[int, int, str]]:
        """Yield ``(first word, end, key)`` of the longest name at each place; ``end`` exclusive."""
        low: str | None = None
        words, count = sentences.words, len(sentences.words)
        place = 0
        while place < count:
            for length in self._lengths.get(sentences.low[place], ()):
                end = place + length
                if end > count:
                    continue
                if low is None:
                    low = lowered(sentences.text)
                key = self._keys.get(low[words[place][0] : words[end - 1][1]])
                if key is not None:
                    yield place, end, key
                    place = end
                    break
            else:
                place += 1


class _Graph:
    """Numbers names in the order in which they occur, and collects mentions and relations."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._spellings: list[Counter[str]] = []
        self._mentions: list[tuple[int, int]] = []
        self._relations: list[tuple[int, int, int, str]] = []

    def add(self, text: Text, names: _Names, triples: Sequence[Triple]) -> None:
        sentences = cut(text.content)
        subject = None if text.subject == TODO else self._place(text.subject)
        found: list[tuple[int, int, int]] = []
        for begin, end, key in names.found(sentences):
            written = sentences.text[sentences.words[begin][0] : sentences.words[end - 1][1]]
            found.append((begin, end, self._place(written, key)))
        said = [(self._place(one.source), one.label, self._place(one.target)) for one in triples]
        ends = [end for source, _, target in said for end in (source, target)]
        every = dict.fromkeys(
            [*([] if subject is None else [subject]), *(f[2] for f in found), *ends]
        )
        if not every:
            return
        self._mentions += [(place, text.fact_id) for place in every]
        self._relate(text.fact_id, [*every], [*_labelled(sentences, found, subject), *said])

    def _relate(self, fact_id: int, every: list[int], labelled: list[tuple[int, str, int]]) -> None:
        """Relate the first name, the subject, to the others, with a label if there is one."""
        anchor = every[0]
        known = dict.fromkeys(one for one in labelled if one[0] != one[2])
        linked = {
            end
            for source, _, target in known
            for end in (source, target)
            if anchor in (source, target)
        }
        mentioned = [(anchor, MENTIONS, one) for one in every[1:] if one not in linked]
        self._relations += [
            (source, target, fact_id, label) for source, label, target in [*known, *mentioned]
        ]

    def _place(self, name: str, key: str | None = None) -> int:
        key = name_key(name) if key is None else key
        place = self._places.setdefault(key, len(self._places))
        if place == len(self._spellings):
            self._spellings.append(Counter())
        spelling = " ".join(plain(name).split())
        # A name is also found without its final full stop, but that is not its spelling.
        if name_key(spelling) == key:
            self._spellings[place][spelling] += 1
        return place

    def derived(self) -> Derived:
        names = [
            (key, _spelling(self._spellings[place]) if self._spellings[place] else key)
            for key, place in self._places.items()
        ]
        return Derived(names, self._mentions, self._relations)


def _spelling(spellings: Counter[str]) -> str:
    """Return the most frequent spelling, preferring those with a capital."""
    return min(spellings, key=lambda name: (name == name.lower(), -spellings[name], name))


def _labelled(
    sentences: Sentences, found: Sequence[tuple[int, int, int]], subject: int | None
) -> Iterator[tuple[int, str, int]]:
    """Yield the relations that sentences begin with."""
    for first, last in sentences.ranges():
        inside = [one for one in found if first <= one[0] < last]
        if not inside:
            continue
        begin, end, name = inside[0]
        if all(sentences.low[place] in ARTICLES for place in range(first, begin)):
            if len(inside) > 1 and not _belongs_to_more(sentences, inside[1], last):
                gap = slice(sentences.words[end - 1][1], sentences.words[inside[1][0]][0])
                label = _label(sentences.text[gap])
                if label is not None:
                    yield name, label, inside[1][2]
        elif subject is not None and all(one[2] != subject for one in inside):
            label = _said_of_subject(sentences, first, begin)
            if label is not None and not _belongs_to_more(sentences, inside[0], last):
                yield subject, label, name


def _belongs_to_more(sentences: Sentences, found: tuple[int, int, int], last: int) -> bool:
    """Whether a name only modifies something else: Alice's boss, a GitHub account."""
    begin, end, _ = found
    if sentences.text.startswith(POSSESSIVE, sentences.words[end - 1][1]):
        return True
    if end == last or sentences.low[begin - 1] not in ARTICLES:
        return False
    return sentences.gap(end) == " " and sentences.low[end] not in COMMON


def _said_of_subject(sentences: Sentences, first: int, begin: int) -> str | None:
    """Return the words before a name if they are about the subject: "(He) works at Globex"."""
    if first > 0 and not _ASIDE.isdisjoint(sentences.gap(first)):
        return None  # after a quotation or in brackets: about the text before
    verb = first + (sentences.low[first] in PERSONAL)
    if sentences.low[first] == "the" and sentences.low[first + 1] == "user":
        verb = first + 2
    if verb >= begin:
        return None
    low = sentences.low[verb]
    if low not in VERBS:
        # Another capital may begin an unknown name, which the sentence is about.
        capital = verb == first and sentences.written(verb) != low
        if capital or low in COMMON:
            return None
    start, stop = sentences.words[verb][0], sentences.words[begin][0]
    return _label(" " + sentences.text[start:stop])


def _label(between: str) -> str | None:
    """Return the words between two names as a label, if they relate them."""
    if not between.startswith((" ", "'", "’")) or not between.endswith(" "):
        return None
    match = _BETWEEN.fullmatch(between.strip())
    if match is None or has_unspaced(between):
        return None
    words = lowered(match["words"]).split()
    while words and words[-1] in ARTICLES:
        words.pop()
    if match["of"] is not None:
        while words and words[-1] in COPULAS:
            words.pop()
    if not 0 < len(words) <= MAX_LABEL_WORDS or not BREAKS.isdisjoint(words):
        return None
    return None if FUNCTION.issuperset(words) else " ".join(words)
