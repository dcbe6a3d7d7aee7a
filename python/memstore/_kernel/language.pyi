"""What words say without a model."""

__all__ = ["named_dates"]

def named_dates(query: str) -> tuple[list[int], list[int], list[int]]:
    """Return the years (1900 to 2099), months and days that a query names, each once.

    Days are named beside a month only. A date that can be read in two ways names both readings.
    """
