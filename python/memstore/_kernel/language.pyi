"""What words say without a model."""

__all__ = ["months", "named_dates", "stop_words"]

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

def months(code: str) -> list[str]:
    """The names of the months in a language, January first; none where they are numbered.

    Args:
        code: as for :func:`stop_words`.

    Raises:
        ValueError: another language.
    """
