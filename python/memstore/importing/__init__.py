"""Importing from other programs: their files, data exports and folders of notes."""

from memstore.importing.detection import likely_source, may_be_imported
from memstore.importing.importer import ImportFromReport, LeftOut, import_from, refuse_named_pipe

__all__ = [
    "ImportFromReport",
    "LeftOut",
    "import_from",
    "likely_source",
    "may_be_imported",
    "refuse_named_pipe",
]
