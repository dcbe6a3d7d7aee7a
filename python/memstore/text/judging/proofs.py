"""Proofs that a newer claim replaces an older one: each names the change, and adds nothing."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    ADDS,
    ARTICLE,
    ATTRIBUTE,
    BE,
    CHANGES,
    CLOSES,
    CODE,
    CONTRASTS,
    CORRECTS,
    DATE,
    DAY,
    DENIES,
    DISPOSES,
    ENDS,
    FINITE,
    FROM,
    FUNCTION,
    HAVE,
    HOME,
    INDEFINITE,
    JOINS,
    KIN,
    LEAVES,
    MANY,
    MEASURES,
    MONTH,
    NAME,
    NOW,
    NUMERIC,
    OF_THINGS,
    ONE,
    PAST,
    PREPOSITION,
    QUALIFIER,
    REGION,
    RENAMES,
    REPLACES,
    SEVERAL,
    TEMPORARY,
    TO,
    UNIQUE,
    UNIT,
    UNSPACED,
    USER,
    USES,
    VERB,
    VERSION,
    WORD,
    WORK,
)
from memstore.text.judging.pair import (
    CALLED,
    TYPED,
    head,
    is_value,
    keys,
    kinds,
    of_one_type,
    roles,
    telling,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore._kernel.claims import Reading, Word
    from memstore.text.judging.pair import Pair

MAX_VALUE: Final = 3
"""The most telling words of a value in a proof."""

MAX_AGENT: Final = 1
"""The most telling words for who made a change: the bank."""

NOBODY: Final = frozenset("who niemand wer quien qui chi quem wie".split())
"""Words before a verb that name nobody who made a change."""

NO_PLACE: Final = frozenset(
    "about by for against like aus über durch gegen für sobre por para contra par pour contre "
    "door voor over di".split()
)
"""Prepositions before what is no place of a thing that may move: is about Bremen."""

FROMS: Final = frozenset("from von vom de du des da dal van".split())
"""Words before what was, at the end of a phrase such as "moved from"."""

TOWARDS: Final = ("に", "へ")
"""Particles at the beginning of a Japanese verb of change."""

TWO_VALUES: Final = 2
"""The most values of a clause that differ together: Tuesdays at 10, Wednesdays at 14:00."""


def is_clean(pair: Pair) -> bool:
    """Whether nothing stands in the way of a proof: no other sign, holder or condition."""
    return _is_plain(pair) and _begin_alike(pair)


def _is_plain(pair: Pair) -> bool:
    """Whether no other sign, holder or case stands in the way, wherever the words stand."""
    either = pair.old.roles | pair.new.roles
    return (
        pair.same_signs
        and not _is_taken_back(pair.new)
        and not either & (ADDS | TEMPORARY)
        and not _tells_event(pair)
        and not (roles(pair.lost) | roles(pair.gained)) & QUALIFIER
        and not _gains_day(pair)
        and not _tells_otherwise(pair)
        and pair.about_own
    )


OTHERWISE: Final = frozenset(
    "will shall won't each apiece then jeweils damals chacun chacune alors cada entonces "
    "can could may kann können darf gern gerne lieber peut peuvent puede pueden que qu".split()
)
"""Words that the newer claim alone has where it says what will be, or was, or holds for each; what
one can or likes to do; or that only this is left: ne boit plus que du vin."""

HAD: Final = frozenset(
    "had hatte hatten avait avaient estaba estaban tenía tenían había habían tinha tinham "
    "aveva avevano".split()
)
"""Verbs that tell what was, or came before what was."""

IMPERFECT: Final = ("aba", "aban", "ía", "ían", "ait", "aient", "te")
"""Ends of a verb of the older claim where the newer one tells with it what was: ya no fumaba."""


OPENING: Final = frozenset(
    "open opens opened held öffnet öffnen geöffnet offen abre abren abierto abierta ouvre ouvrent "
    "ouvert ouverte".split()
)
"""Words for what is open on some days: another day may be one more."""


def _tells_otherwise(pair: Pair) -> bool:
    """Whether the newer claim alone says what will be, was or may be, or what holds for each."""
    known = {word.text.lower() for word in pair.old.words}
    words = {word.text.lower() for word in pair.new.words}
    if (OTHERWISE | HAD) & (words - known):
        return True
    before = keys(pair.old.words)
    return any(
        pair.forms[id(word)] in before and form.endswith(IMPERFECT) and form not in known
        for word in pair.new.words
        if (form := word.text.lower())
    )


def _tells_past(pair: Pair) -> bool:
    """Whether only the newer claim tells what was, and does not correct the older one."""
    return bool(pair.new.roles & PAST & ~pair.old.roles) and not pair.marks & CORRECTS


def _is_taken_back(reading: Reading) -> bool:
    """Whether it ends with what takes back the rest: that is wrong, das stimmt nicht.

    "I was wrong" takes back what was said before.
    """
    words = reading.words
    clause = words[max((at for at in reading.breaks if at < len(words)), default=0) :]
    own = any(word.text.lower() in ("i", "ich", "je") for word in clause)
    return bool(clause and clause[-1].roles & CORRECTS and len(clause) < len(words)) and not own


def _gains_day(pair: Pair) -> bool:
    """Whether only the newer claim names a day: no longer, as it is Friday."""
    return bool(roles(pair.gained) & DAY) and not pair.old.roles & DAY


def _gains_date(pair: Pair) -> bool:
    """Whether only the newer claim names a day or a year."""
    return DATE in kinds(pair.gained) and DATE not in kinds(pair.old.words)


def _tells_event(pair: Pair) -> bool:
    """Whether the older claim tells an event; "the invoice was due" may be corrected."""
    past = [word for word in pair.old.words if word.roles & PAST]
    if not pair.marks & CORRECTS:
        return bool(past)
    again = {word.stem for word in pair.new.words if word.roles & PAST}
    return not all(word.roles & BE and word.stem in again for word in past)


def _begin_alike(pair: Pair) -> bool:
    """Whether no condition comes before the holder, where nothing tells it from the holder."""
    if not pair.new.is_unspaced:
        return True
    first = [
        next((w.key for w in side.words if not w.is_dropped), 0) for side in (pair.old, pair.new)
    ]
    return first[0] == first[1]


def strikes(pair: Pair) -> bool:
    """Whether it strikes the old value: not X but Y, Y instead of X."""
    if (pair.old.roles | pair.new.roles) & TEMPORARY or not _begin_alike(pair):
        return False
    if _gains_date(pair) or _tells_otherwise(pair) or _is_taken_back(pair.new):
        return False
    return pair.same_signs and any(_replaces_struck(pair, *cut) for cut in _struck(pair.new))


def touches_struck(pair: Pair) -> bool:
    """Whether it strikes something that the older claim says."""
    before = keys(telling(pair.old))
    return any(
        (gone := pair.new_keys(word for word in struck if word.is_telling))
        and gone <= before
        and pair.new_keys(word for word in kept if word.is_telling) - before
        for kept, struck in _struck(pair.new)
    )


def _replaces_struck(pair: Pair, kept: Sequence[Word], struck: Sequence[Word]) -> bool:
    old = keys(telling(pair.old))
    gone = pair.new_keys(word for word in struck if word.is_telling)
    left = [word for word in kept if word.is_telling]
    new = [word for word in left if pair.forms[id(word)] not in old]
    return (
        bool(gone)
        and gone <= old
        and 0 < len(new) <= MAX_VALUE
        and old - pair.new_keys(left) <= gone
        and {*_prepositions(struck)} <= {*_prepositions(pair.old.words)}
        and not roles(kept) & (DENIES | KIN) & ~pair.old.roles
        and not roles(new) & QUALIFIER
        and _together(left, new)
        and not (_prepositions(struck) and len(new) > len(gone) and not pair.new.is_unspaced)
        and _prepositions(kept) == _prepositions(pair.old.words)
    )


def _together(words: Sequence[Word], part: Sequence[Word]) -> bool:
    places = [place for place, word in enumerate(words) if word in part]
    return places[-1] - places[0] == len(places) - 1


def _prepositions(words: Sequence[Word]) -> list[str]:
    found = (word for word in words if word.roles & PREPOSITION and not word.is_telling)
    return sorted(str(word.roles & (FROM | TO) or word.stem) for word in found)


def _struck(new: Reading) -> Iterator[tuple[list[Word], list[Word]]]:
    """Yield what is left of a claim and what it strikes, for each way to read it."""
    words = list(new.words)
    breaks = {*new.breaks, len(words)}
    for place, word in enumerate(words):
        if word.roles & REPLACES and not (place and words[place - 1].roles & REPLACES):
            if new.is_unspaced or new.is_free:
                yield from _backwards(words, place)
            start = _after(words, place, REPLACES)
            yield from _forwards(words, place, start, breaks)
        elif word.roles & ENDS:
            if place in breaks and not new.is_unspaced:  # no longer to Sentry
                yield from _forwards(words, place, _after(words, place, ENDS), breaks)
        elif word.roles & DENIES:
            start = _after(words, place, DENIES)
            turn = next((i for i in range(start, len(words)) if words[i].roles & CONTRASTS), None)
            if turn is not None:
                yield words[:place] + words[turn + 1 :], words[start:turn]
            if place in breaks or (place and words[place - 1].roles & CONTRASTS):
                yield from _forwards(words, place, start, breaks)
        elif word.roles & CONTRASTS and new.is_unspaced:
            yield from _backwards(words, place)


def _after(words: Sequence[Word], place: int, role: int) -> int:
    while place < len(words) and words[place].roles & role:
        place += 1
    return place


def _forwards(
    words: list[Word], place: int, start: int, breaks: set[int]
) -> Iterator[tuple[list[Word], list[Word]]]:
    """What is struck follows: up to a comma or the end, or up to a preposition."""
    end = min(stop for stop in breaks if stop > start) if start < len(words) else start
    yield words[:place] + words[end:], words[start:end]
    for stop in range(start + 1, end):
        if words[stop].roles & PREPOSITION:
            yield words[:place] + words[stop:], words[start:stop]
            return


def _backwards(words: list[Word], place: int) -> Iterator[tuple[list[Word], list[Word]]]:
    """What is struck stands before: back to a particle."""
    start = place
    while start and not words[start - 1].roles & (BE | PREPOSITION):
        start -= 1
    yield words[:start] + words[place + 1 :], words[start:place]


def ends(pair: Pair) -> bool:
    """Whether it says the same words and that this has ended."""
    return (
        bool(pair.marks & ENDS)
        and not pair.lost
        and not pair.gained
        and (pair.same_prepositions or _only_denies_article(pair))
        and not pair.old.roles & DENIES
        and not any(word.roles & BE and word.roles & PAST for word in pair.new.words)
        and pair.shared > 0
        and not pair.says_again
        and is_clean(pair)
    )


def _only_denies_article(pair: Pair) -> bool:
    """Whether "des" became "de", as after a French denial."""
    found = pair.side_by_side
    return (
        len(found.lost_prepositions) == len(found.gained_prepositions)
        and all(word.roles & INDEFINITE for word in found.lost_prepositions)
        and all(word.roles & FROM for word in found.gained_prepositions)
    )


def disposes(pair: Pair) -> bool:
    """Whether the holder no longer has what the older claim says it has."""
    return (
        bool(pair.marks & DISPOSES)
        and bool(pair.old.roles & HAVE)
        and all(word.roles & (HAVE | VERB | ONE) for word in pair.lost)
        and all(word.roles & MONTH for word in pair.gained)
        and not _indefinite_after(pair.new, DISPOSES)
        and not pair.side_by_side.lost_prepositions
        and pair.shared > 0
        and not pair.old.roles & DENIES
        and is_clean(pair)
    )


def _indefinite_after(reading: Reading, role: int) -> bool:
    return any(
        one.roles & role and next_one.roles & INDEFINITE
        for one, next_one in pairwise(reading.words)
    )


def moves_from_to(pair: Pair) -> bool:
    """Whether it names the old value and the new one: from X to Y."""
    if not pair.marks & (CHANGES | LEAVES) or not is_clean(pair) or _spans(pair.old):
        return False
    if (pair.old.roles | pair.new.roles) & DENIES or not _ends_with_value(pair):
        return False
    if any(word.stem in NOBODY for word in pair.new.words[: pair.new.head]):
        return False
    old = telling(pair.old)
    kept = keys(telling(pair.new))
    by_whom, before = agent(pair), head(pair.old)
    for gone, came in _from_to(pair.new):
        left = [word for word in old if word.key not in gone]
        extra = [word for word in pair.gained if word.key not in came and word not in by_whom]
        if (
            gone
            and gone <= keys(old)
            and not _stays(pair, gone)
            and 0 < len(came) <= MAX_VALUE
            and _is_of_kind(came, gone, pair)
            and all(
                word.key in kept or _is_verb(word) or (word.roles & ATTRIBUTE and word in before)
                for word in left
                if not _is_hour_of(word, gone, came, pair)
            )
            and not any(not _is_verb(word) for word in extra)
            and all(
                word.roles & (FROM | TO) or word in by_whom
                for word in pair.side_by_side.gained_prepositions
            )
            and all(_leads_to(pair.old, word, gone) for word in pair.side_by_side.lost_prepositions)
        ):
            return True
    return False


def _stays(pair: Pair, gone: set[int]) -> bool:
    """Whether the value stands behind a word that is of no place: about, by, for, from."""
    if pair.old.is_unspaced:
        return False
    said = roles(word for word in pair.old.words if word.is_telling)
    if not _moves(pair) and said & (ONE | VERB | USES | HAVE | MEASURES | HOME):
        return False
    return any(
        (word.roles & FROM or word.stem in NO_PLACE) and _leads_to(pair.old, word, gone)
        for word in pair.old.words
        if word.roles & PREPOSITION
    )


def _is_of_kind(came: set[int], gone: set[int], pair: Pair) -> bool:
    """Whether the new value ends as the old one does, or with a word of the older claim.

    "Node 20 locally" does not end as "Node 18" does.
    """
    last = [word for word in pair.new.words if word.key in came][-1]
    ends = kinds(word for word in pair.old.words if word.key in gone)
    return (
        len(came) == 1
        or last.kind in ends
        or bool(last.roles & UNIT)
        or last.key in keys(pair.old.words)
    )


def _moves(pair: Pair) -> bool:
    """Whether the newer claim may tell that somebody went to live elsewhere."""
    return any(word.roles & HOME and word.roles & (CHANGES | LEAVES) for word in pair.new.words)


def agent(pair: Pair) -> Sequence[Word]:
    """Return the words for who made the change: the bank lowered the limit.

    They are all that comes before the verb, and what the older claim is about comes after it.
    """
    words, verb = pair.new.words, pair.new.head
    before = words[:verb]
    own = before[1:] if before and before[0].roles & ARTICLE else before
    topic = keys(head(pair.old))
    known = pair.new_keys(own) & keys(pair.old.words)
    is_one = 0 < len(own) <= MAX_AGENT and all(word.is_telling for word in own)
    is_told_after = bool(topic) and topic <= pair.new_keys(words[verb:])
    acts = bool(roles(words[verb : verb + 1]) & (CHANGES | LEAVES | FINITE))
    is_plain = not any(place <= verb for place in pair.new.breaks) and not (
        roles(before) & PREPOSITION
    )
    return before if all((is_one, is_told_after, acts, is_plain, not known)) else ()


def _ends_with_value(pair: Pair) -> bool:
    """Whether what the older claim says is over once its value is another one.

    Who moved from Bremen to Kiel may work or sing in Bremen still. "The blog" is nobody.
    """
    kept = keys(telling(pair.new))
    before = roles(word for word in pair.old.words if word.key not in kept)
    leads = any(word.roles & PREPOSITION for word in pair.side_by_side.lost_prepositions)
    if before & MANY or (before & WORK and not leads):  # teaches Python
        return False
    if not _moves(pair) or before & HOME:
        return True
    return bool(pair.old.roles & ARTICLE and (before & USES or not before & (ONE | VERB)))


def _is_hour_of(word: Word, gone: set[int], came: set[int], pair: Pair) -> bool:
    """Whether a word is the hour of a day that is exchanged: Tuesdays at 5 pm."""
    before = roles(w for w in pair.old.words if w.key in gone)
    after = roles(w for w in pair.new.words if w.key in came)
    is_hour = word.kind == DATE or bool(word.roles & UNIT)
    return bool(before & after & DAY) and is_hour and not word.roles & DAY


def _leads_to(reading: Reading, preposition: Word, value: set[int]) -> bool:
    """Whether a preposition stands before a value; in scripts without blanks it may follow."""
    if reading.is_unspaced:
        return True
    words = [word for word in reading.words if not word.is_dropped]
    following = words[words.index(preposition) + 1 :]
    return bool(following) and following[0].key in value


def _is_verb(word: Word) -> bool:
    return bool(word.roles & (ONE | MEASURES | HAVE | VERB | MANY)) and not word.roles & ATTRIBUTE


def _from_to(new: Reading) -> Iterator[tuple[set[int], set[int]]]:
    """Yield the keys of X and Y in "from X to Y"; in Japanese the particles follow."""
    words = new.words
    marks = [i for i, word in enumerate(words) if _begins(word) or _turns(word)]
    for start, turn in pairwise(marks):
        if not (_begins(words[start]) and _turns(words[turn])):
            continue
        changed = any(word.roles & (CHANGES | LEAVES) for word in words[:start])
        if any(_goes_on(word, changed=changed) for word in words[turn + 1 :]):
            continue
        if new.is_unspaced and words[start].stem == "から":
            first = next((i for i in range(start, 0, -1) if words[i - 1].roles & BE), 0)
            yield _telling_keys(words[first:start]), _telling_keys(words[start + 1 : turn])
        else:
            end = next(
                (i for i in range(turn + 1, len(words)) if words[i].roles & PREPOSITION), len(words)
            )
            yield _telling_keys(words[start + 1 : turn]), _telling_keys(words[turn + 1 : end])


def _goes_on(word: Word, *, changed: bool) -> bool:
    """Whether more follows than the new value: and back, but reverted. "o" is an article, too.

    Where the verb comes last, it is one of change itself.
    """
    more = JOINS | CONTRASTS | CLOSES | (CHANGES | LEAVES | CORRECTS) * changed
    return bool(word.roles & more) and not word.roles & ARTICLE


def _spans(old: Reading) -> bool:
    """Whether it says itself from where to where: runs from Bremen to Kiel."""
    places = [i for i, word in enumerate(old.words) if _begins(word)]
    return any(
        any(_turns(word) for word in takewhile(lambda word: not word.roles & FINITE, old.words[i:]))
        for i in places
    )


def _begins(word: Word) -> bool:
    """Whether it leads to what was: "from", also as the last word of "moved from"."""
    return bool(word.roles & FROM or (word.roles & (CHANGES | LEAVES) and word.stem in FROMS))


def _turns(word: Word) -> bool:
    """Whether it leads to what is, or follows it as a verb with its particle: に移行."""
    return bool(word.roles & TO or (word.roles & CHANGES and word.text.startswith(TOWARDS)))


def _telling_keys(words: Sequence[Word]) -> set[int]:
    return keys(word for word in words if word.is_telling)


def moves_home(pair: Pair) -> bool:
    """Whether somebody who lived somewhere moved to another place of the same kind."""
    moved = [word for word in pair.new.words if word.roles & CHANGES and word.roles & HOME]
    if not moved or not pair.old.roles & HOME or not is_clean(pair):
        return False
    before = [word for word in telling(pair.old) if not word.roles & HOME]
    after = [word for word in pair.gained if not word.roles & HOME]
    return (
        all(map(_is_place, before))
        and all(map(_is_place, after))
        and 0 < len(after) <= 2
        and 0 < len(before) <= 2
        and not keys(before) & keys(pair.new.words)
        and bool(roles(before) & REGION) == bool(roles(after) & REGION)
        and all(word.roles & (TO | FROM) for word in pair.side_by_side.gained_prepositions)
        and len(pair.side_by_side.lost_prepositions) <= 1
        and len(pair.side_by_side.gained_prepositions) <= 1
        and not any(word.kind in TYPED for word in pair.new.words)
    )


def _is_place(word: Word) -> bool:
    return word.kind in (NAME, UNSPACED) or (word.kind == WORD and word.text[:1].isupper())


def leaves(pair: Pair) -> bool:
    """Whether it says that somebody left where the older claim says that they work."""
    if not pair.marks & LEAVES or not pair.old.roles & WORK or not is_clean(pair):
        return False
    if any(word.roles & LEAVES and word.roles & HOME for word in pair.new.words):
        return False  # who moved from Bremen may work there still
    value = [word for word in telling(pair.old) if not word.roles & (ONE | WORK)]
    gone = keys(value)
    if not gone or any(word.kind in TYPED for word in pair.gained):
        return False
    words = [word for word in pair.new.words if word.is_telling or word.roles & (LEAVES | USER)]
    places = [place for place, word in enumerate(words) if word.roles & LEAVES]
    size = len(gone)
    named = any(
        pair.new_keys(words[place + 1 : place + 1 + size]) == gone
        or (
            pair.new_keys(words[max(0, place - size) : place]) == gone
            and any(word.roles & USER for word in words[:place])
            and not any(word in pair.gained for word in words[place - size - 1 : place - size])
        )
        for place in places
    )
    return (
        named
        and len(pair.side_by_side.gained_prepositions) <= 1
        and all(_is_place(word) or _is_verb(word) or word.roles & WORK for word in pair.gained)
    )


def transfers(pair: Pair) -> bool:
    """Whether it gives a value of the same type to the same noun, with a word of change."""
    if not pair.marks & (CHANGES | NOW) or not is_clean(pair):
        return False
    if not pair.marks & CHANGES and _tells_past(pair):
        return False
    if pair.marks & CHANGES and any(_is_verb(word) and word.is_telling for word in pair.common):
        return False  # costs 40 euros painted
    if roles(pair.gained) & DAY and any(w.text.lower() in OPENING for w in pair.old.words):
        return False  # also on Saturdays
    if _changes_times(pair):
        return True
    old = [word for word in telling(pair.old) if is_value(word)]
    new = [word for word in telling(pair.new) if is_value(word)]
    before = [word for word in old if word.kind in TYPED]
    after = [word for word in new if word.kind in TYPED]
    if not before or not after or keys(before) == keys(after):
        return False
    kind = of_one_type([w for w in before if not w.roles & MONTH] or before,
                       [w for w in after if not w.roles & MONTH] or after)  # fmt: skip
    gone, came = keys(before) - keys(after), keys(after) - keys(before)
    days = [
        roles(w for w in side if w.key in only) & DAY
        for side, only in ((before, gone), (after, came))
    ]
    if kind is None or len(before) != len(after) or bool(days[0]) != bool(days[1]):
        return False  # "Saturday after 6 pm", "from Saturday to Sunday"
    nouns = [word for word in pair.common if not is_value(word)]
    if not pair.marks & CHANGES and _changes_verb(pair):
        return False
    return (
        (
            any(not _is_verb(word) for word in nouns)
            or _counts_the_same(pair)
            or _is_attribute(pair)
            or says_when(pair)
        )
        and all(
            is_value(word) or _is_verb(word) or word.roles & CHANGES
            for word in (*pair.lost, *pair.gained)
        )
        and all(binds_value(pair.old, word) for word in pair.side_by_side.lost_prepositions)
        and all(
            word.roles & (TO | FROM) and binds_value(pair.new, word)
            for word in pair.side_by_side.gained_prepositions
        )
        and not (pair.old.roles & SEVERAL and pair.old.roles & INDEFINITE)
        and not pair.old.roles & MANY & roles(nouns)
    )


def _changes_verb(pair: Pair) -> bool:
    """Whether each claim has a verb of its own, as of kept and deployed."""
    return any(map(_is_verb, pair.lost)) and any(map(_is_verb, pair.gained))


def binds_value(reading: Reading, preposition: Word) -> bool:
    """Whether a number or a date follows a preposition, or a name with its version.

    In scripts without blanks it may stand before it.
    """
    words = [word for word in reading.words if not word.is_dropped]
    place = words.index(preposition)
    beside = words[max(0, place - 1) : place] if reading.is_unspaced else []
    following = words[
        place + 1 : place
        + (3 if words[place + 1 : place + 2] and words[place + 1].kind == NAME else 2)
    ]
    return any(map(is_value, [*following, *beside]))


def _counts_the_same(pair: Pair) -> bool:
    """Whether both say how many the subject has, or takes: six members, eight members."""
    counted = any(word.roles & UNIT for word in pair.common)
    return counted and bool(pair.old.roles & (HAVE | MEASURES)) and pair.about_subject


def says_when(pair: Pair) -> bool:
    """Whether the older claim says of the subject only when it is."""
    words = pair.old.words
    return (
        bool(pair.old.roles & (BE | ONE))
        and pair.old.is_about_subject
        and bool(pair.new.roles & USER)
        and all(word.roles & USER or not word.is_telling for word in words[: pair.old.head])
        and all(is_value(word) or _is_verb(word) for word in telling(pair.old))
        and DATE in kinds(telling(pair.old))
    )


def _is_attribute(pair: Pair) -> bool:
    """Whether the subject itself is an attribute, of which the older claim says what it is."""
    subject = [word for word in pair.old.words[: pair.old.head] if word.roles & USER]
    return bool(pair.old.roles & BE and roles(subject) & ATTRIBUTE and pair.new.is_about_subject)


def says_now(pair: Pair) -> bool:
    """Whether it says "now" in the same frame, with a verb or a noun that has one value."""
    if not pair.marks & (NOW | CORRECTS) or pair.values is None or not is_clean(pair):
        return False
    if _tells_past(pair):
        return False
    old, new = pair.values
    frame = pair.frame_roles
    if pair.is_one_of_several and not pair.marks & CORRECTS:
        return False
    one = frame & ONE or (frame & ATTRIBUTE and pair.old.roles & (BE | HAVE))
    if frame & USES and len(pair.frame) == 1:
        return False  # a person uses several things, though a project has one queue
    several = frame & (MANY | SEVERAL)
    if pair.marks & CORRECTS and pair.frame and not pair.old.roles & INDEFINITE:
        one, several = 1, frame & MANY  # what was said is taken back, whatever it was
    return (
        bool(one)
        and not several
        and len(old) == len(new) <= MAX_VALUE
        and (len(old) == 1 or any(word.kind != WORD for word in (*old, *new)))
        and pair.same_prepositions
        and not pair.denied
        and _alike(old, new)
        and bool(roles(old) & REGION) == bool(roles(new) & REGION)
    )


def renames(pair: Pair) -> bool:
    """Whether it changes an attribute to another name: the tag was renamed to Y."""
    if renames_by_name(pair):
        return True
    if not pair.marks & CHANGES or pair.values is None or not is_clean(pair):
        return False
    old, new = pair.values
    found = pair.side_by_side
    return (
        bool(pair.frame_roles & ATTRIBUTE and pair.old.roles & BE)
        and not pair.frame_roles & (MANY | SEVERAL)
        and not pair.denied
        and not found.lost_prepositions
        and bool(found.gained_prepositions)
        and all(word.roles & TO for word in found.gained_prepositions)
        and len(old) == len(new) <= MAX_VALUE
        and kinds(old) == kinds(new)
        and not kinds(old) & TYPED
        and keys(pair.frame) <= keys(pair.new.words)
    )


def renames_by_name(pair: Pair) -> bool:
    """Whether the older claim says what something is called, and that was renamed: X, to Y."""
    if not pair.marks & RENAMES or pair.denied or not _is_plain(pair):
        return False
    words, old = pair.new.words, pair.old.words
    value = [word for word in old[pair.old.head :] if _names(word) and word.stem not in CALLED]
    named = [place for place, word in enumerate(words) if _names(word)]
    gone = [words[place] for place in named[: len(value)]]
    places = named[len(value) :]
    came = [words[place] for place in places]
    begins = not pair.new.is_unspaced or named[:1] == [0]  # else a condition may come first
    turned = bool(value and places and begins) and any(
        word.roles & (FINITE | CHANGES | RENAMES | TO)
        for word in words[named[len(value) - 1] + 1 : places[0]]
    )
    names = roles(old[: pair.old.head]) & ATTRIBUTE and pair.old.roles & BE
    called = any(word.roles & ONE and word.stem in CALLED for word in old)
    return (
        bool(names or called)
        and turned
        and keys(gone) == keys(value)
        and len(came) <= MAX_VALUE
        and all(word in came for word in pair.gained if word not in gone)
        and not any(word.roles & MANY for word in old)
        and all(word.roles & TO for word in words if word.roles & PREPOSITION)
    )


def _names(word: Word) -> bool:
    """Whether a word may be of a name, that of the subject as well."""
    tells = word.is_telling or word.roles & USER
    other = CHANGES | RENAMES | ONE | FUNCTION | FINITE | PREPOSITION
    return bool(tells and not word.roles & other)


def has_other_values(pair: Pair) -> bool:
    """Whether one or two numbers, days or times after the verb differ, and nothing else.

    What the newer claim says beyond that in another clause is a detail: on Mondays at 9, as asked.
    """
    changed = [(old, new) for old, new in pair.regions if old]
    if pair.denied or pair.new.is_unspaced or pair.narrows or not pair.shared:
        return False
    if not 0 < len(changed) <= TWO_VALUES or not _are_of_one_type(changed):
        return False
    before = pair.old.words[: pair.old.head]
    if pair.old.roles & (SEVERAL | PAST) or any(w in before for old, _ in changed for w in old):
        return False
    values = [word for _, new in changed for word in new]
    said = {clause for word, clause in pair.clauses if word in values}
    detail = {c for word, c in pair.clauses if word in pair.gained and word not in values}
    head = {c for word, c in pair.clauses if word in pair.side_by_side.new_head}
    if len(changed) < TWO_VALUES and (not detail or pair.side_by_side.lost_prepositions):
        return False
    return not said & (detail | head)


def _are_of_one_type(changed: Sequence[tuple[Sequence[Word], Sequence[Word]]]) -> bool:
    """Whether each value gives way to one of its type; after a day, 10 and 14:00 are times."""
    if not all(new for _, new in changed):
        return False
    if all(of_one_type(old, new) in TYPED for old, new in changed):
        return True
    (old, new), *times = changed
    return kinds(old) == kinds(new) == {DATE} and all(
        kinds(one) | kinds(other) <= {NUMERIC, DATE} and not one[0].unit and not other[0].unit
        for one, other in times
    )


def _changes_times(pair: Pair) -> bool:
    """Whether a day and a time differ, and nothing else, but for "now"."""
    return bool(
        pair.marks & NOW
        and has_other_values(pair)
        and pair.same_prepositions
        and all(map(is_value, pair.gained))
        and not pair.frame_roles & (MANY | SEVERAL)
        and is_clean(pair)
    )


def _changes_range(pair: Pair) -> bool:
    """Whether the subject has another number of something, from one bound to another."""
    return bool(
        has_other_values(pair)
        and _is_range(pair.old)
        and _is_range(pair.new)
        and pair.same_prepositions
        and _says_all_else_alike(pair)
        and pair.about_subject
        and pair.old.roles & MEASURES
        and not pair.frame_roles & (MANY | SEVERAL)
        and is_clean(pair)
    )


def _says_all_else_alike(pair: Pair) -> bool:
    """Whether the words are the same but for values and "now": no "each", no "then"."""
    said = [
        [w.stem for w in reading.words if not is_value(w) and not w.roles & NOW]
        for reading in (pair.old, pair.new)
    ]
    return said[0] == said[1]


def _is_range(reading: Reading) -> bool:
    """Whether its numbers are two, with one preposition between them: 5 to 20."""
    words = reading.words
    numbers = [place for place, word in enumerate(words) if word.kind == NUMERIC]
    first = numbers[0] if numbers else 0
    return numbers == [first, first + 2] and bool(words[first + 1].roles & TO)


def _alike(old: Sequence[Word], new: Sequence[Word]) -> bool:
    if kinds(old) & TYPED or kinds(new) & TYPED:
        return of_one_type(old, new) is not None
    both = old[0].text[:1].isupper() and new[0].text[:1].isupper()  # in Berlin, in peace
    return kinds(old) == kinds(new) or (both and not (kinds(old) | kinds(new)) & {CODE})


def _around_value(pair: Pair) -> list[Word]:
    """Return the telling words of the older claim before its value, and after it in its phrase.

    In "6 tickets during the Monday shift", the shift is not what has six.
    """
    assert pair.values is not None
    words = pair.old.words
    place = words.index(pair.values[0][0])
    found = [word for word in words[:place] if word.is_telling]
    for word in words[place + 1 :]:
        if word.roles & PREPOSITION and not pair.old.is_unspaced:
            break
        if word.is_telling and word not in pair.values[0]:
            found.append(word)
    return found


def _measures_for(pair: Pair) -> bool:
    """Whether a preposition before the value is part of a measure: kept for, free from."""
    assert pair.values is not None
    before = pair.old.words[: pair.old.words.index(pair.values[0][0])]
    return any(word.roles & MEASURES and word.roles & PREPOSITION for word in before)


def gives_attribute_another_value(pair: Pair) -> bool:
    """Whether it gives another number of the same unit, or another name, to one attribute."""
    if _tells_past(pair) or _changes_verb(pair):
        return False
    if pair.values is None:
        return _changes_range(pair)
    if pair.denied or not pair.same_prepositions or not is_clean(pair):
        return False
    old, new = pair.values
    kind = of_one_type(old, new)
    frame = pair.frame_roles
    several = pair.old.roles & SEVERAL or (frame & MANY and not frame & UNIQUE)
    if (
        kind is None
        or several
        or pair.is_one_of_several
        or len(old) > MAX_VALUE
        or len(new) > MAX_VALUE
    ):
        return False
    own = pair.old.is_about_subject or not pair.old.head
    attribute = any(
        word.roles & ATTRIBUTE and (own or not word.roles & OF_THINGS)
        for word in _around_value(pair)
    ) or _is_attribute(pair)
    if frame & UNIQUE and attribute and pair.old.roles & BE:
        return kind in (NAME, CODE, VERSION, WORD, NUMERIC, UNSPACED) and len(old) == len(new)
    if kind == NUMERIC:
        measured = _measures_for(pair) and _says_all_else_alike(pair)
        return bool(attribute or (own and (frame & MEASURES or measured)))
    return kind == NAME and bool(attribute) and own
