"""Models that run in this process by ONNX Runtime, without PyTorch and without a server.

Needs the extra ``fastembed``. A model's files are fetched by one command, ``memstore fetch-model``,
and by nothing else: no write, search or hook ever downloads anything. A file records the model with
the digest of its files, so that other weights under the same name are another model.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.errors import EmbedderUnavailable, InvalidArgument, Remedy, StorageError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.providers import prompts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import fastembed
    import numpy as np
    from numpy.typing import NDArray
else:
    fastembed = lazy_import("fastembed")
    np = lazy_import("numpy")

DEFAULT: Final = "BAAI/bge-small-en-v1.5"

ABOUT: Final = "memstore-model.json"
"""The file beside a model's own that says what it is."""

DIGITS: Final = 12
"""How much of the digest a model's name has."""

BATCH: Final = 32
"""How many texts the model sees at once; more take more memory and no less time."""


class Offered(NamedTuple):
    """A model that can be fetched."""

    model: str
    licence: str
    megabytes: int
    dimension: int


class FastEmbedder:
    """Embeds with a model whose files were fetched before; they are loaded at the first text.

    Args:
        model: its name, as ``memstore fetch-model`` lists it.
        folder: where the models are; ``None`` for ``models`` beside the user's own memory.

    Raises:
        ValueError: the model was not fetched.
    """

    def __init__(self, model: str = DEFAULT, *, folder: str | Path | None = None) -> None:
        self._model, named = prompts.split(model)
        self._folder = _folder(self._model, folder)
        self._prompts = prompts.of_model(self._model) if named is None else named
        try:
            about = json.loads((self._folder / ABOUT).read_text("utf-8"))
            self._files: dict[str, str] = about["files"]
            self._digest = _digest(self._files)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidArgument(
                f"{self._model!r} is not on this machine: fetch it with "
                f"`memstore fetch-model {self._model}`",
                argument="model",
            ) from error
        self._loading = threading.Lock()
        self._loaded: Any = None

    def __repr__(self) -> str:
        return f"FastEmbedder({self._model!r})"

    @property
    def model(self) -> str:
        """The model's name with the digest of its files, and its prompts."""
        return self._prompts.recorded(f"{self._model}@{self._digest[:DIGITS]}")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, d]``, one row of length one per passage.

        Raises:
            EmbedderUnavailable: the extra is not installed, or the files are not those fetched.
        """
        return self._embed(self._prompts.passage, texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the same for questions, which have a prompt of their own."""
        return self._embed(self._prompts.query, texts)

    def _embed(self, prompt: str, texts: Sequence[str]) -> NDArray[np.float32]:
        loaded = self._load()
        rows = [*loaded.embed([f"{prompt}{text}" for text in texts], batch_size=BATCH)]
        return np.stack(rows).astype(np.float32) if rows else np.empty((0, 0), np.float32)

    def _load(self) -> Any:
        with self._loading:
            if self._loaded is None:
                for name, digest in self._files.items():
                    if _hash(self._folder / name) != digest:
                        raise EmbedderUnavailable(
                            f"the file {name} of {self._model!r} is not the one that was fetched: "
                            f"fetch it again with `memstore fetch-model {self._model}`"
                        )
                self._loaded = _text_embedding()(
                    self._model, specific_model_path=str(self._folder), local_files_only=True
                )
            return self._loaded


def offered() -> list[Offered]:
    """Return the models that can be fetched, the smallest first.

    Raises:
        EmbedderUnavailable: the extra is not installed.
    """
    every = [
        Offered(one["model"], one["license"], round(1000 * one["size_in_GB"]), one["dim"])
        for one in _text_embedding().list_supported_models()
    ]
    return sorted(every, key=lambda one: (one.megabytes, one.model))


def find(model: str) -> Offered:
    """Return what is known of a model that can be fetched; ValueError if there is none."""
    for one in offered():
        if one.model.lower() == model.lower():
            return one
    raise InvalidArgument(
        f"{model!r} cannot be fetched; `memstore fetch-model` lists those that can",
        argument="model",
    )


def fetch(model: str, *, folder: str | Path | None = None) -> Path:
    """Download a model's files, note their digests, and return their folder.

    The folder appears whole or not at all.

    Raises:
        EmbedderUnavailable: the extra is not installed.
        StorageError: it could not be downloaded or stored.
    """
    kind = _text_embedding()
    place = _folder(model, folder)
    part = place.with_name(place.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        fetched = kind(model, cache_dir=str(part / "cache"), lazy_load=True).model._model_dir
        keep(model, Path(fetched), part / "model")
        shutil.rmtree(place, ignore_errors=True)
        (part / "model").rename(place)
    except Exception as error:  # of the library, the network or the disk
        raise StorageError(f"{model!r} could not be fetched: {error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return place


def keep(model: str, fetched: Path, place: Path) -> None:
    """Copy a model's files to a folder, with what they are."""
    shutil.copytree(fetched, place, ignore=shutil.ignore_patterns(".*"))
    names = [path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()]
    about = {"model": model, "files": {name: _hash(place / name) for name in sorted(names)}}
    (place / ABOUT).write_text(json.dumps(about, indent=1), "utf-8")


def _text_embedding() -> Any:
    try:
        return fastembed.TextEmbedding
    except ImportError as error:
        raise EmbedderUnavailable(
            f"the embedder 'fastembed' needs packages that are not installed ({error})",
            remedy=Remedy.INSTALL_FASTEMBED,
        ) from None


def _folder(model: str, folder: str | Path | None) -> Path:
    models = Path(settings.models_folder() if folder is None else folder)
    return models / model.replace("/", "--")


def _digest(files: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
