"""A file that a newer version upgrades while it is open here."""

from __future__ import annotations

import pytest
from tests.support.raw import raw

from memstore import SchemaError, Store
from memstore.errors import Remedy


def upgrade(store: Store, version: int) -> None:
    with raw(store.path) as file:
        file.execute("UPDATE memstore_version SET version = ?", (version,))
        file.commit()


@pytest.mark.parametrize("has_written", [True, False])
def test_nothing_is_written_into_a_newer_file(store: Store, has_written: bool) -> None:
    if has_written:
        store.add("tea", subject="ana")
    upgrade(store, 99)
    for write in (
        lambda: store.add("rain", subject="ana"),
        lambda: store.episodes.add("rain", source="chat"),
        lambda: store.file.rebuild(),
    ):
        with pytest.raises(SchemaError, match="newer memstore") as refused:
            write()
        assert refused.value.remedy is Remedy.UPGRADE
    assert [fact.content for fact in store.list()] == ["tea"] * has_written
    with raw(store.path) as file:
        assert file.execute("SELECT count(*) FROM memstore_facts").fetchone() == (has_written,)


def test_writes_go_on_when_the_newer_version_is_undone(store: Store) -> None:
    upgrade(store, 99)
    with pytest.raises(SchemaError):
        store.add("tea", subject="ana")
    upgrade(store, 7)
    store.add("rain", subject="ana")
    assert store.file.doctor() == []
