"""What `holdfast --version` prints: the version, the embedding model, and where the store is.

It opens no store and loads no model, and prints the version whatever is wrong with the settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast import __version__
from holdfast.errors import InvalidSetting

# Where the header of a SQLite file holds `user_version`, which is the version of the schema.
_USER_VERSION = slice(60, 64)
_MAGIC = b"SQLite format 3\x00"


def version(*, json: bool = False) -> str:
    """The version on the first line, for programs that read it; then the model and the store."""
    model, store = _installed()
    if json:
        from json import dumps

        data = {"version": __version__, "model": model, "store": store}
        return dumps({"data": data}, ensure_ascii=False)
    return f"holdfast {__version__}\nmodel    {model}\nstore    {store}"


def _installed() -> tuple[str, str]:
    from holdfast.settings import load
    from holdfast.settings.file import home_folder

    home = home_folder()
    try:
        settings = load(home)
    except InvalidSetting as error:
        return f"unknown: {error.message}", home
    return model_of(settings["embed.model"]), store_of(home, settings["store.url"], os.environ)


def model_of(spec: str) -> str:
    if spec.strip() not in ("", "auto"):
        # A URL may hold a password.
        return spec.partition("@")[0]
    try:
        import holdfast_embed_s
    except ImportError:
        return "none; recall goes by words"
    return str(holdfast_embed_s.IDENTITY)


def store_of(home: str, url: str, environ: Mapping[str, str]) -> str:
    if server := environ.get("HOLDFAST_SERVER"):
        return f"the server {server}"
    if url:
        from holdfast.wiring.databases import without_password

        return without_password(url)
    path = os.path.join(home, "memory.db")
    try:
        with open(path, "rb") as file:
            header = file.read(_USER_VERSION.stop)
    except OSError:
        return f"{path} (not there yet)"
    if not header.startswith(_MAGIC):
        return f"{path} (not a store; `holdfast doctor` says more)"
    schema = int.from_bytes(header[_USER_VERSION], "big")
    # A new store has its schema in the write-ahead log at first, and 0 in the file.
    return f"{path} (schema {schema})" if schema else path
