"""The site: its navigation, its reference, and what it tells language models."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.test_package import import_file

import memstore

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def site() -> ModuleType:
    return import_file(DOCS / "site.py")


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    pages: dict[str, str] = import_file(DOCS / "reference.py").pages()
    return pages


def test_the_navigation_lists_every_page_once(site: ModuleType, reference: dict[str, str]) -> None:
    listed = [file for _, pages in site.listed(site.configuration()["nav"]) for _, file in pages]
    pages = {page.name for page in DOCS.glob("*.md")}
    pages |= {f"adapters/{page.name}" for page in DOCS.glob("adapters/*.md")}
    pages |= {f"reference/{page}.md" for page in import_file(DOCS / "reference.py").WRITTEN}
    assert sorted(listed) == sorted(
        [*pages, "decisions/README.md", *(f"reference/{name}" for name in reference)]
    )


def test_the_reference_has_every_public_name_once(reference: dict[str, str]) -> None:
    headings = re.findall(r"^## (\w+)$", "".join(reference.values()), re.MULTILINE)
    assert sorted(headings) == sorted({*memstore.__all__} - {"__version__"})


def test_the_reference_has_the_methods_of_the_store_and_of_its_parts(
    reference: dict[str, str],
) -> None:
    page = reference["store.md"]
    for name, value in {**vars(memstore.Store), **vars(memstore.File)}.items():
        if not name.startswith("_") and inspect.isfunction(value) and value.__doc__:
            assert f"### {name}\n" in page
    for name in ("tasks", "episodes", "graph"):
        assert f"## Store.{name}\n" in page
    assert "### create\n" in page


def test_docstrings_become_markdown() -> None:
    reference = sys.modules.get("reference") or import_file(DOCS / "reference.py")
    made = reference.markdown(
        """Do it, as :meth:`~memstore.Store.add` does.

        Args:
            first: a ``float32[n]``,
                of <any> length.

        Raises:
            ValueError: it is wrong.
        """
    )
    assert made.split("\n\n") == [
        "Do it, as `Store.add` does.",
        "\n**Args**",
        "- `first`: a `float32[n]`,\n  of &lt;any> length.",
        "\n**Raises**",
        "- `ValueError`: it is wrong.",
    ]


def test_llms_txt_names_every_page(site: ModuleType, reference: dict[str, str]) -> None:
    text = site.llms_txt(site.configuration())
    address = site.configuration()["site_url"]
    assert text.startswith("# memstore\n\n> ")
    for page in [
        *(page.name for page in DOCS.glob("*.md")),
        *(f"reference/{p}" for p in reference),
    ]:
        assert f"({address}{page})" in text
