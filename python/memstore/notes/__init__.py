"""Memories as a folder of Markdown notes for people, and the way back from it, by a plan."""

from memstore.notes.edits import NotesPlan, PlannedEdit, plan_edits
from memstore.notes.folder import Written, is_notes_folder, write_notes

__all__ = [
    "NotesPlan",
    "PlannedEdit",
    "Written",
    "is_notes_folder",
    "plan_edits",
    "write_notes",
]
