"""Export and import as JSON Lines: everything except data that can be recomputed."""

from memstore.transfer.exporting import export
from memstore.transfer.long_lines import of_export as lines_of
from memstore.transfer.merging import ImportReport, rehearse, write
from memstore.transfer.owned import of_owners
from memstore.transfer.parsing import Incoming, read

__all__ = [
    "ImportReport",
    "Incoming",
    "export",
    "lines_of",
    "of_owners",
    "read",
    "rehearse",
    "write",
]
