"""Every kind of place does the same: what devices put there is a mapping of names to bytes."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.gated import listening
from tests.support.places import Reach, folder_reach, git_reach, repository

import memstore
from memstore.sync.places import names
from memstore.sync.places.server import ServerPlace

ROOT = Path(__file__).parents[3]
DEVICES = ("a" * 16, "b" * 16)


@contextmanager
def _folder() -> Iterator[Reach]:
    with TemporaryDirectory() as made:
        yield folder_reach(Path(made, "place"))


@contextmanager
def _git() -> Iterator[Reach]:
    with TemporaryDirectory() as made:
        yield git_reach(repository(Path(made, "remote.git")), Path(made))


@contextmanager
def _server() -> Iterator[Reach]:
    with TemporaryDirectory() as made:
        path = Path(made, "memory.db")
        with memstore.open(path, embedder=None) as store:
            tokens = {
                machine: store.file.tokens.create(machine, namespace="work")[1]
                for machine in (*DEVICES, "a", "b", "another")
            }
        with listening(path) as address:
            yield lambda machine: ServerPlace(address, tokens[machine])


KINDS = [
    pytest.param(_server, id="server"),
    pytest.param(_folder, id="folder"),
    pytest.param(_git, id="git", marks=pytest.mark.process),
]
each_kind = pytest.mark.parametrize("made", KINDS)

files = st.one_of(
    st.just("state"),
    st.just("key"),
    st.builds(lambda a, n: f"{a}-{a + n}.lines", st.integers(1, 3), st.integers(0, 2)),
)
acts = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "delete", "publish", "anew"]),
        st.integers(0, len(DEVICES) - 1),
        files,
        st.binary(max_size=40),
    ),
    max_size=12,
)


@each_kind
@settings(max_examples=examples(10))
@given(acts=acts)
def test_random_acts_of_two_devices_leave_what_a_mapping_would_hold(made, acts) -> None:  # type: ignore[no-untyped-def]
    with made() as reach:
        places = [reach(device) for device in DEVICES]
        for place in places:
            place.list()
        expected: dict[str, bytes] = {}
        for what, who, file, data in acts:
            name = f"{DEVICES[who]}/{file}"
            match what:
                case "put":
                    places[who].put(name, data)
                    expected[name] = data
                case "delete":
                    places[who].delete(name)
                    expected.pop(name, None)
                case _:
                    places[who].publish(anew=what == "anew")
        for place in places:
            place.publish()
        for place in (*places, reach("another")):
            listed = place.list()
            assert {name: place.get(name, most=100) for name in listed} == expected
            assert {name: entry.size for name, entry in listed.items()} == {
                name: len(data) for name, data in expected.items()
            }


@each_kind
def test_a_tag_changes_with_the_content_alone(made: Callable[[], Iterator[Reach]]) -> None:
    with made() as reach:  # type: ignore[attr-defined]
        name = names.of_state(DEVICES[0])
        place, other = reach("a"), reach("b")
        tags = []
        for data in (b"one", b"two"):
            place.put(name, data)
            place.publish()
            tags += [other.list()[name].tag for _ in range(2)]
        assert tags[0] == tags[1] != tags[2] == tags[3]


@each_kind
def test_a_file_that_is_too_large_is_not_read(made: Callable[[], Iterator[Reach]]) -> None:
    with made() as reach:  # type: ignore[attr-defined]
        place = reach("a")
        name = names.of_lines(DEVICES[0], DEVICES[0], 1, 2)
        place.put(name, bytes(11))
        place.publish()
        other = reach("b")
        other.list()
        assert other.get(name, most=11) == bytes(11)
        with pytest.raises(memstore.SyncError, match="more than 10 bytes"):
            other.get(name, most=10)


@each_kind
def test_a_file_that_is_gone_is_an_error_and_is_deleted_without_one(
    made: Callable[[], Iterator[Reach]],
) -> None:
    with made() as reach:  # type: ignore[attr-defined]
        place = reach("a")
        place.list()
        with pytest.raises(memstore.SyncError):
            place.get(names.of_state(DEVICES[0]), most=10)
        place.delete(names.of_state(DEVICES[0]))
        place.publish()
        assert place.list() == {}


@each_kind
@pytest.mark.parametrize(
    "name",
    ["../up", "state", f"{DEVICES[0]}/../x", f"{DEVICES[0]}/State", f"{DEVICES[0]}/2-1.lines", ""],
)
def test_no_other_name_is_written_or_read(made: Callable[[], Iterator[Reach]], name: str) -> None:
    with made() as reach:  # type: ignore[attr-defined]
        place = reach("a")
        acts = (lambda: place.put(name, b""), lambda: place.get(name, most=9))
        for act in itertools.chain(acts, [lambda: place.delete(name)]):
            with pytest.raises(memstore.SyncError, match="no name of a file of sync"):
                act()


def test_the_picture_of_a_place_shows_the_kinds_of_files_that_every_device_has() -> None:
    picture = ElementTree.parse(ROOT / "docs" / "sync.svg")
    shown = [one.text or "" for one in picture.iter() if one.get("class") == "file ink"]
    assert len(shown) == 8
    assert all(names.is_name(f"{DEVICES[0]}/{name}") for name in shown)
    assert {"state", "projects", "key"} < {*shown}
