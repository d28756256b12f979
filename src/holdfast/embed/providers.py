"""From the words of a setting to an embedder.

The only place that names the embedders; it imports the one that was asked for and no other. It
knows nothing of settings files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import EmbedderError, InvalidSetting

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from holdfast.embed import Embedder

GROUP = "holdfast.embedders"
DEFAULT_NAME = "embed-s"  # taken by `auto` when several are installed
_OWN_PACKAGE = "holdfast_embed_s"

FORMS = (
    "auto (the bundled model), none, multilingual, openai:MODEL@URL, fastembed:NAME,"
    " sentence-transformers:NAME, path:FOLDER, or the name of an installed embedder"
)

MISSING_MODEL = (
    "No embedding model is installed, so recall goes by words alone."
    " Install the bundled one with `pip install holdfast-memory-model`"
    " (in a checkout: `pip install ./packages/holdfast-memory-model`)."
)


def find_embedder(
    spec: str = "auto",
    *,
    key_variable: str = "",
    dimensions: int = 0,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
    tokens_max: int = 512,
    timeout_s: float = 10.0,
    threads: int = 2,
) -> Embedder | None:
    """The embedder a setting names; None for `none`, and for `auto` when none is installed.

    The options are settings of their own; an embedder takes those that mean something to it.
    `key_variable`, `dimensions` and `timeout_s` are for servers, `threads` for models that run
    here. A prefix of None is the one the model is known to want.
    """
    form, colon, rest = spec.strip().partition(":")
    if not colon:
        return _by_name(form, threads)
    if not rest:
        raise _bad(spec)
    if form == "openai":
        from holdfast.embed.openai_compatible import OpenAICompatibleEmbedder

        # A model's name may hold an @, so the URL is found by how it starts.
        model, at, url = rest.partition("@http")
        if not (model and at):
            raise _bad(spec)
        return OpenAICompatibleEmbedder(
            model,
            f"http{url}",
            key_variable=key_variable,
            dimensions=dimensions,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            tokens_max=tokens_max,
            timeout_s=timeout_s,
        )
    if form == "fastembed":
        from holdfast.embed.local_models import FastEmbedEmbedder

        return FastEmbedEmbedder(
            rest,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            tokens_max=tokens_max,
            threads=threads,
        )
    if form == "sentence-transformers":
        from holdfast.embed.local_models import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(
            rest, query_prefix=query_prefix, passage_prefix=passage_prefix
        )
    if form == "path":
        return _in_folder(
            os.path.expanduser(rest), query_prefix, passage_prefix, tokens_max, threads
        )
    raise _bad(spec)


def _by_name(name: str, threads: int) -> Embedder | None:
    if name in ("", "auto"):
        return _bundled(threads)
    if name == "multilingual":
        from holdfast.embed.local_models import MultilingualEmbedder

        return MultilingualEmbedder()
    return None if name == "none" else _installed(name, threads)


def _bad(spec: str) -> InvalidSetting:
    # A URL in the setting may hold a password; only the part before it is repeated.
    shown = spec.partition("@")[0]
    return InvalidSetting(f"The embedder {shown!r} is not known.", hint=f"Use {FORMS}.")


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _bundled(threads: int) -> Embedder | None:
    # Looked for by its name first: to read what each installed package offers takes 40 ms, which
    # every command that makes a vector would pay.
    if _has_own():
        return _load(DEFAULT_NAME, _own, threads)
    points = _entry_points()
    if not points:
        return None
    name = DEFAULT_NAME if DEFAULT_NAME in points else min(points)
    return _load(name, points[name].load, threads)


def _has_own() -> bool:
    from importlib.util import find_spec

    return find_spec(_OWN_PACKAGE) is not None


def _own() -> Any:
    from importlib import import_module

    return import_module(_OWN_PACKAGE).load


def _installed(name: str, threads: int) -> Embedder:
    points = _entry_points()
    if name not in points:
        raise _bad(name)
    return _load(name, points[name].load, threads)


def _load(name: str, found: Callable[[], Any], threads: int) -> Embedder:
    """The embedder that a package offers: a callable with the keyword `threads`."""
    try:
        make = found()
    except (ImportError, AttributeError) as error:
        raise EmbedderError(
            f"The installed embedder {name} cannot be loaded: {error}",
            hint="Install its package again.",
        ) from error
    embedder: Embedder = make(threads=threads)
    return embedder


def _in_folder(
    folder: str,
    query_prefix: str | None,
    passage_prefix: str | None,
    tokens_max: int,
    threads: int,
) -> Embedder:
    from holdfast.embed import onnx
    from holdfast.embed.local_models import StaticEmbedder

    def holds(names: tuple[str, ...]) -> bool:
        return all(os.path.isfile(os.path.join(folder, name)) for name in names)

    if holds(onnx.FILES):
        return onnx.OnnxEmbedder(
            folder,
            query_prefix=onnx.QUERY_PREFIX if query_prefix is None else query_prefix,
            passage_prefix=passage_prefix or "",
            tokens_max=tokens_max,
            threads=threads,
        )
    if holds(StaticEmbedder.FILES):
        return StaticEmbedder(folder, tokens_max=tokens_max)
    raise InvalidSetting(
        f"The folder {folder} holds no embedding model.",
        hint=f"It needs {' and '.join(onnx.FILES)}, or {' and '.join(StaticEmbedder.FILES)}.",
    )
