"""What a question has in common with text at large: its cosine with the mean of a hundred sentences
about everyday things (bench/sets/general.txt).

Some questions are near to everything ('what is the name of my …?'), others to nothing. A memory
answers where it is nearer to the question than general text is. The means are stored for the models
whose cosines were measured (`python -m bench.confidence --general` writes them).
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.embed.base import Vector

# `pathlib` would take 2 ms of the start of a command.
MEANS = os.path.join(os.path.dirname(__file__), "general.json")


@functools.cache
def _means() -> dict[str, Vector]:
    import base64
    import json

    import numpy as np

    with open(MEANS, encoding="utf-8") as file:
        stored = json.load(file)["means"]
    return {
        model: np.frombuffer(base64.b64decode(mean), "<f2").astype(np.float32)
        for model, mean in stored.items()
    }


def nearness(model: str, question: Vector) -> float:
    """The cosine of a question with general text; 0 for a model that was not measured."""
    mean = _means().get(model)
    return 0.0 if mean is None else float(mean @ question)
