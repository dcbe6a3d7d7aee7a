"""Signs that a newer claim may replace an older one, and what speaks against it."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    AGE,
    AT_LAST,
    ATTRIBUTE,
    AWAITS,
    BE,
    BEGINS,
    CHANGES,
    CLOSES,
    CODE,
    CORRECTS,
    DATE,
    DAY,
    DENIES,
    DIET,
    DISPOSES,
    ENDS,
    FAMILIES,
    FEELS,
    FORMER,
    FROM,
    HAVE,
    HEALTH,
    HEDGES,
    HOME,
    INDEFINITE,
    KIN,
    LEAVES,
    MANY,
    MARRIAGE,
    MEASURES,
    MONTH,
    NAME,
    NOW,
    NUMBER,
    NUMERIC,
    ONE,
    PARTLY,
    PAST,
    PREPOSITION,
    QUALIFIER,
    REGION,
    REPLACES,
    SEVERAL,
    STATE,
    TEMPORARY,
    TO,
    UNIQUE,
    UNIT,
    UNSPACED,
    USER,
    VERB,
    VERSION,
    WORD,
    WORK,
)
from memstore.text.judging import denials
from memstore.text.judging.pair import (
    OVER,
    TURNS,
    TYPED,
    head,
    is_value,
    keys,
    kinds,
    of_one_type,
    roles,
    telling,
)
from memstore.text.judging.proofs import binds_value, renames_by_name, says_when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore._kernel.claims import Word
    from memstore.text.judging.pair import Pair

LONG: Final = 8
"""The telling words of a claim that tells a story."""

TOPICS: Final = HOME | WORK | MARRIAGE | DIET | HEALTH | AGE
MAX_ENDING: Final = 5
"""The most telling words of a claim that says that something is finished."""

MAX_STATE: Final = 6
"""The most telling words of a claim that states one attribute."""

MAX_CHANGE: Final = 12
"""The most telling words of a claim that tells how one attribute changed."""

TURNED: Final = TURNS | AT_LAST


def _bits(names: str) -> int:
    return sum(1 << FAMILIES.index(name) for name in names.split())


EVENTFUL: Final = _bits(
    "bank charge code contact database editor friendship hosting injury insurance license medicine "
    "money permit pipeline progress provider tracker"
)
"""Families in which most events change something."""

SINGLE: Final = _bits("charge license")
"""Families in which a thing has one value, though its verb may accumulate: belongs to."""

VERBS: Final = MANY | ONE | MEASURES | PAST | VERB
STRONG: Final = NOW | CHANGES | CORRECTS | OVER


def shares_nothing(pair: Pair) -> bool:
    """Whether no word, state or attribute is common to both, and nothing is marked as a change.

    Most pairs are such, so it is asked before all that costs more.
    """
    if pair.shared or pair.marks & TURNED or pair.families:
        return False
    if pair.old.roles & pair.new.roles & TOPICS or pair.old.groups & pair.new.groups:
        return False
    return not renames_by_name(pair)


def tells_another_story(pair: Pair) -> bool:
    """Whether one of the two is long, and they share less than half."""
    before, after = pair.size
    if pair.old.is_cut or pair.new.is_cut:
        return True
    return max(before, after) > LONG and 2 * pair.shared < min(before, after)


def tells_another_event(pair: Pair) -> bool:
    """Whether the older claim tells an event, and the newer one does not correct it."""
    if not pair.old.roles & PAST:
        return False
    moved = pair.old.roles & pair.new.roles & CHANGES
    return not pair.marks & CORRECTS and not (moved and pair.shared > 1)


def was_before(pair: Pair) -> bool:
    """Whether the older claim speaks of what was before, or for a time: the old phone, today."""
    before = FORMER if pair.marks & (OVER | NOW) else FORMER | TEMPORARY
    return bool(pair.old.roles & before & ~pair.new.roles)


def changes_a_family(pair: Pair) -> bool:
    """Whether a word of change stands in a short claim about a family that the older one is about.

    Who drives a Golf has a vehicle, and so has who bought a Vespa.
    """
    before, after = pair.size
    if not pair.families or not _may_have_changed(pair) or before > MAX_STATE:
        return False
    if pair.marks & TURNED == CLOSES and _says_more_of_the_same(pair):
        return False
    if pair.marks & TURNED and after <= LONG:
        return True
    if pair.marks & TURNED & ~BEGINS and after <= MAX_CHANGE:
        return True
    return bool(pair.families & EVENTFUL and pair.new.roles & PAST) and after <= LONG


def _says_more_of_the_same(pair: Pair) -> bool:
    """Whether what both are about is all that they share: tyres of vans, vans that are repaired."""
    about = keys(head(pair.old)) & pair.new_keys(head(pair.new))
    return bool(about) and keys(pair.common) <= about and bool(pair.lost)


def changes_a_thing(pair: Pair) -> bool:
    """Whether a short claim tells a change, or an event, of a thing that the older one names."""
    before, after = pair.size
    if pair.marks & (CHANGES | DISPOSES | CLOSES) and after <= LONG and says_when(pair):
        return True  # the party is put off, or called off
    if before > MAX_STATE or after > LONG or not pair.shared:
        return False
    if not _may_have_changed(pair) or not _share_a_thing(pair):
        return False
    event = bool(pair.new.roles & PAST)
    if pair.marks & TURNED & ~(BEGINS | CLOSES) and before <= 4 and after <= 7:
        return True
    # She cannot swim yet; she is waiting for a ticket.
    affirms = bool(pair.old.roles & DENIES) and not pair.new.roles & DENIES
    other_value = pair.values is not None and not pair.new.is_unspaced
    if not other_value and (affirms or pair.old.roles & AWAITS):
        return event or bool(pair.marks & TURNED)
    feels = (pair.old.roles | pair.new.roles) & (FEELS | MANY)
    return event and not other_value and not feels and before <= 4 and after <= 6


def _share_a_thing(pair: Pair) -> bool:
    return any(
        not is_value(word) and not word.roles & (USER | NUMBER | VERBS | CHANGES | BEGINS)
        for word in pair.common
    )


def _may_have_changed(pair: Pair) -> bool:
    """Whether the older claim tells a state; no event, no feeling and nothing of former times."""
    if pair.old.roles & (PAST | FORMER | TEMPORARY | FEELS | LEAVES | DISPOSES) or pair.narrows:
        return False
    if _adds_for_whom(pair):
        return False
    if not pair.marks & TURNED and _told_of_former_times(pair):
        return False
    return bool(pair.lost) or not _repeats_it(pair)


def _adds_for_whom(pair: Pair) -> bool:
    """Whether "now" goes with another number or day, and with words after it: for students."""
    if pair.marks & (CHANGES | OVER | CORRECTS) or not pair.marks & NOW:
        return False
    value = next(
        (i for i, (old, new) in enumerate(pair.regions)
         if old and new and kinds(old) & kinds(new) & TYPED),
        None,
    )  # fmt: skip
    if value is None:
        return False
    return any(not all(map(is_value, new)) and not old for old, new in pair.regions[value + 1 :])


def _told_of_former_times(pair: Pair) -> bool:
    """Whether it says the older claim's verb in a tense of events: conducts, conducted in 2009."""
    known = keys(word for word in pair.old.words if not word.roles & PAST)
    return bool(pair.new_keys(word for word in pair.new.words if word.roles & PAST) & known)


def _repeats_it(pair: Pair) -> bool:
    """Whether it says the same, instead of something else, or ends it for a case only."""
    turned = pair.marks & TURNED
    if turned == ENDS and pair.says_again:
        return False
    if turned == ENDS and (pair.gained or pair.marks & PARTLY):
        # No longer, after dinner.
        return not pair.new.is_unspaced or bool(roles(pair.gained) & QUALIFIER)
    return turned == REPLACES  # tea, instead of coffee


def is_told_otherwise(pair: Pair) -> bool:
    """Whether it would be about another holder, thing or time, but for the change that it tells.

    "Last week a doctor put Ana on a diet". Kin of the subject before the verb remain others.
    """
    if not pair.shared and not pair.families and not says_when(pair):
        return False  # most pairs
    if not pair.shared and pair.marks & TURNED == CLOSES:
        return False  # payroll is done, invoices are archived
    if not changes_a_family(pair) and not changes_a_thing(pair):
        return False
    found = pair.side_by_side
    if not found.same_case or not found.same_owners or not pair.holds_on or pair.narrows:
        return False
    return not roles(found.new_head) & KIN and (
        denials.is_for_a_time(pair)
        or denials.names_another_holder(pair)
        or denials.is_about_another_thing(pair)
        or (tells_another_story(pair) and not (pair.old.is_cut or pair.new.is_cut))
    )


def names_a_case(pair: Pair) -> bool:
    """Whether a question rests on no word of change, or on one that holds for a case only."""
    return not pair.marks & TURNED or qualifies(pair) or adds_a_case(pair)


def qualifies(pair: Pair) -> bool:
    """Whether the newer claim names a case, such as the morning, that the older one does not."""
    return bool(roles(pair.gained) & QUALIFIER)


def denies_other_words(pair: Pair) -> bool:
    """Whether one affirms and the other denies something else."""
    if not pair.denied or pair.marks & TURNS:
        return False
    return bool(pair.lost or pair.gained) or not pair.same_prepositions


def contradicts(pair: Pair) -> bool:
    """Whether the same words are once affirmed and once denied."""
    return (
        pair.denied
        and not pair.lost
        and not pair.gained
        and not pair.regions
        and pair.shared > 0
        and pair.same_signs
        and pair.same_prepositions
    )


def adds_a_case(pair: Pair) -> bool:
    """Whether it says all that the older claim says, and more: no longer, on Sundays."""
    over = pair.marks & OVER
    if pair.lost or (pair.denied and not over):
        return False
    if over and pair.old.roles & HEDGES:
        return False  # what was planned is cancelled
    if over and pair.marks & PARTLY:
        return True
    if over and (pair.says_again or _ends_in_a_clause_alone(pair)):
        return False
    if pair.marks & CHANGES and pair.marks & FROM:
        return False
    return not all(word.kind in (DATE, VERSION) and not word.roles & DAY for word in pair.gained)


def _ends_in_a_clause_alone(pair: Pair) -> bool:
    """Whether what it adds stands in other clauses than what ends: no longer, Yuki is."""
    ending = {clause for word, clause in pair.clauses if word.roles & OVER}
    added = {clause for word, clause in pair.clauses if word in pair.gained}
    return bool(ending and added) and not ending & added


def ends_what_is_shared(pair: Pair) -> bool:
    """Whether something is over, beside a word of the older claim."""
    if not pair.marks & OVER or not is_close(pair) or roles(pair.gained) & QUALIFIER:
        return False
    if pair.narrows:
        return False
    if pair.old.roles & FEELS:
        return False
    if pair.marks & OVER == CLOSES and len(pair.lost) > 1 and _says_more_of_the_same(pair):
        return False  # the vans' tyres, the vans that are repaired
    if pair.marks & (ENDS | DISPOSES | LEAVES):
        return True
    # What is finished or found is often another thing of the same name.
    before, after = pair.size
    alike = keys(head(pair.old)) & pair.new_keys(head(pair.new))
    if alike and before <= 3 and after <= 3:
        return True
    return 2 * pair.shared >= before and after <= MAX_STATE


def ends_a_state(pair: Pair) -> bool:
    """Whether the older claim states nothing but a state, and a short newer one ends it."""
    over = pair.marks & (CLOSES | ENDS | CHANGES)
    if not over or pair.size[1] > MAX_ENDING:
        return False
    about = keys(head(pair.old))
    said = [word for word in telling(pair.old) if word.key not in about]
    return bool(said) and all(word.roles & (STATE | HEALTH) for word in said)


def is_close(pair: Pair) -> bool:
    """Whether they share enough: half of the shorter, or a noun if both are short."""
    least = min(pair.size)
    shared = [word for word in pair.common if not is_value(word) and not word.roles & NUMBER]
    if not shared:
        return False
    short = least <= 4 and max(pair.size) <= LONG
    return 2 * pair.shared >= least or (short and bool(pair.marks & STRONG))


def accumulates(pair: Pair) -> bool:
    """Whether the frame is that of one of several: likes, speaks, a friend."""
    if pair.values is None or pair.marks & (TURNS & ~OVER & ~BEGINS):
        return False
    old, new = pair.values
    frame = pair.frame_roles
    counted = of_one_type(old, new) == NUMERIC
    if _states(old) & _states(new) or roles(old) & roles(new) & TOPICS:
        return False
    if pair.families & SINGLE:
        return False
    if pair.is_one_of_several and pair.old.roles & HAVE and not pair.marks & TURNS:
        return True  # owns a Nikon camera
    if pair.old.words[0].roles & INDEFINITE:
        return True  # a good hairdresser is one of several
    if (
        frame & SEVERAL
        and not (counted and pair.old.roles & HAVE)
        and not (frame & ATTRIBUTE and not pair.old.roles & INDEFINITE)
    ):
        return True
    has = pair.old.roles & HAVE and not frame & (ATTRIBUTE | ONE | STATE) and kinds(old) & {WORD}
    many = frame & MANY and not (frame & UNIQUE and pair.old.roles & BE)
    return bool(many or has) and not counted


def may_be_one_of_several(pair: Pair) -> bool:
    """Whether the words that both claims have speak of what one may have several of.

    Favourite authors include another one now; a shop delivers to another country. What was taken
    back, ended, or went from one to another, was the one that there was.
    """
    if pair.marks & (OVER | CORRECTS | REPLACES | CHANGES) or pair.old.is_unspaced:
        return False
    words = [word for word in pair.common if not is_value(word)]
    before = keys(head(pair.old))  # "export" is the name of a service
    said = roles(words)
    many = roles(word for word in words if word.key not in before) & MANY
    several = said & SEVERAL or (many and not said & UNIQUE)
    return bool(several) and not _counts(pair)


OWNS: Final = frozenset("own owns besitzt besitze possède posee possiede possui bezit".split())
"""Verbs of which the object is rarely the only one. One has one plan, one job, one surname."""


def names_one_of_several(pair: Pair) -> bool:
    """Whether it names another one, perhaps "now", of what one may have several of.

    The words around the value say so: includes, delivers to, has a, is part of. A number, a day or
    a version is asked about, and so is what was changed, ended or taken back.
    """
    if pair.marks & (OVER | CORRECTS | REPLACES | CHANGES | BEGINS | PARTLY | TEMPORARY):
        return False
    if pair.old.is_unspaced:
        return False
    changed = [(old, new) for old, new in pair.regions if old]
    if len(changed) != 1 or not changed[0][1] or pair.denied or pair.families & SINGLE:
        return False
    old, _ = changed[0]
    if kinds(pair.lost) & kinds(pair.gained) & TYPED:
        return False
    begins = pair.side_by_side.new_head
    if any(word in begins for before, after in pair.regions if not before for word in after):
        return False  # Bob knows
    if any(
        not word.roles & (NOW | MONTH) for gone, came in pair.regions if not gone for word in came
    ):
        return False  # delivers exclusively to Denmark
    if pair.marks & NOW and _names_one_thing(pair, old):
        return False
    states_one = _states_one_attribute(pair)
    if pair.is_one_of_several and pair.old.roles & HAVE and not states_one:
        return True
    stems = {word.stem for word in pair.new.words}
    both = [word for word in pair.old.words if word.stem in stems and not is_value(word)]
    before = keys(head(pair.old))  # "export" and "train" are names of services
    several = [word for word in both if word.roles & SEVERAL]
    if any(not word.is_telling or not (states_one or word.key in before) for word in several):
        return True
    verbs = [w for w in both if w.roles & MANY and w.is_telling and w.key not in before]
    one = states_one or roles(both) & UNIQUE or pair.old.is_free
    return bool(verbs) and not one and _follows(verbs[-1], old[0], pair)


def _names_one_thing(pair: Pair, value: Sequence[Word]) -> bool:
    """Whether a value tells which plan, job or team it is now, and nobody owns it.

    Of what is in the list of several, such as passports, one may have both.
    """
    words = pair.old.words
    if words.index(value[0]) < pair.old.head or any(w.text.lower() in OWNS for w in words):
        return False
    stems = {word.stem for word in pair.new.words}
    following = words[words.index(value[-1]) + 1 :]
    phrase = list(takewhile(lambda w: not w.roles & PREPOSITION, following))
    nouns = [word for word in phrase if word.is_telling and word.stem in stems]
    if not nouns:
        return pair.is_one_of_several and bool(pair.old.roles & HAVE) and not _is_of_several(value)
    return not _is_of_several(nouns)


def _is_of_several(words: Sequence[Word]) -> bool:
    return any(word.roles & SEVERAL for word in words)


def _follows(verb: Word, value: Word, pair: Pair) -> bool:
    """Whether a value is what a verb is about; the shop takes payments through one provider."""
    words = pair.old.words
    places = words.index(verb), words.index(value)
    return not any(word.is_telling for word in words[min(places) + 1 : max(places)])


def _counts(pair: Pair) -> bool:
    """Whether the values count or measure something: two approvals, 45 minutes; no port."""
    if pair.values is None or of_one_type(*pair.values) != NUMERIC:
        return False
    value, words = pair.values[0][-1], pair.old.words
    following = words[words.index(value) + 1 :]
    return bool(value.unit) or bool(following)


def speaks_against(pair: Pair) -> bool:
    """Whether it ends, corrects or denies something, and gives nothing else instead."""
    if pair.marks & (OVER | CORRECTS):
        return True
    return pair.denied and pair.values is None


def is_another_predicate(pair: Pair) -> bool:
    """Whether what differs is the verb, the type of the value, or a case."""
    if _states_one_attribute(pair):
        return False
    if (_other_type(pair) and not pair.marks & STRONG) or roles(pair.lost) & roles(
        pair.gained
    ) & QUALIFIER:
        return True
    if pair.values is None:
        return False
    old, new = pair.values
    if pair.marks & TURNS:
        return False
    if pair.old.roles & HOME and bool(roles(old) & REGION) != bool(roles(new) & REGION):
        return True
    if roles(old) & QUALIFIER or roles(new) & QUALIFIER:
        return True
    both = roles(old) & VERBS and roles(new) & VERBS
    topics = roles(old) & TOPICS, roles(new) & TOPICS
    if both and not topics[0] & topics[1]:
        return True
    return not _fits(pair, old, new)


def _states_one_attribute(pair: Pair) -> bool:
    """Whether both say what the same attribute is, with one value each."""
    if pair.values is None or not pair.old.roles & pair.new.roles & BE:
        return False
    old, new = pair.values
    frame = pair.frame_roles
    named = frame & UNIQUE or (frame & ATTRIBUTE and kinds(old) == kinds(new))
    alike = not (roles(old) ^ roles(new)) & ~QUALIFIER
    return bool(named) and alike and max(len(old), len(new)) <= 3


def _other_type(pair: Pair) -> bool:
    """Whether each gives a number, date or version, and they are not of one type."""
    old = [word for word in pair.lost if word.kind in TYPED and not word.roles & MONTH]
    new = [word for word in pair.gained if word.kind in TYPED and not word.roles & MONTH]
    units = [{w.key for w in side if w.roles & UNIT} for side in (pair.lost, pair.gained)]
    if all(units) and not units[0] & units[1]:
        return True
    if not old or not new or (kinds(old) & kinds(new) and kinds(old) != kinds(new)):
        return False
    if kinds(old) == kinds(new) == {NUMERIC} and not (old[0].unit and new[0].unit):
        return False
    return of_one_type(old, new) is None


def _fits(pair: Pair, old: Sequence[Word], new: Sequence[Word]) -> bool:
    if _states(old) & _states(new):
        return True
    if all(word.text[:1].isupper() for word in (*old, *new)):
        return True  # in German, every noun
    before, after = kinds(old), kinds(new)
    if not before & TYPED:
        after = kinds(word for word in new if word.kind != DATE)  # since June
    if before & TYPED or after & TYPED:
        return of_one_type(old, new) is not None
    if CODE in before | after and before | after <= {WORD, NAME, CODE}:
        return True  # flake8, ruff
    return bool(before & after) or bool(pair.frame_roles & (ATTRIBUTE | ONE))


def _states(words: Sequence[Word]) -> int:
    found = 0
    for word in words:
        found |= word.groups
    return found


def is_an_act(pair: Pair) -> bool:
    """Whether an unknown verb has another object: recommends X, recommends Y."""
    if pair.values is None or pair.marks & TURNS:
        return False
    tell = [word for word in pair.frame if not is_value(word)]
    if len(tell) != 1 or of_one_type(*pair.values) == NUMERIC:
        return False
    if pair.old.has_verb and tell[0] in pair.old.words[: pair.old.head]:
        return False  # a noun before the verb
    verb = tell[0]
    known = ATTRIBUTE | ONE | MEASURES | UNIQUE | STATE | SEVERAL | TOPICS
    words = pair.old.words
    place = next((i for i, word in enumerate(words) if word.key == verb.key), 0)
    after = words[place + 1].roles if place + 1 < len(words) else 0
    before = words[place - 1].roles if place else 0
    return not verb.roles & known and not after & (PREPOSITION | BE) and not before & BE


def has_one_other_value(pair: Pair) -> bool:
    """Whether exactly one value differs in a frame that tells something."""
    if pair.values is None or pair.denied:
        return False
    old, new = pair.values
    if len(old) > 4 or len(new) > 4:
        return False
    if not pair.side_by_side.same_symbols:
        return False
    if _states(old) & _states(new):
        return True
    found = pair.side_by_side
    dated = all(binds_value(pair.new, word) for word in found.gained_prepositions)
    if found.lost_prepositions or not dated:
        return False
    if pair.frame or roles(old) & roles(new) & TOPICS:
        return True
    return bool(pair.marks & (NOW | CORRECTS)) and kinds(old) == kinds(new)


def changes_what_is_shared(pair: Pair) -> bool:
    """Whether a word of change stands beside a word of the older claim."""
    common = roles(pair.common)
    turned = pair.marks & (NOW | CHANGES | CORRECTS)
    if pair.old.roles & FEELS:
        turned &= CORRECTS
    if pair.marks & BEGINS and common & ATTRIBUTE:
        turned |= BEGINS  # a new phone
    if pair.old.roles & MANY and not common & (ATTRIBUTE | ONE | STATE):
        turned &= CORRECTS if max(pair.size) > MAX_ENDING else ~0
    return bool(turned) and is_close(pair) and not pair.narrows


def changes_the_value(pair: Pair) -> bool:
    """Whether a word of change stands beside one value, and the old claim has one of that type."""
    if not pair.marks & CHANGES or roles(pair.lost) & MANY:
        return False
    either = kinds(pair.lost) | kinds(pair.gained)
    topics = pair.families or pair.old.roles & pair.new.roles & TOPICS
    if not pair.shared and not topics and UNSPACED in either and not either & TYPED:
        return False
    if pair.marks & FROM and any(map(is_value, pair.common)) and any(map(is_value, pair.gained)):
        return True  # from Tuesday to Friday
    old = [word for word in pair.lost if not word.roles & (VERBS | HOME | WORK)]
    new = [word for word in pair.gained if not word.roles & (VERBS | HOME | WORK)]
    if pair.old.roles & MEASURES and kinds(old) == {NUMERIC}:
        new = [word for word in new if not word.roles & ATTRIBUTE]  # earns; the salary
    named = {NAME, CODE, UNSPACED, VERSION, DATE, NUMERIC}
    return (
        0 < len(old) <= 2
        and 0 < len(new) <= 2
        and kinds(old) | kinds(new) <= named
        and (kinds(old) == kinds(new) or not (kinds(old) | kinds(new)) & TYPED)
        and not pair.side_by_side.lost_prepositions
        and all(word.roles & (TO | FROM) for word in pair.side_by_side.gained_prepositions)
    )


def changes_the_attribute(pair: Pair) -> bool:
    """Whether a word of change stands beside the same attribute: home, work, marriage, diet."""
    topic = pair.old.roles & pair.new.roles & TOPICS
    before, after = pair.size
    if pair.old.roles & (LEAVES | DISPOSES):
        return False
    return bool(topic and pair.marks & TURNS) and before <= 6 and after <= 7


def has_the_same_attribute(pair: Pair) -> bool:
    """Whether two short claims state the same attribute of a person."""
    topic = pair.old.roles & pair.new.roles & (MARRIAGE | DIET | HEALTH)
    before, after = pair.size
    return bool(topic) and before <= 4 and after <= 4 and not pair.new.roles & MANY
