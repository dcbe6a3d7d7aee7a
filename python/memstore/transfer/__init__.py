"""Export and import as JSON Lines: everything but what can be computed again."""

from memstore.transfer.exporting import export
from memstore.transfer.merging import ImportReport, write
from memstore.transfer.parsing import Incoming, read

__all__ = ["ImportReport", "Incoming", "export", "read", "write"]
