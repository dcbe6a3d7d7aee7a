"""Importing from other programs: Engram, the original memstore, mem0, server-memory."""

from memstore.importing.detection import likely_source, may_be_imported
from memstore.importing.importer import ImportFromReport, LeftOut, import_from

__all__ = ["ImportFromReport", "LeftOut", "import_from", "likely_source", "may_be_imported"]
