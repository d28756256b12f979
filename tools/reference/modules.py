"""Generates docs/reference/modules.md: every module with its first sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PACKAGE = ROOT / "src" / "holdfast"
_INTRODUCTION = """\
# Modules

For contributors: the first sentence of each module of `src/holdfast`. The page is made by `make reference`. [ARCHITECTURE.md](../../ARCHITECTURE.md) says where a feature is and how the layers lie on each other.
"""  # noqa: E501
# The end of a sentence: not that of 'e.g.' or '1.2', and not within quotes or brackets.
_END = re.compile(r"(?<=[a-z)`'’\"…])\.(?=\s+[A-Z`'\"])")


def page() -> str:
    folders: dict[Path, list[Path]] = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        folders.setdefault(path.parent, []).append(path)
    return "\n".join([_INTRODUCTION, *(_folder(*one) for one in sorted(folders.items()))])


def _folder(folder: Path, modules: list[Path]) -> str:
    name = folder.relative_to(_PACKAGE).as_posix()
    about = _first_sentence(folder / "__init__.py")
    heading = f"**`{'' if name == '.' else name + '/'}`** {about}" if name != "." else ""
    lines = [
        f"- `{path.name}`: {_first_sentence(path)}"
        for path in modules
        if path.name != "__init__.py" or name == "."
    ]
    return "\n".join([*([heading, ""] if heading else []), *lines, ""])


def _first_sentence(module: Path) -> str:
    text = module.read_text("utf-8")
    docstring = ast.literal_eval(text[: text.index('"""', 3) + 3]) if text else ""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    end = _END.search(paragraph)
    return paragraph[: end.end()] if end else paragraph
