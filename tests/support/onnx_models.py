"""An ONNX model of a few kilobytes, as a model hub would give it: a table of word vectors."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "rain", "query", "at", "noon", "garden"]
DIMENSION = 384
INT64, FLOAT = 7, 1


def write(folder: Path) -> None:
    """Write the graph and its tokenizer: a text's vector is that of its words, without order."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True)
    drawn = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSION)).astype("<f4")
    (folder / "model_optimized.onnx").write_bytes(_graph(drawn))
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, value in {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 64, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]"},
    }.items():
        (folder / name).write_text(json.dumps(value), "utf-8")


def _graph(table: np.ndarray) -> bytes:
    """Return ``last_hidden_state = mean over words of table[input_ids], for each word``."""
    nodes = [
        _node("Gather", ["table", "input_ids"], ["each"]),
        _node("ReduceMean", ["each"], ["last_hidden_state"], axes=[1], keepdims=1),
    ]
    weights = _field(1, table.shape[0]) + _field(1, table.shape[1]) + _field(2, FLOAT)
    weights += _field(8, b"table") + _field(9, table.tobytes())
    inputs = [_value(name, INT64, ["batch", "words"]) for name in ("input_ids", "attention_mask")]
    output = _value("last_hidden_state", FLOAT, ["batch", "one", DIMENSION])
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny") + _field(5, weights)
    graph += b"".join(_field(11, one) for one in inputs) + _field(12, output)
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


def _node(kind: str, given: list[str], made: list[str], **numbers: int | list[int]) -> bytes:
    node = b"".join(_field(1, name.encode()) for name in given)
    node += b"".join(_field(2, name.encode()) for name in made) + _field(4, kind.encode())
    for name, value in numbers.items():
        held = _field(1, name.encode())
        if isinstance(value, list):
            held += b"".join(_field(8, one) for one in value) + _field(20, 7)
        else:
            held += _field(3, value) + _field(20, 2)
        node += _field(5, held)
    return node


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = (_field(1, one) if isinstance(one, int) else _field(2, one.encode()) for one in shape)
    tensor = _field(1, kind) + _field(2, b"".join(_field(1, size) for size in sizes))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, value: int | bytes) -> bytes:
    """Return a field of a protocol buffer."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    digits = []
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return struct.pack(f"{len(digits) + 1}B", *digits, value)
