"""The weights of holdfast-embed-s as a package, found by Holdfast through an entry point.

Only data and the function that names it: `holdfast.embed.onnx` runs the model.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.embed.onnx import OnnxEmbedder

# Raise the number when other weights, or another way to run them, give other vectors: every store
# then makes its vectors anew.
IDENTITY = "holdfast-embed-s/1"
DIMENSIONS = 384
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
# Compared when the model is loaded.
SHA256 = {
    "model.onnx": "8b810af565cdd4a257d8d432ae233508dd448f45c6f11ff78bb782a97d474990",
    "vocab.txt": "b49e80874c5efbc7f4cde245a812673b05ef1360ced56b8bc8c750eaeef3fe0f",
}


def load(*, threads: int = 2) -> OnnxEmbedder:
    """The embedder on this package's weights; nothing is read until the first text."""
    from holdfast.embed.onnx import OnnxEmbedder

    return OnnxEmbedder(
        DATA, identity=IDENTITY, dimensions=DIMENSIONS, sha256=SHA256, threads=threads
    )
