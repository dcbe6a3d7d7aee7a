"""Claims, read for comparison: what each word does, and which words of two claims differ.

Nothing is decided here; ``memstore.text.judging.judge`` has the rules.
"""

from collections.abc import Sequence
from typing import Final, final

__all__ = [
    "ADDS",
    "AGE",
    "ARTICLE",
    "ATTRIBUTE",
    "AT_LAST",
    "AWAITS",
    "BE",
    "BEGINS",
    "CHANGES",
    "CLOSES",
    "CODE",
    "CONTRASTS",
    "CORRECTS",
    "DATE",
    "DAY",
    "DENIES",
    "DIET",
    "DISPOSES",
    "ENDS",
    "FAMILIES",
    "FEELS",
    "FINITE",
    "FORMER",
    "FROM",
    "FUNCTION",
    "HAVE",
    "HEALTH",
    "HEDGES",
    "HOME",
    "IDIOM",
    "INDEFINITE",
    "JOINS",
    "KIN",
    "LEAVES",
    "MANY",
    "MARRIAGE",
    "MAX_CHARACTERS",
    "MEASURES",
    "MONTH",
    "NAME",
    "NOW",
    "NUMBER",
    "NUMBERED",
    "NUMERIC",
    "OF_THINGS",
    "ONE",
    "OWNER",
    "PARTLY",
    "PAST",
    "PERSONAL",
    "PREPOSITION",
    "QUALIFIER",
    "RECENT",
    "REGION",
    "RENAMES",
    "REPLACES",
    "SEASON",
    "SEVERAL",
    "STATE",
    "TEMPORARY",
    "TITLE",
    "TO",
    "UNIQUE",
    "UNIT",
    "UNSPACED",
    "USER",
    "USES",
    "VERB",
    "VERSION",
    "WORD",
    "WORK",
    "Alignment",
    "Reading",
    "Word",
    "align",
    "bearing",
    "claim_hash",
]

FAMILIES: Final[list[str]]
"""The names of families of attributes, in the order of their bits."""
MAX_CHARACTERS: Final[int]
"""The characters of a text that are read."""

# What a word does, as bits of :attr:`Word.roles`. Their meaning is written in
# ``rust/kernel/src/language/claims/roles.rs``, and their words in ``language/lexicon/``.
NOW: Final[int]
ENDS: Final[int]
DISPOSES: Final[int]
CLOSES: Final[int]
CHANGES: Final[int]
BEGINS: Final[int]
LEAVES: Final[int]
CORRECTS: Final[int]
REPLACES: Final[int]
CONTRASTS: Final[int]
ADDS: Final[int]
HEDGES: Final[int]
TEMPORARY: Final[int]
PARTLY: Final[int]
DENIES: Final[int]
FROM: Final[int]
TO: Final[int]
USER: Final[int]
BE: Final[int]
HAVE: Final[int]
PREPOSITION: Final[int]
FUNCTION: Final[int]
OWNER: Final[int]
INDEFINITE: Final[int]
KIN: Final[int]
MANY: Final[int]
ONE: Final[int]
MEASURES: Final[int]
USES: Final[int]
ATTRIBUTE: Final[int]
PERSONAL: Final[int]
OF_THINGS: Final[int]
UNIQUE: Final[int]
FORMER: Final[int]
SEVERAL: Final[int]
STATE: Final[int]
UNIT: Final[int]
DAY: Final[int]
MONTH: Final[int]
SEASON: Final[int]
PAST: Final[int]
QUALIFIER: Final[int]
REGION: Final[int]
VERB: Final[int]
TITLE: Final[int]
IDIOM: Final[int]
HOME: Final[int]
WORK: Final[int]
MARRIAGE: Final[int]
DIET: Final[int]
HEALTH: Final[int]
AGE: Final[int]
NUMBER: Final[int]
FEELS: Final[int]
AT_LAST: Final[int]
RECENT: Final[int]
AWAITS: Final[int]
ARTICLE: Final[int]
FINITE: Final[int]
NUMBERED: Final[int]
RENAMES: Final[int]
JOINS: Final[int]

# How a word is written: values of :attr:`Word.kind`.
WORD: Final[int]
NAME: Final[int]
"""A capital letter inside a sentence, where other words have none; not in German."""
NUMERIC: Final[int]
DATE: Final[int]
VERSION: Final[int]
CODE: Final[int]
UNSPACED: Final[int]
"""Of a script without blanks, and in no list."""

@final
class Word:
    """One word of a claim."""

    @property
    def text(self) -> str:
        """As it is written."""

    @property
    def stem(self) -> str:
        """In lower case, without a final s; of a number, its digits."""

    @property
    def key(self) -> int:
        """Equal for words that count as one, such as "is" and "are"."""

    @property
    def kind(self) -> int: ...
    @property
    def roles(self) -> int: ...
    @property
    def groups(self) -> int:
        """The groups of states that it belongs to, a bit each."""

    @property
    def families(self) -> int:
        """The families of attributes that it belongs to, a bit each (:data:`FAMILIES`)."""

    @property
    def is_telling(self) -> bool:
        """Whether it carries meaning by itself; others are aligned, but tell nothing."""

    @property
    def is_dropped(self) -> bool:
        """Whether it is left out of alignments."""

    @property
    def unit(self) -> int:
        """The key of the word after a number, or zero."""

@final
class Reading:
    """A text as its words."""

    def __new__(cls, text: str, subject: str) -> Reading:
        """Read a text about a subject; both in Unicode's form NFKC. The GIL is released.

        Of longer texts the first `MAX_CHARACTERS` are read.
        """

    @property
    def words(self) -> tuple[Word, ...]:
        """The same objects each time, made on first use."""

    @property
    def roles(self) -> int:
        """The roles of all words."""

    @property
    def head(self) -> int:
        """How many words come before the first verb: the claim is about what they name."""

    def widest(self) -> Reading:
        """Return the same text, read so that its verb comes as late as it may.

        Names may be verbs, too: "export" in "the export service runs".
        """

    @property
    def has_verb(self) -> bool:
        """Whether a verb that a list has follows the head."""

    @property
    def groups(self) -> int:
        """The groups of states of all words."""

    @property
    def families(self) -> int:
        """The families of attributes of all words."""

    @property
    def size(self) -> int:
        """How many words carry meaning by themselves."""

    @property
    def is_about_subject(self) -> bool:
        """Whether a word before the first verb stands for the subject."""

    @property
    def asks(self) -> bool: ...
    @property
    def is_cut(self) -> bool:
        """Whether the text is longer than what was read."""

    @property
    def is_unspaced(self) -> bool:
        """Whether it is in a script without blanks."""

    @property
    def is_free(self) -> bool:
        """Whether its verb may stand before what it is about, or at its end."""

    @property
    def breaks(self) -> list[int]:
        """Before which words there is a comma or a semicolon."""

    @property
    def symbols(self) -> str:
        """The signs that change the meaning, sorted."""

@final
class Alignment:
    """Two claims side by side.

    What they share and the marks are found at once, and the rest when it is asked for.
    """

    @property
    def regions(self) -> list[tuple[tuple[Word, ...], tuple[Word, ...]]]:
        """The telling words of each place where they differ, as (old, new)."""

    @property
    def shared(self) -> int:
        """How many telling words of the old claim the new one has."""

    @property
    def common(self) -> tuple[Word, ...]:
        """Telling words of the old claim that the new one has."""

    @property
    def lost(self) -> tuple[Word, ...]:
        """Telling words of the old claim that the new one does not have."""

    @property
    def gained(self) -> tuple[Word, ...]:
        """Telling words of the new claim that the old one does not have."""

    @property
    def lost_prepositions(self) -> tuple[Word, ...]: ...
    @property
    def gained_prepositions(self) -> tuple[Word, ...]: ...
    @property
    def keys(self) -> list[int]:
        """For each word of the new claim its key, or that of an old word of which it is a form."""

    @property
    def marks(self) -> int:
        """The roles of words that only the new claim has."""

    @property
    def new_head(self) -> tuple[Word, ...]:
        """Telling words before the verb of the new claim that the old one does not have."""

    @property
    def other_names(self) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Words that may name what a claim is about, and that only this one of the two has there.

        As (old, new).
        """

    @property
    def other_kin(self) -> bool:
        """Whether one has kin before its verb that the other does not speak of."""

    @property
    def is_loose(self) -> bool:
        """Whether words without blanks count as one though one only contains the other."""

    @property
    def same_symbols(self) -> bool: ...
    @property
    def same_case(self) -> bool:
        """Whether each common word has a capital letter in both, or in neither."""

    @property
    def same_owners(self) -> bool:
        """Whether they do not speak of "his" and "her", or of "this" and "that"."""

def align(old: Reading, new: Reading) -> Alignment:
    """Align two claims so that the words they share, in order, count most."""

def bearing(
    claim: Reading,
    others: Sequence[Reading],
    *,
    is_newer: bool,
    turned: int,
    topics: int,
    denied: Sequence[tuple[int, int]],
    long: int,
) -> list[int]:
    """Return the places of the claims that may bear on one, in order. The GIL is released.

    A newer claim bears on an older one if it has marks among `turned`, or both have families; else
    if they share telling words, groups, or roles among `topics`. It does not if one of them has
    more than `long` telling words and half of the shorter one is not shared, nor if it has one of
    the marks in `denied` and the older claim has none of the roles beside that mark.

    Args:
        is_newer: whether `claim` is newer than the others, or older.
    """

def claim_hash(key: str, content: str) -> int:
    """Return 64 bits of a hash of a claim about a subject with a key, as SQL stores them: signed.

    It is BLAKE2b over the key, a line feed, and the text in small letters, with one blank between
    words and without a full stop at its end (but with an ellipsis).

    Args:
        key: the subject, folded.
        content: an ASCII text.

    Raises:
        ValueError: the text is not ASCII.
    """
