"""Templates and static files: nothing inline, everything escaped, and whose files they are."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import pytest
from tests.support.pages import Pages

from memstore.faces.web import files, kept_path, templating

TEMPLATES = sorted(templating.FOLDER.rglob("*.html"))
SCRIPTS = [file for file in files.FOLDER.glob("*.js") if file.name != "htmx.min.js"]


def test_vendored_files_are_those_of_the_list() -> None:
    listed = {one["file"]: one for one in files.vendored()}
    own = {"style.css", "page.js", "enter.js", "icon.svg"}
    served = {file.name for file in files.FOLDER.iterdir() if file.suffix in files.KINDS}
    assert served - own == listed.keys()
    for name, one in listed.items():
        content = (files.FOLDER / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == one["sha256"]
        assert one["licence"] == "0BSD"
        assert "Permission to use, copy, modify" in (files.FOLDER / "htmx.LICENSE").read_text()


def test_own_scripts_are_short() -> None:
    assert sum(len(file.read_text().splitlines()) for file in SCRIPTS) <= 300


def test_all_files_of_the_pages_are_small() -> None:
    """The wheel grows by at most 220 KB."""
    folder = Path(templating.FOLDER).parent
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.suffix in (
        ".html", ".css", ".js", ".svg", ".json",
    )]  # fmt: skip
    assert sum(sizes) < 220_000


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_a_template_has_nothing_inline(file: Path) -> None:
    text = file.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle\s*=", text)
    assert not re.search(r"\son\w+=[\"']|hx-on|javascript:", text)
    assert not re.search(r"https?://", text)
    assert not re.search(r"hx-trigger=\"[^\"]*\[", text), "a filter of htmx is evaluated"


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_a_template_never_prints_a_text_unescaped(file: Path) -> None:
    text = file.read_text()
    assert "| safe" not in text
    assert "|safe" not in text
    assert "autoescape" not in text
    assert "Markup" not in text


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_every_posted_form_has_a_token(file: Path) -> None:
    if file.name == "enter.html":
        return
    text = file.read_text()
    for form in re.findall(r'<form method="post".*?</form>', text, re.DOTALL):
        assert re.search(r'hidden\(visit\)|name="ticket"', form), form


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_titles_hold_no_stored_text(file: Path) -> None:
    for title in re.findall(r"{% block title %}(.*?){% endblock %}", file.read_text()):
        for value in re.findall(r"{{(.*?)}}", title):
            assert re.fullmatch(r"\s*(\w*number|\w+\.id|\w+_id|act|problem\.title)\s*", value), (
                value
            )


def test_styles_never_change_the_case_of_texts() -> None:
    text = (files.FOLDER / "style.css").read_text()
    assert "text-transform" not in text
    assert "font-variant-caps" not in text
    assert "url(" not in text


def test_hidden_characters_are_spelt_out_and_markup_is_escaped() -> None:
    shown = templating._environment.from_string("<p title='{{ text }}'>{{ text }}</p>")
    page = shown.render(text="<b>&'\u202e\x00\ud800{{7*7}}\nnext")
    assert page.count("&lt;b&gt;&amp;&#39;\\u202e\\x00\\ud800{{7*7}}\nnext") == 2


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(Exception, match="undefined"):
        templating._environment.from_string("{{ nothing }}").render()


def test_an_address_changes_with_the_file() -> None:
    address = files.address("style.css")
    assert re.fullmatch(r"/static/[0-9a-f]{12}/style\.css", address)
    assert files.answer(address) is not None
    assert files.answer("/static/000000000000/style.css") is None
    for path in (
        "/static/../app.py",
        "/static/x/vendored.json",
        "/static/",
        "/static/htmx.LICENSE",
    ):
        assert files.answer(path) is None


def test_the_first_visit_is_small(pages: Pages) -> None:
    sizes = [len(gzip.compress(pages.read().encode()))]
    sizes += [len(gzip.compress((files.FOLDER / name).read_bytes())) for name in (
        "style.css", "page.js", "htmx.min.js", "icon.svg",
    )]  # fmt: skip
    assert sum(sizes) < 60_000


def test_compiled_templates_are_kept_and_damaged_or_unwritable_ones_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    monkeypatch.setattr(kept_path, "folder", lambda: folder)
    folder.mkdir()

    def drawn() -> bytes:
        fresh = templating._new_environment()
        return fresh.get_template("enter.html").render(takes_code=True, refusal="").encode()

    first = drawn()
    # A server of another test may be writing its templates, each to a temporary name first.
    files_there = sorted((folder / templating.COMPILED).iterdir())
    kept = [one for one in files_there if not one.name.startswith("tmp")]
    assert kept
    assert drawn() == first
    for one in kept:
        one.write_bytes(one.read_bytes()[:-40])
    assert drawn() == first
    monkeypatch.setattr(kept_path, "folder", lambda: folder / "nowhere" / "there")
    assert drawn() == first
