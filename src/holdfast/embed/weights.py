"""Model files in a folder: that they are there, and a name that changes when they do."""

from __future__ import annotations

import os
from collections.abc import Sequence

from holdfast.errors import EmbedderError

READ_BYTES = 1 << 20  # a megabyte at a time keeps memory flat and the hash fast


def model_files(folder: str, names: Sequence[str]) -> list[str]:
    """The paths of the files of a model, each of which must exist."""
    paths = [os.path.join(folder, name) for name in names]
    missing = [name for name, path in zip(names, paths, strict=True) if not os.path.isfile(path)]
    if missing:
        raise EmbedderError(
            f"The model folder {folder} has no {' and no '.join(missing)}.",
            hint=f"A model folder holds {' and '.join(names)}.",
        )
    return paths


def fingerprint(paths: Sequence[str]) -> str:
    """Twelve hex digits of the contents: enough to tell a person's models apart."""
    import hashlib

    digest = hashlib.sha256()
    for path in paths:
        try:
            with open(path, "rb") as file:
                while block := file.read(READ_BYTES):
                    digest.update(block)
        except OSError as error:
            raise EmbedderError(f"The model file {path} cannot be read: {error}.") from error
    return digest.hexdigest()[:12]
