"""Titles and summaries taken from a text's own words, for lists, prompts and file names.

Nothing is invented: a title is a heading, a name or the opening words, a summary the first
sentences that say something. This module knows markdown and sentences; it calls no model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice

# One line of a list on a terminal of 100 columns, next to a number and a date.
TITLE_CHARS_MAX = 80
SUMMARY_CHARS_MAX = 200
# In a text this short, so many sentences are their own summary.
_SHORT_CHARS = 300
_NO_SUMMARY_SENTENCES = 2
# Titles and summaries come from the opening; reading on in a 3 MB file finds nothing better.
_OPENING_CHARS = 8_000

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TITLE_FIELD = r"(?mi)^title:[ \t]*(\S.*)$"
_HEADING = r"(?m)^ {0,3}#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*$|^(\S[^\n]*)\r?\n(?:={3,}|-{3,})[ \t]*$"
_FENCE = r"(?ms)^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[ \t]*$|\Z)"

# Names that a definition gives, in the languages of the import list.
_DEFINITION = (
    r"(?m)^[ \t]*(?:export |default |public |private |protected |static |final |abstract |async"
    r" |pub )*(?:def|class|function|func(?: \([^)]*\))?|fn|interface|struct|enum|trait|type|module"
    r"|impl)[ \t]+([A-Za-z_]\w*)"
    r"|^[ \t]*(?:export )?(?:const|let|var) ([A-Za-z_]\w*)[^=\n]*=[ \t]*(?:async )?(?:function|\()"
    r"|(?i:^[ \t]*create (?:or replace )?(?:table|view|index|function)(?: if not exists)? ([\w.]+))"
)
_NAMED_LINK = r"\A\[([^\]\n]+)\]\(|\A(?!<?https?://)([^\n]+)\n+<?https?://"
_URL = r"https?://(?:www\.)?([^\s<>?#)\]]+)"
_DATA_NAME = r"(?mi)^[\s{\[-]*\"?(?:title|name)\"?[ \t]*[:=][ \t]*\"?([^\"\n,{\[]+)"
_SPEAKER = (
    r"^[ \t]*(?:[\[(][^\])\n]{1,30}[\])][ \t]*)?(?:\d{1,2}:\d{2}(?::\d{2})?[ \t]*)?(?:\*\*)?"
    r"[^\W\d_][\w .'-]{0,30}?(?:\*\*)?(?:[ \t]*[\[(][^\])\n]{1,20}[\])])?:(?:\*\*)?[ \t]+"
)
_CUE_NUMBERS = r"(?m)^(?:WEBVTT.*|\d+|[\d:.,]+ --> .*)$"

# A message of a conversation that is kept as JSON.
_MESSAGE = (
    r'"(?:role|speaker|author)"\s*:\s*"([^"\\]{1,40})"\s*,\s*"(?:content|text)"\s*:\s*'
    r'"((?:[^"\\]|\\.){1,4000}+)"'
)
_CHAT_OPENING = (
    r"(?i)(?:user|human|assistant)[ \t]*:[^\n]*\n"
    r"(?:[^\n]*\n){0,20}?(?:user|human|assistant|ai)[ \t]*:"
    r'|\[?\s*\{\s*"role"\s*:\s*"(?:user|assistant|system)"\s*,\s*"content"'
)
# A longer line is more than a greeting.
_GREETING_CHARS_MAX = 40
# A line of somebody who is no person.
_ASSISTANT = r"(?i)[ \t]*(?:\*\*)?(?:assistant|ai|bot|agent|model|system|tool)\b"
# What a conversation is about is said in its opening, or not to be found this way.
_UTTERANCES_MAX = 40
# So many words that are no small talk say what a conversation is about.
_TELLING = 3

_HTML_TAGS = (
    "a|abbr|article|aside|b|big|blockquote|body|br|center|cite|code|dd|del|details|div|dl|dt|em"
    "|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p"
    "|picture|pre|q|s|samp|script|section|small|source|span|strong|style|sub|summary|sup|table"
    "|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|video"
)

# Classes leave out the character that opens them, so that a run of it is read once, not n times.
_MARKS = (
    # Tags of HTML. Other words in angle brackets (`<sha>`, `<Foo/>`) and code are the text itself.
    (r"(`[^`\n]+`)|<!--[^<>]*-->|</?(?:" + _HTML_TAGS + r")(?:[ \t][^<>\n]*)?/?>", r"\1"),
    (r"!\[([^\[\]\n]*)\]\([^()\n]*\)", r"\1"),
    (r"\[([^\[\]\n]+)\]\([^()\n]*\)", r"\1"),
    (r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]+)\]\]", r"\1"),
    (r"(?m)^[ \t]*(?:>[ \t]?)+", ""),
    (r"(?m)^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", ""),
    (r"(?m)^ {0,3}#{1,6}[ \t]+", ""),
    (r"(\*\*\*|\*\*|__|~~|==)(?=\S)(.+?)(?<=\S)\1", r"\2"),
    (r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])", r"\1"),
    (r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)", r"\1"),
    (r"`([^`\n]+)`", r"\1"),
)

# Any sign that one of the above could match; most sentences have none.
_MARK_SIGN = r"(?m)[*_`~\[<]|==|^[ \t]*(?:[>+•#-]|\d+[.)])"

# A sentence ends at its stop and a space, or at the stop of a script that puts no space after
# it; never after a single letter or a common abbreviation ('e.g. ', 'Dr. ', 'J. Doe').
_SENTENCE_END = (
    # The stop first: it is looked for at every character, and the rest only where there is one.
    r"(?=[.!?…])(?<!\b\w)(?<!\b(?:Dr|Mr|Ms|St|vs|No|ca|Nr))(?<!\b(?:Mrs|etc|Inc|Ltd|bzw))"
    r"[.!?…]+[\"')\]”’]*(?=\s|\Z)|[。！？।۔]+[」』”]*"
)
_STOPS = frozenset(".!?…。！？।۔")


def title_of(content: str, *, content_type: str = "text", source_path: str | None = None) -> str:
    """A title of at most 80 characters on one line; never empty."""
    opening = content[:_OPENING_CHARS].strip()
    file_name = (source_path or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
    if content_type == "code":
        title = file_name or _definition_of(opening)
    elif content_type in ("chat", "transcript") or (not file_name and _is_conversation(opening)):
        spoken = re.sub(_CUE_NUMBERS, "", opening).strip()
        title = _opening_words(_topic(spoken) or re.sub(_SPEAKER, "", spoken, count=1))
    elif content_type == "structured":
        title = file_name or _group(_DATA_NAME, opening)
    elif content_type == "link":
        title = _group(_NAMED_LINK, opening) or _address_of(opening)
    elif content_type == "file":
        title = file_name
    else:
        title = heading_of(opening) or _after_greeting(opening)
    title = _one_line(_plain(title)) or _opening_words(opening) or file_name
    title = _cut(title, TITLE_CHARS_MAX)
    return title if any(map(str.isprintable, title)) else "Untitled"


def topic_of(utterances: Iterable[str]) -> str:
    """Of what was said, in its order, the first sentence that says what it is about: one with a few
    words that are no small talk, else the one with the most of them. '' where there is none."""
    # Only conversations need these words.
    from holdfast.text.small_talk import ADDRESS, telling_words

    best, most = "", 0
    for utterance in islice(utterances, _UTTERANCES_MAX):
        for sentence in _sentences(_one_line(_plain(utterance))):
            telling = len(telling_words(sentence))
            if telling > most:
                best, most = sentence, telling
        if most >= _TELLING:
            break
    best = ADDRESS.sub("", best, count=1)
    return best[:1].upper() + best[1:]


def _json_text(written: str) -> str:
    """A text as JSON writes it between its quotes, on one line."""
    import json

    try:
        return _one_line(json.loads(f'"{written}"'))
    except ValueError:
        return ""


def _is_conversation(text: str) -> bool:
    """Whether a text is messages with the roles of a chat, whatever it was taken for."""
    return re.match(_CHAT_OPENING, text) is not None


def _after_greeting(text: str) -> str:
    """How a text goes on that begins with a line of small talk; '' where it does not."""
    first, _, rest = text.partition("\n")
    if not rest.strip() or len(first) > _GREETING_CHARS_MAX:
        return ""
    from holdfast.text.small_talk import telling_words

    return "" if telling_words(first) else _opening_words(topic_of(rest.splitlines()))


def _topic(spoken: str) -> str:
    """What a conversation is about: in the words of people, else in those of an assistant."""
    messages = re.findall(_MESSAGE, spoken) if spoken[:1] in "[{" else []
    lines = [f"{role}: {_json_text(text)}" for role, text in messages] or spoken.splitlines()
    people = (line for line in lines if not re.match(_ASSISTANT, line))
    for some in (people, lines):
        if topic := topic_of(re.sub(_SPEAKER, "", line, count=1) for line in some):
            return topic
    return ""


def heading_of(content: str) -> str:
    """The title of the front matter, else the first heading outside code; '' without one."""
    text = content[:_OPENING_CHARS]
    if matter := _FRONT_MATTER.match(text):
        if title := _group(_TITLE_FIELD, matter.group(1)):
            return title.strip("\"' ")
        text = text[matter.end() :]
    if not re.search(r"(?m)^ {0,3}#|^(?:===|---)", text):
        return ""
    return _group(_HEADING, re.sub(_FENCE, "", text))


def summary_of(content: str) -> str:
    """The first sentences that say something, up to 200 characters and of a short text at most two;
    '' for content of one or two short sentences, which needs none."""
    is_short = len(content.strip()) <= _SHORT_CHARS
    if is_short and _STOPS.isdisjoint(content) and content.count("\n") < _NO_SUMMARY_SENTENCES:
        return ""
    lines = _prose_lines(content[:_OPENING_CHARS])
    # In a short text a line is a sentence, as in a list; in a longer one lines are wrapped.
    found = [one for line in (lines if is_short else [" ".join(lines)]) for one in _sentences(line)]
    if is_short and len(found) <= _NO_SUMMARY_SENTENCES:
        return ""
    summary = ""
    for sentence in found[:_NO_SUMMARY_SENTENCES] if is_short else found:
        longer = f"{summary} {sentence}".strip()
        if summary and len(longer) > SUMMARY_CHARS_MAX:
            break
        summary = longer
    return _cut(summary, SUMMARY_CHARS_MAX)


def _definition_of(code: str) -> str:
    return _group(_DEFINITION, code)


def _address_of(link: str) -> str:
    return _group(_URL, link).rstrip("/")


def _group(pattern: str, text: str) -> str:
    """The first group that took part in the first match, or ''."""
    found = re.search(pattern, text)
    return next(filter(None, found.groups()), "").strip() if found else ""


def _opening_words(text: str) -> str:
    """The first sentence; more of them while what there is would be too short to tell."""
    text = _FRONT_MATTER.sub("", text)
    lines = (_one_line(_plain(line)) for line in text.splitlines())
    said = next((line for line in lines if any(map(str.isalnum, line))), "")
    if not said:
        return _one_line(text)
    title = ""
    for sentence in _sentences(said):
        title = f"{title} {sentence}".strip()
        if len(title) >= 12:  # 'Yes.' and 'Note:' say nothing alone
            break
    return title.rstrip(".。") or said


def _prose_lines(text: str) -> list[str]:
    """The lines of prose of a text: no front matter, code, tables, headings, lines of few words."""
    text = re.sub(_FENCE, "", _FRONT_MATTER.sub("", text))
    kept = []
    for line in text.splitlines():
        bare = line.strip()
        if re.match(r"#{1,6}\s|\||[-=*_ ]{3,}$|!?\[[^\]]*\]\([^)]*\)$", bare):
            continue
        plain = _one_line(_plain(line))
        # Three words, or a run of a script without spaces, is the least a sentence has.
        if len(plain.split()) >= 3 or (not plain.isascii() and len(plain) >= 10):
            kept.append(plain)
    return kept


def _sentences(text: str) -> list[str]:
    if _STOPS.isdisjoint(text):
        return [text.strip()] if text.strip() else []
    ends = [match.end() for match in re.finditer(_SENTENCE_END, text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    starts = [0, *ends[:-1]]
    pieces = (text[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return [piece for piece in pieces if piece]


def _plain(text: str) -> str:
    """Text without the marks of markdown."""
    if not re.search(_MARK_SIGN, text):
        return text
    for mark, kept in _MARKS:
        text = re.sub(mark, kept, text)
    return text


def _one_line(text: str) -> str:
    """Text on one line without invisible characters, but for the joiners of emoji and Persian."""
    if not text.isprintable():
        text = "".join(c for c in text if c.isprintable() or c.isspace() or c in "\u200c\u200d")
    return " ".join(text.split())


def _cut(text: str, chars_max: int) -> str:
    """At most `chars_max` characters, cut at a word where one is near, with an ellipsis."""
    if len(text) <= chars_max:
        return text
    end = chars_max - 1
    # A script without spaces, or one long word, is cut where it is.
    space = text.rfind(" ", chars_max // 2, end + 1)
    if space > 0:
        end = space
    else:
        # Never between a letter or emoji and the mark that belongs to it.
        while end > 1 and (
            unicodedata.category(text[end])[0] == "M" or "\u200d" in text[end - 1 : end + 1]
        ):
            end -= 1
    return text[:end].rstrip(" ,;:-–—(") + "…"
