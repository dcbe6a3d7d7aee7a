"""Which project a host works in, where one namespace holds the memories of several.

A namespace of the project's own needs none: all in it is of that project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore import settings
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore import projects
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    projects = lazy_import("memstore.projects")
    stores = lazy_import("memstore.store.store")


def in_folder(store: Store, folder: str | None = None) -> Store:
    """Return the store for the project of a folder; by default, of the host's."""
    if not stores.may_hold_several(store):
        return store
    return stores.working_in(store, name_of(folder))


def name_of(folder: str | None = None, *, only_repositories: bool = False) -> str | None:
    """Return the name of a folder's project; ``None`` if it is in none.

    Args:
        folder: by default, that of the host.
        only_repositories: whether another folder counts only if the user named it: a program may
            have been started anywhere.
    """
    found = projects.project_of(settings.project_folder() if folder is None else folder)
    if only_repositories and found.rule == "folder":
        return None
    return named(found)


def named(project: projects.Project) -> str | None:
    """Return what a project is called; ``None`` for the home folder and the root of a disk."""
    return None if project.rule == "none" else project.namespace
