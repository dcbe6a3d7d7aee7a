"""The package from outside: its names, its version, cheap imports."""

from __future__ import annotations

import ast
import email
import gc
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib import import_module, util
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tests.support.builds import skip_without_model

import memstore
from memstore import __main__ as programs
from memstore.providers.local import HAS_MODEL

ROOT = Path(__file__).parent.parent


def import_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_lists_every_name_that_resolves() -> None:
    assert memstore.__all__ == sorted(memstore.__all__) == dir(memstore)
    assert all(getattr(memstore, name) for name in memstore.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        memstore.nothing  # noqa: B018


def test_type_checkers_see_the_names_that_resolve() -> None:
    tree = ast.parse(Path(memstore.__file__).read_text("utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("memstore.")
        for alias in node.names
    }
    assert seen.keys() | {"__version__"} == set(memstore.__all__)
    for name, module in seen.items():
        assert getattr(import_module(str(module)), name) is getattr(memstore, name)


def test_every_public_name_has_a_docstring() -> None:
    missing = [
        n for n in memstore.__all__ if n != "__version__" and not getattr(memstore, n).__doc__
    ]
    assert missing == []


def test_every_public_method_of_store_has_a_docstring() -> None:
    missing = [n for n, v in vars(memstore.Store).items() if n[0] != "_" and not v.__doc__]
    assert missing == []


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    assert memstore.__version__ == project["version"] == cargo["version"]
    assert version("pymemstore") == memstore.__version__
    assert f"## {memstore.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\nversion: {memstore.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    images = re.findall(
        r"image: memstore:(\S+)",
        "".join(path.read_text("utf-8") for path in (ROOT / "deploy").rglob("*.yaml")),
    )
    assert {*images} == {memstore.__version__}


def test_release_notes_are_the_changelog_section() -> None:
    notes = import_file(ROOT / ".ci" / "release_notes.py").notes
    changelog = "# Changelog\n\n## 1.2 - unreleased\n\n- c\n\n## 1.1 - 2026-01-31\n\n- b\n- bb\n\n"
    changelog += "## 1.0 - 2026-01-01\n\n- a\n"
    assert notes("v1.1", "1.1", changelog) == "- b\n- bb"
    assert notes("v1.0", "1.0", changelog) == "- a"
    with pytest.raises(SystemExit, match=r"no section 1\.2 with a date"):
        notes("v1.2", "1.2", changelog)
    with pytest.raises(SystemExit, match=r"the tag is v1\.0, and the version 1\.1"):
        notes("v1.0", "1.1", changelog)


def test_generated_host_files_are_up_to_date() -> None:
    """``python plugins/build.py`` writes these files."""
    build = import_file(ROOT / "plugins" / "build.py")
    files = build.files()
    for name, value in files.items():
        assert (ROOT / name).read_text("utf-8") == build.text(value), (
            f"run plugins/build.py: {name}"
        )
    assert f"mcp-name: {build.REGISTRY_NAME} " in (ROOT / "README.md").read_text("utf-8")
    assert len(files["server.json"]["description"]) <= 100


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_example_can_run_twice_in_one_folder(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (ROOT / page).read_text("utf-8")
    blocks = [block.split("```")[0] for block in readme.split("```python\n")[1:]]
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in [*blocks, *blocks]:
        exec(compile(block, page, "exec"), {})


def test_ci_runs_the_command_of_the_readme() -> None:
    blocks = [
        b.split("```")[0] for b in (ROOT / "README.md").read_text("utf-8").split("```sh\n")[1:]
    ]
    install, test, *_ = (block.strip() for block in blocks)
    assert install.endswith("memstore demo")
    assert test in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_coverage_in_the_readme_matches_ci() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    floor = project["tool"]["coverage"]["report"]["fail_under"]
    assert f"at least {floor} % of the lines" in (ROOT / "README.md").read_text("utf-8")


def test_documents_link_to_files_that_exist() -> None:
    for document in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "benches/README.md",
    ]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
            generated = link.startswith("reference/")  # with the site; tests/test_site.py has it
            assert generated or (document.parent / link).exists(), f"{document.name}: {link}"


def test_links_of_the_readme_work_on_the_page_of_the_index() -> None:
    """The index shows the README elsewhere, so its links are absolute."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    repository = project["urls"]["Repository"]
    raw = repository.replace("://github.com/", "://raw.githubusercontent.com/")
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / project["readme"]).read_text("utf-8"))
    assert len(links) > 30
    for link in links:
        assert link.startswith("https://"), link
        own = re.sub(rf"^({repository}/(blob|tree)|{raw})/main/", "", link).partition("#")[0]
        if own != link.partition("#")[0]:
            assert (ROOT / own).exists() or is_taken_out(own), link


def is_taken_out(path: str) -> bool:
    """Whether a file of the built-in model is missing from sources without it."""
    return not HAS_MODEL and path.startswith("rust/kernel/model/")


def test_addresses_of_the_project_agree() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    owner, name = urls["Repository"].split("/")[-2:]
    assert f"mcp-name: io.github.{owner}/{name} " in (ROOT / "README.md").read_text("utf-8")
    assert (site["repo_url"], site["site_url"]) == (urls["Repository"], urls["Documentation"])
    assert urls["Documentation"] == f"https://{owner}.github.io/{name}/"
    assert all(urls[name].startswith(urls["Repository"]) for name in ("Issues", "Changelog"))


@pytest.mark.process
def test_the_sources_contain_everything_and_their_metadata_the_addresses(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists() or shutil.which("maturin") is None:
        pytest.skip("needs git and maturin")
    subprocess.run(["maturin", "sdist", "--out", str(tmp_path)], cwd=ROOT, check=True)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
        top = f"pymemstore-{memstore.__version__}"
        told = sources.extractfile(f"{top}/PKG-INFO")
        assert told is not None
        metadata = email.message_from_bytes(told.read())
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {*listed.stdout.splitlines()} <= names
    assert {"tests/conftest.py", "docs/index.md", "CHANGELOG.md", "rust/faults/Cargo.toml"} <= names
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    assert {*metadata.get_all("Project-URL", [])} == {f"{k}, {v}" for k, v in urls.items()}
    links = re.findall(r"\]\(([^)\s]+)\)", str(metadata.get_payload()))
    assert links
    assert all(link.startswith("https://") for link in links)


def test_sources_without_the_model_declare_its_licence_no_more() -> None:
    script = import_file(ROOT / ".ci" / "without_model.py")
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    if not HAS_MODEL:
        skip_without_model()
    changed = tomllib.loads(script.without_model(text))
    assert changed["project"]["license"] == "MIT"
    assert changed["project"]["license-files"] == ["LICENSE"]
    assert changed["tool"]["maturin"]["no-default-features"] is True
    with pytest.raises(SystemExit, match="does not contain once"):
        script.without_model(script.without_model(text))


def test_site_pages_are_all_listed_and_link_only_to_each_other() -> None:
    """The build of the site checks links and anchors between pages, but none to other files."""
    docs = ROOT / "docs"
    pages = {page: page.read_text("utf-8") for page in docs.rglob("*.md")}
    made = import_file(docs / "reference.py").pages()
    pages |= {docs / "reference" / name: text for name, text in made.items()}
    for page, text in pages.items():
        for link in re.findall(r"\]\(([^)#:]+)[)#]", text):
            assert (page.parent / link).resolve() in pages, f"{page.name}: {link}"
    first = pages[docs / "index.md"]
    assert {page.name for page in docs.glob("*.md")} == {
        "index.md",
        *re.findall(r"\]\(([\w-]+\.md)\)", first),
    }


@pytest.mark.model
def test_the_licences_of_the_built_in_model_are_included() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    files = [file for pattern in project["license-files"] for file in ROOT.glob(pattern)]
    assert {file.name for file in files} == {
        "LICENSE", "NOTICE", "LICENSE.wordllama", "LICENSE.llama-2",
    }  # fmt: skip
    notice = (ROOT / "rust/kernel/model/NOTICE").read_text("utf-8")
    assert (
        "Llama 2 is licensed under the LLAMA 2 Community License, "
        "Copyright (c) Meta Platforms, Inc. All Rights Reserved."
    ) in notice
    agreement = (ROOT / "rust/kernel/model/LICENSE.llama-2").read_text("utf-8")
    assert agreement.startswith("LLAMA 2 COMMUNITY LICENSE AGREEMENT")


def test_pymemstore_runs_the_server_or_shows_help_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(programs, "mcp", SimpleNamespace(main=lambda: started.append([*sys.argv])))
    for argv, on_terminal in ((["p"], True), (["p"], False), (["p", "--tools", "facts"], True)):
        monkeypatch.setattr("sys.argv", [*argv])
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda answer=on_terminal: answer))
        assert programs.mcp_server_or_help() == 0
    gc.enable()
    assert started == [["p", "--help"], ["p"], ["p", "--tools", "facts"]]


def test_lines_and_heads_of_the_journal_are_json_values() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        store.add("Ana likes tea", subject="ana")
        (line,) = store.ledger.journal(1)
        told = json.loads(json.dumps(line.to_dict()))
        assert (told["id"], told["kind"], told["fact_id"]) == (line.id, "add", 1)
        assert store.file.head().to_dict() == store.file.head()._asdict()
