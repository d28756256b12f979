"""The weights of snowflake-arctic-embed-s as a package, found by Holdfast through an entry point.

Only data and the function that names it: how the model is run is Holdfast's business.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.embed.arctic import ArcticEmbedder

# Goes up when other weights, or another way to run them, would give other vectors.
IDENTITY = "arctic-embed-s-int8/1"
DIMENSIONS = 384
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def load(*, threads: int = 2) -> ArcticEmbedder:
    """The embedder on this package's weights; nothing is read until the first text."""
    from holdfast.embed.arctic import ArcticEmbedder

    return ArcticEmbedder(DATA, identity=IDENTITY, dimensions=DIMENSIONS, threads=threads)
