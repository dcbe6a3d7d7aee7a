"""What words say without a model."""

__all__ = ["characters", "conditions", "months", "named_dates", "segments", "stop_words"]

def characters(text: str) -> str:
    """Return the characters of a text, each once, in order. The GIL is released."""

def named_dates(query: str) -> tuple[list[int], list[int], list[int]]:
    """Return the years (1900 to 2099), months and days that a query names, each once.

    Days are named beside a month only. A date that can be read in two ways names both readings.
    """

def stop_words(code: str) -> list[str]:
    """Words in nearly every question of a language, which do not distinguish texts.

    In lower case, with their accents. None of Chinese, Japanese and Korean.

    Args:
        code: `"en"`, `"de"`, `"es"`, `"fr"`, `"it"`, `"pt"`, `"nl"`, `"zh"`, `"ja"` or `"ko"`.

    Raises:
        ValueError: another language.
    """

def conditions(code: str) -> list[tuple[str, list[str]]]:
    """The words of a language that make a time in a question a condition, by what they say.

    A phrase has `_` between its words, and `~` before it if it stands after its time.

    Args:
        code: as for :func:`stop_words`, or `"ru"`, `"ar"`, `"hi"`, `"tr"`, `"pl"` or `"th"`.

    Raises:
        ValueError: another language.
    """

def months(code: str) -> list[str]:
    """The names of the months in a language, January first; none where they are numbered.

    Args:
        code: as for :func:`stop_words`.

    Raises:
        ValueError: another language.
    """

def segments(text: str, written: str | None, between: str, marks: str, unspaced: str) -> str:
    """Return the words of scripts without spaces as single characters. The GIL is released.

    Args:
        written: another text, of which words that it does not have are added whole.
        between: the characters of both texts that belong to no word.
        marks: those that are combined with the one before them; of scripts without spaces they
            are left out, and a word has another one, too.
        unspaced: those of scripts without spaces.

    Raises:
        UnicodeEncodeError: a text has half of a character.
    """
