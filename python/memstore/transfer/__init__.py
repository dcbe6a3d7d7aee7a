"""Export and import as JSON Lines: everything but what can be computed anew."""

from memstore.transfer.exporting import export
from memstore.transfer.reading import Incoming, read
from memstore.transfer.writing import ImportReport, write

__all__ = ["ImportReport", "Incoming", "export", "read", "write"]
