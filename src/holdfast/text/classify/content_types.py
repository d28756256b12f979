"""What a text is made of: prose, markdown, code, a chat, a link, data; and code's language.

A file's extension decides where there is one, else the text's own shape. This module knows
nothing of what a text means; `text.classify` does.
"""

from __future__ import annotations

import re

from holdfast.domain.memory import ContentType

# Patterns over lines look at no more than this, so that a 3 MB file costs what a page costs.
SAMPLE_CHARS = 20_000

_EXTENSIONS_OF_LANGUAGE = """
    c: c h | c++: cc cpp cxx hpp | c#: cs | css: css scss | dart: dart | docker: dockerfile
    elixir: ex exs | go: go | graphql: graphql gql | haskell: hs | html: htm html | java: java
    javascript: js jsx mjs cjs | kotlin: kt kts | lua: lua | perl: pl | php: php | powershell: ps1
    protobuf: proto | python: py pyi | r: r | ruby: rb | rust: rs | scala: scala | sql: sql
    shell: sh bash zsh | svelte: svelte | swift: swift | terraform: tf | typescript: ts tsx mts
    vue: vue
"""
_LANGUAGE_OF_EXTENSION = {
    extension: language
    for row in _EXTENSIONS_OF_LANGUAGE.replace("\n", "|").split("|")
    for language, _, extensions in (row.strip().partition(":"),)
    for extension in extensions.split()
}
_LANGUAGE_OF_FILE = {"dockerfile": "docker", "makefile": "make", "jenkinsfile": "groovy"}


def _type_of_extension() -> dict[str, ContentType]:
    types: dict[str, ContentType] = dict.fromkeys(_LANGUAGE_OF_EXTENSION, "code")
    types.update(dict.fromkeys(("md", "mdx", "markdown", "rst", "adoc"), "markdown"))
    data = "json jsonl ndjson yaml yml toml xml csv tsv ini cfg conf plist"
    types.update(dict.fromkeys(data.split(), "structured"))
    types.update(dict.fromkeys(("vtt", "srt"), "transcript"))
    attachments = "pdf png jpg jpeg gif webp svg heic tiff bmp doc docx odt ppt pptx xls xlsx epub"
    types.update(dict.fromkeys(attachments.split(), "file"))
    return types


_TYPE_OF_EXTENSION = _type_of_extension()

_URL = r"https?://[^\s<>]+"
# An address alone, as a markdown link, or under a line that names it.
_LINK = rf"<?{_URL}>?|\[[^\]\n]*\]\({_URL}\)|[^\n]{{1,200}}\n+<?{_URL}>?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?"
_TIMED_TURN = (
    rf"(?mi)^[ \t]*(?:[\[(](?:[\d/., -]+ )?{_CLOCK}[\])]|{_CLOCK})[ \t]*[-–—]?[ \t]*"
    r"[^\W\d_][^:\n]{0,40}:"
    rf"|^[^\W\d_][\w .'-]{{0,40}} [\[(]{_CLOCK}[\])]:?"
)
_TURN = (
    r"(?m)^(?:\[[\w -]{1,20}\][ \t]*)?(?:\*\*)?"
    r"([^\W\d_][\w .'-]{0,30}?)(?:\*\*)?:(?:\*\*)?[ \t]+\S"
)
_ROLES = {"user", "assistant", "human", "ai", "system", "bot", "agent", "me", "you"}
_ROLES |= {"claude", "chatgpt", "gpt"}

_KEY = r"(?:- )?[a-z_][\w.-]*:(?: |$)"
_KEY_LINE = rf"{_KEY}.*|- .*|#.*|---|\.\.\."
_ASSIGNMENT = r"[\w.\"-]+ ?= ?\S"
_ASSIGNMENT_LINE = rf"{_ASSIGNMENT}.*|\[{{1,2}}[\w. \"-]+\]{{1,2}}|[#;].*|[\]}}],?|\".*\",?"

_MARKDOWN_SIGN = (
    r"(?m)\A---\n(?:.*\n){0,40}?---[ \t]*$"  # front matter
    r"|^#{1,6} \S|^ {0,3}(?:```|~~~)|^\|?[ :]*-{3,}[ :]*\|"  # heading, fence, table
    r"|^[ \t]*(?:[-*+]|\d+[.)]) \S.*\n+[ \t]*(?:[-*+]|\d+[.)]) \S"  # two items of a list
    r"|\*\*[^*\s][^*\n]*\*\*|\[[^\[\]\n]+\]\([^()\s]+\)"  # bold, link
)

# A first line that could hardly be prose, by language: how it begins, in small letters, and what it
# is. Most lines begin like none of these, and cost no pattern.
_FIRST_LINES = (
    ("shell", ("#!", "set -"), r"#!.*\b(?:ba|z|da)?sh\b|set -[eux]+$"),
    (
        "python",
        ("#!", "async def ", "def ", "class ", "from ", "import ", "@"),
        r"#!.*\bpython|(?:async )?def \w+\(|class \w+(?:\(.*\))?:$|from [\w.]+ import "
        r"|import [\w.]+(?: as \w+)?$|@\w[\w.]*(?:\(.*\))?$",
    ),
    ("go", ("package ", "func "), r"package \w+$|func (?:\(\w+ \*?\w+\) )?\w+\("),
    (
        "rust",
        ("pub ", "fn ", "struct ", "impl", "mod ", "let mut ", "use "),
        r"(?:pub )?(?:fn \w+.*[({]|struct \w+|impl\b.*\{|mod \w+)|let mut "
        r"|use [\w:]+(?:::\{.*\})?;",
    ),
    ("c", ("#include", "#define "), r"#include\s*[<\"]|#define \w+"),
    (
        "java",
        ("public ", "private ", "protected ", "import ", "package "),
        r"(?:public|private|protected) (?:static |final |abstract )*(?:class|interface|\w+ \w+\()"
        r"|import [\w.]+;|package [\w.]+;",
    ),
    (
        "typescript",
        ("export ", "interface ", "type ", "const "),
        r"(?:export )?(?:interface|type) \w+(?:<.*>)? ?[={]|(?:export )?const \w+: \w+",
    ),
    (
        "javascript",
        (
            *("export ", "default ", "async ", "function", "import "),
            *("const ", "let ", "var ", "class "),
        ),
        r"(?:export )?(?:default )?(?:async )?function\b.*\(|import .* from ['\"]"
        r"|(?:export )?(?:const|let|var) (?:\w+|\{[^}]*\}|\[[^\]]*\]) ?= ?\S"
        r"|(?:export )?(?:default )?class \w+.*\{$",
    ),
    (
        "sql",
        ("select", "create ", "insert ", "alter ", "update ", "delete ", "with "),
        r"(?i:select\b.+\bfrom\b.*[;*=,(]|select [\w*.,\s]+,$|create (?:table|index|view) .*[(;]"
        r"|insert into \w+ ?\(|alter table \w+ \w+ .*;|update \w+ set\b|delete from \w+.*;"
        r"|with \w+ as \()",
    ),
    (
        "html",
        ("<",),
        r"(?i:<!doctype html|<html\b|<(?:div|script|body|head|table|ul|section)\b[^>]*>)",
    ),
    ("css", ("",), r"[.#@]?[\w-]+(?:[ ,>:.#][\w-]+)* ?\{$"),
    ("docker", ("from ",), r"FROM [\w./:-]+(?: AS \w+)?$"),
    ("php", ("<?php",), r"<\?php"),
)
# How all but CSS begins, which is known by the end of its line.
_OPENINGS = tuple({one for _, openings, _ in _FIRST_LINES for one in openings if one})
_COMMENTS = ("//", "/*", "*", "--", "# ")
_CODE_LINE = (
    r"\s+\S.*|.*[{}();,:>\\]|[#/*@].*|--.*|[\w.]+ ?[+-]?= ?\S.*"
    r"|(?:return|end|fi|done|else|import|export|package|use|from|FROM|RUN|COPY|CMD|WORKDIR)\b.*"
)
# The rest of a text must look like code as well, but for a stray line or two.
_CODE_SHARE_MIN = 0.7


def content_type_of(content: str, source_path: str | None = None) -> ContentType:
    """One of the content types, by the file's extension, else by the text's own shape."""
    extension, name = _extension(source_path)
    if known := _TYPE_OF_EXTENSION.get(extension):
        return known
    if name in _LANGUAGE_OF_FILE:
        return "code"
    text = content.strip()[:SAMPLE_CHARS]
    if "://" in text and re.fullmatch(_LINK, text):
        return "link"
    if _is_structured(content, text):
        return "structured"
    if text.startswith("WEBVTT"):
        return "transcript"
    # Two that speak have a colon each.
    if text.count(":") >= 2:
        if len(re.findall(_TIMED_TURN, text)) >= 2:
            return "transcript"
        if _is_chat(text):
            return "chat"
    if language_of(content):
        return "code"
    return "markdown" if _is_markdown(text) else "text"


def language_of(content: str, source_path: str | None = None) -> str:
    """The programming language in lower case (`python`, `c++`), or '' when it is not code."""
    extension, name = _extension(source_path)
    if known := _LANGUAGE_OF_EXTENSION.get(extension) or _LANGUAGE_OF_FILE.get(name):
        return known
    text = content.strip()[:SAMPLE_CHARS]
    if text.startswith("```"):
        fence = re.fullmatch(r"```([\w+#-]*)[^\n]*\n(.*?)\n```", text, re.DOTALL)
        if fence is None or "\n```" in fence.group(2):
            return ""
        named = fence.group(1).lower()
        return _LANGUAGE_OF_EXTENSION.get(named, named) or language_of(fence.group(2))
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    start = next((line for line in lines if not line.startswith(_COMMENTS)), "")
    opening = start.lower()
    if not opening.startswith(_OPENINGS) and not start.endswith("{"):
        return ""
    for language, openings, pattern in _FIRST_LINES:
        if not opening.startswith(openings) or (language == "css" and not start.endswith("{")):
            continue
        if re.match(pattern, start):
            if start.startswith("#!"):
                return language
            codelike = sum(1 for line in lines if line is start or re.fullmatch(_CODE_LINE, line))
            return language if codelike >= _CODE_SHARE_MIN * len(lines) else ""
    return ""


def _extension(source_path: str | None) -> tuple[str, str]:
    """A path's extension without the dot, and its last part; both in lower case."""
    name = (source_path or "").replace("\\", "/").rpartition("/")[2].lower()
    return (name.rpartition(".")[2] if "." in name else ""), name


def _is_structured(content: str, text: str) -> bool:
    if text.startswith("<?xml"):
        return True
    if text[:1] in ("{", "[") and content.rstrip()[-1:] in ("}", "]"):
        if len(content) > SAMPLE_CHARS:
            return re.match(r'[\[{\s]*"', text) is not None
        import json  # here, because few texts begin like this

        try:
            json.loads(content)
        except (ValueError, RecursionError):
            pass  # a TOML table or a remark in brackets
        else:
            return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 3:
        return False
    # Keys in lower case and nothing but such lines: 'Name: Ann' is how people write notes.
    if sum(1 for line in lines if re.match(f"{_KEY}|{_ASSIGNMENT}", line)) < 2:
        return False
    forms = (_KEY_LINE, _ASSIGNMENT_LINE)
    return any(all(re.fullmatch(form, line) for line in lines) for form in forms)


def _is_markdown(text: str) -> bool:
    # Every sign that can be in a single line has one of these.
    if not any(mark in text for mark in ("\n", "#", "**", "](", "```", "~~~", "---")):
        return False
    return re.search(_MARKDOWN_SIGN, text) is not None


def _is_chat(text: str) -> bool:
    """Two known roles that speak, or four turns of two to six people who fill most lines."""
    speakers = [speaker.lower() for speaker in re.findall(_TURN, text)]
    distinct = set(speakers)
    if len(distinct) < 2:
        return False
    if len(distinct & _ROLES) >= 2:
        return True
    if len(speakers) < 4 or len(distinct) > 6:
        return False
    returning = sum(1 for speaker in distinct if speakers.count(speaker) > 1)
    lines = sum(1 for line in text.splitlines() if line.strip())
    return returning >= 2 and len(speakers) >= 0.7 * lines
