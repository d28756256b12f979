"""What a person wrote in a prompt, without what they pasted: code, logs, stack traces, diffs, data.

A page of code says little of what is asked, fills a model's window, and has more words than the
question. Names of errors stay: they are what people look up.
"""

from __future__ import annotations

import re
from itertools import groupby

_FENCED = re.compile(
    r"^ {0,3}(?P<fence>```+|~~~+)[ \t]*(?P<language>[^\n]*)\n(?P<body>.*?)"
    r"(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
# Lines that no one writes by hand, by how they begin.
_MACHINE = re.compile(
    r"""\s*(?:
        \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d[\].,\s]           # times of a log
      | (?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b[\s:\[]
      | Traceback\ \(|File\ "[^"]+",\ line\ \d|at\ [\w.$<>]+\s?\(|\.\.\.\ \d+\ more  # stack traces
      | diff\ --git\ |index\ [0-9a-f]{6,}|@@\ |[+-]{3}\ [ab]/
      | [$%]\ \S|>>>\ |\#include\b|[\])}]+[;,)]*$|[{\[(]$|</?\w+[^>]*>\s*$    # shells, brackets
      | "[^"\n]+"\s*:\s                                                        # JSON
      | (?:async\ )?def\ \w+\(|class\ \w+[^.?!]*[:{]$|[^.?!]*[;{]$            # code
    )""",
    re.VERBOSE,
)
_ERROR = re.compile(r"\s*[\w.]*(?:Error|Exception|Warning)\b")
_LIST_MARK = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
# A word as people write it, or a number, with the signs of a sentence around it.
_PLAIN = re.compile(r"[(\"'“‘*_]*(?:[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\w.,:%]*)[.,;:!?)\"'”’*_…]*")
_PLAIN_SHARE_LEAST = 0.6
# A shorter run of such lines is part of what was written.
_LINES_LEAST = 3


def without_pasted(text: str) -> str:
    """The text without what was pasted into it; whole where it is nothing else."""
    if "\n" not in text:
        return text
    kept: list[str] = []
    lines = _FENCED.sub(_unfenced, text).split("\n")
    for pasted, run in groupby(_marked(lines), key=lambda line: line[0]):
        some = [line for _, line in run]
        if pasted and sum(map(bool, map(str.strip, some))) >= _LINES_LEAST:
            some = ["", *filter(_ERROR.match, some), ""]
        kept += some
    return "\n".join(kept).strip() or text


def _unfenced(block: re.Match[str]) -> str:
    """What a fence holds, where it is prose: a draft, a quotation."""
    marked = [pasted for pasted, line in _marked(block["body"].split("\n")) if line.strip()]
    if block["language"].strip() or 2 * sum(marked) >= len(marked):
        return "\n"
    return block["body"]


def _marked(lines: list[str]) -> list[tuple[bool, str]]:
    """Each line, and whether it looks pasted; empty and short lines are as the one before."""
    marked: list[tuple[bool, str]] = []
    before = False
    for line in lines:
        if line.strip():
            before = _looks_pasted(line, after_pasted=before)
        marked.append((before, line))
    return marked


def _looks_pasted(line: str, *, after_pasted: bool) -> bool:
    if _MACHINE.match(line):
        return True
    # A comment inside of code is indented like it.
    if after_pasted and line[:1] in " \t":
        return True
    words = _LIST_MARK.sub("", line, count=1).split()
    plain = sum(1 for word in words if _PLAIN.fullmatch(word))
    return plain < _PLAIN_SHARE_LEAST * len(words)
