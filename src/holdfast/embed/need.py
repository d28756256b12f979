"""Importing what only some installations have, with an error that says how to get it."""

from __future__ import annotations

import os
from typing import Any

from holdfast.errors import EmbedderError


def need(module: str, extra: str) -> Any:
    """The module, imported now; an EmbedderError with the pip command if that fails."""
    from importlib import import_module

    # onnxruntime, which fastembed and sentence-transformers use as well, makes an id for the
    # machine and sends reports to its maker, unless this is set before it is loaded. Holdfast
    # sends nothing anywhere; a person who has set it otherwise is left alone.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return import_module(module)
    except ImportError as error:
        raise EmbedderError(
            f"This embedder needs the package {module.partition('.')[0]}, which cannot be"
            f" imported ({error}).",
            hint=f'Install it from a checkout: pip install ".[{extra}]"',
        ) from error
