"""The embedded default: static token embeddings, ready after installation, offline, no key.

The vectors and the vocabulary are two files in the ``wordllama`` package (MIT); they are read
directly, since importing that package costs more than everything done here. A text's vector is
the mean of its tokens' vectors, brought to unit length.
"""

from __future__ import annotations

import hashlib
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.errors import EmbedderRejected, Remedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
VOCABULARY: Final = "tokenizers/l2_supercat_tokenizer_config.json"

DIGEST: Final = "66d5a93ec5d940d86a64a6b04c97e99962b6c3bda3cca964f2e5aa4f1cd44cdb"
"""SHA-256 over both files, line ends aside; releases of wordllama differ in nothing else."""

MODEL: Final = f"wordllama-l2-supercat-256-mean-{DIGEST[:8]}"
"""Names the content: other vectors, or another way to pool them, would be another model."""


class LocalEmbedder:
    """Embeds within the process. The files are read at the first text; about 70 MB then."""

    model: str = MODEL

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._loaded: tuple[Tokenizer, NDArray[np.float16]] | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, 256]``, rows of unit length; zero for a text without tokens.

        Raises:
            EmbedderRejected: the installed ``wordllama`` does not hold the vectors of ``model``.
        """
        # numpy and the two readers are imported with the first text: a command that embeds
        # nothing starts without them.
        import numpy as np

        tokenizer, table = self._load()
        pooled = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for row, encoding in zip(pooled, encodings, strict=True):
            if encoding.ids:
                np.add.reduce(table[encoding.ids], axis=0, dtype=np.float32, out=row)
        lengths = np.sqrt(np.einsum("ij,ij->i", pooled, pooled))[:, None]
        np.divide(pooled, lengths, out=pooled, where=lengths > 0)
        return pooled

    def __repr__(self) -> str:
        return f"LocalEmbedder(model={self.model!r})"

    def _load(self) -> tuple[Tokenizer, NDArray[np.float16]]:
        with self._loading:
            self._loaded = self._loaded or _read_files(_package_folder())
            return self._loaded


def _package_folder() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbedderRejected(
            "the package wordllama is missing", remedy=Remedy.INSTALL_LOCAL_MODEL
        )
    return Path(spec.origin).parent


def _read_files(folder: Path) -> tuple[Tokenizer, NDArray[np.float16]]:
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    try:
        weights = (folder / WEIGHTS).read_bytes()
        vocabulary = (folder / VOCABULARY).read_bytes()
    except OSError as error:
        raise EmbedderRejected(
            f"cannot read the local model in wordllama: {error}", remedy=Remedy.INSTALL_LOCAL_MODEL
        ) from error
    if (found := digest(weights, vocabulary)) != DIGEST:
        raise EmbedderRejected(
            f"the installed wordllama has other vectors ({found[:8]}) than {MODEL}",
            remedy=Remedy.INSTALL_LOCAL_MODEL,
        )
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    # A literal "<s>" in a text is text.
    tokenizer.encode_special_tokens = True
    table: NDArray[np.float16]
    (table,) = load(weights).values()
    return tokenizer, table


def digest(weights: bytes, vocabulary: bytes) -> str:
    text = vocabulary.replace(b"\r\n", b"\n").strip()
    parts = hashlib.sha256(weights).digest() + hashlib.sha256(text).digest()
    return hashlib.sha256(parts).hexdigest()
