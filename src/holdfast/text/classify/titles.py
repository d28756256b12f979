"""Titles and summaries taken from a text's own words, for lists, prompts and file names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from holdfast.text.sentences import split_sentences
from holdfast.text.tables import lazy

# One line of a list on a terminal of 100 columns, next to a number and a date.
TITLE_CHARS_MAX = 80
SUMMARY_CHARS_MAX = 200
# In a text this short, so many sentences are their own summary.
_SHORT_CHARS = 300
_NO_SUMMARY_SENTENCES = 2
# Titles and summaries come from the opening; reading on in a 3 MB file finds nothing better.
_OPENING_CHARS = 8_000
# A sentence that begins within a summary and goes on here is too long for it wherever it ends.
_SUMMARISED_CHARS = 3 * SUMMARY_CHARS_MAX

FRONT_MATTER = lazy(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TITLE_FIELD = r"(?mi)^title:[ \t]*(\S.*)$"
_HEADING = r"(?m)^ {0,3}#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*$|^(\S[^\n]*)\r?\n(?:={3,}|-{3,})[ \t]*$"
_HEADING_SIGN = lazy(r"(?m)^ {0,3}#|^(?:===|---)")
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

# A message of a conversation that is stored as JSON.
_MESSAGE = (
    r'"(?:role|speaker|author)"\s*:\s*"([^"\\]{1,40})"\s*,\s*"(?:content|text)"\s*:\s*'
    r'"((?:[^"\\]|\\.){1,4000}+)"'
)
_CHAT_OPENING = lazy(
    r"(?i)(?:user|human|assistant)[ \t]*:[^\n]*\n"
    r"(?:[^\n]*\n){0,20}?(?:user|human|assistant|ai)[ \t]*:"
    r'|\[?\s*\{\s*"role"\s*:\s*"(?:user|assistant|system)"\s*,\s*"content"'
)
# A longer line is more than a greeting.
_GREETING_CHARS_MAX = 40
# A line of somebody who is no person.
_ASSISTANT = r"(?i)[ \t]*(?:\*\*)?(?:assistant|ai|bot|agent|model|system|tool)\b"
# The topic of a conversation is in its opening, or cannot be found this way.
_UTTERANCES_MAX = 40
# So many words that are no small talk say what a conversation is about.
_TELLING = 3

_HTML_TAGS = (
    "a|abbr|article|aside|b|big|blockquote|body|br|center|cite|code|dd|del|details|div|dl|dt|em"
    "|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p"
    "|picture|pre|q|s|samp|script|section|small|source|span|strong|style|sub|summary|sup|table"
    "|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|video"
)

# What each has in it (nothing if it may be one of several), the pattern, and what is left.
# Classes leave out the character that opens them, so that a run of it is read once, not n times.
_MARKS = (
    # Tags of HTML. Other words in angle brackets (`<sha>`, `<Foo/>`) and code are the text itself.
    ("<", r"(`[^`\n]+`)|<!--[^<>]*-->|</?(?:" + _HTML_TAGS + r")(?:[ \t][^<>\n]*)?/?>", r"\1"),
    ("![", r"!\[([^\[\]\n]*)\]\([^()\n]*\)", r"\1"),
    ("](", r"\[([^\[\]\n]+)\]\([^()\n]*\)", r"\1"),
    ("[[", r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]+)\]\]", r"\1"),
    (">", r"(?m)^[ \t]*(?:>[ \t]?)+", ""),
    ("", r"(?m)^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", ""),
    ("#", r"(?m)^ {0,3}#{1,6}[ \t]+", ""),
    ("", r"(\*\*\*|\*\*|__|~~|==)(?=\S)(.+?)(?<=\S)\1", r"\2"),
    ("*", r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])", r"\1"),
    ("_", r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)", r"\1"),
    ("`", r"`([^`\n]+)`", r"\1"),
)

# Any sign that one of the above could match; most sentences have none. The characters first: a
# search for one of a set takes a fraction of the time of one for alternatives.
_MARK_CHARS = lazy(r"[*_`~\[<=]")
_LINE_MARK = lazy(r"(?m)^[ \t]*(?:[>+•#-]|\d+[.)])")

# A sentence ends at its stop and a space, or at the stop of a script that puts no space after
# it; never after a single letter or a common abbreviation ('e.g. ', 'Dr. ', 'J. Doe').
_SENTENCE_END = lazy(
    # The stop first: it is looked for at every character, and the rest only where there is one. A
    # match begins at one of the first two stops of a run, so that a long run is not read n times.
    r"([.!?…。！？।۔](?:(?<=[。！？।۔])[。！？।۔]*[」』”]*|(?<![.!?…]{3})"
    r"(?<!\b\w.)(?<!\b(?:Dr|Mr|Ms|St|vs|No|ca|Nr).)(?<!\b(?:Mrs|etc|Inc|Ltd|bzw).)"
    r"[.!?…]*+[\"')\]”’]*+(?=\s|\Z)))"
)
_STOP = lazy("[.!?…。！？।۔]")


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
    """The first of these sentences that names the topic: one with a few words that are not small
    talk, else the one with the most of them. Empty if there is none."""
    # Only conversations need these words.

    best, most = "", 0
    for utterance in islice(utterances, _UTTERANCES_MAX):
        for sentence in split_sentences(_one_line(_plain(utterance)), _SENTENCE_END):
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
    return ("\n" in text or "{" in text) and _CHAT_OPENING.match(text) is not None


def _after_greeting(text: str) -> str:
    """The rest of a text that begins with a line of small talk; '' if it does not."""
    first, _, rest = text.partition("\n")
    if not rest.strip() or len(first) > _GREETING_CHARS_MAX:
        return ""

    return "" if telling_words(first) else _opening_words(topic_of(rest.splitlines()))


def _topic(spoken: str) -> str:
    """The topic of a conversation: in the words of people, else in those of an assistant."""
    messages = re.findall(_MESSAGE, spoken) if spoken[:1] in "[{" else []
    lines = [f"{role}: {_json_text(text)}" for role, text in messages] or spoken.splitlines()
    people = (line for line in lines if not re.match(_ASSISTANT, line))
    for some in (people, lines):
        if topic := topic_of(re.sub(_SPEAKER, "", line, count=1) for line in some):
            return topic
    return ""


def heading_of(content: str) -> str:
    """The title of the front matter, else the first heading outside code; '' without one."""
    if content[:1].isalnum() and "\n" not in content:
        return ""
    text = content[:_OPENING_CHARS]
    if matter := FRONT_MATTER.match(text):
        if title := _group(_TITLE_FIELD, matter.group(1)):
            return title.strip("\"' ")
        text = text[matter.end() :]
    if not _HEADING_SIGN.search(text):
        return ""
    return _group(_HEADING, re.sub(_FENCE, "", text))


def summary_of(content: str) -> str:
    """The first sentences that say something, up to 200 characters and of a short text at most two;
    '' for content of one or two short sentences, which needs none."""
    is_short = len(content.strip()) <= _SHORT_CHARS
    if is_short and _may_be_sentences(content) <= _NO_SUMMARY_SENTENCES:
        return ""
    lines = _prose_lines(content[:_OPENING_CHARS])
    if is_short:
        # In a short text a line is a sentence, as in a list; in a longer one lines are wrapped.
        every = (one for line in lines for one in split_sentences(line, _SENTENCE_END))
        first = list(islice(every, _NO_SUMMARY_SENTENCES + 1))
        if len(first) <= _NO_SUMMARY_SENTENCES:
            return ""
        found = iter(first[:_NO_SUMMARY_SENTENCES])
    else:
        found = split_sentences(_joined(lines, _SUMMARISED_CHARS), _SENTENCE_END)
    summary = ""
    for sentence in found:
        longer = f"{summary} {sentence}".strip()
        if summary and len(longer) > SUMMARY_CHARS_MAX:
            break
        summary = longer
    return _cut(summary, SUMMARY_CHARS_MAX)


def _joined(lines: Iterable[str], chars_max: int) -> str:
    """The first characters of the lines, as one."""
    some: list[str] = []
    chars = 0
    for line in lines:
        some.append(line)
        chars += len(line)
        if chars >= chars_max:
            break
    return " ".join(some)[:chars_max]


def _may_be_sentences(text: str) -> int:
    """At least as many as a text has sentences: each ends with a stop or with its line. The stops
    at the end of the text end its last line."""
    inside = text.rstrip().rstrip(".!?…")
    return len(_STOP.findall(inside)) + len(text.splitlines())


def _definition_of(code: str) -> str:
    return _group(_DEFINITION, code)


def _address_of(link: str) -> str:
    return _group(_URL, link).rstrip("/")


def _group(pattern: str, text: str) -> str:
    """The first group that took part in the first match, or ''."""
    found = re.search(pattern, text)
    return next(filter(None, found.groups()), "").strip() if found else ""


def _opening_words(text: str) -> str:
    """The first sentence, or several while the text would be too short."""
    text = FRONT_MATTER.sub("", text)
    lines = (_one_line(_plain(line)) for line in text.splitlines())
    said = next((line for line in lines if any(map(str.isalnum, line))), "")
    if not said:
        return _one_line(text)
    title = ""
    # Most short texts have no stop.
    for sentence in split_sentences(said, _SENTENCE_END) if _STOP.search(said) else (said,):
        title = f"{title} {sentence}".strip()
        if len(title) >= 12:  # 'Yes.' and 'Note:' say nothing alone
            break
    return title.rstrip(".。") or said


# A heading, a row of a table, a rule, or nothing but a link or an image.
_NO_PROSE = lazy(r"#{1,6}\s|\||[-=*_ ]{3,}$|!?\[[^\]]*\]\([^)]*\)$")


def _prose_lines(text: str) -> Iterator[str]:
    """The lines of prose of a text: no front matter, code, tables, headings, lines of few words."""
    text = FRONT_MATTER.sub("", text)
    if "```" in text or "~~~" in text:
        text = re.sub(_FENCE, "", text)
    for line in text.splitlines():
        bare = line.strip()
        if _NO_PROSE.match(bare):
            continue
        plain = _one_line(_plain(line))
        # Three words, or a run of a script without spaces, is the least a sentence has.
        if len(plain.split()) >= 3 or (not plain.isascii() and len(plain) >= 10):
            yield plain


def _plain(text: str) -> str:
    """Text without the marks of markdown."""
    # A mark at the beginning of a line is looked for only there.
    find_line_mark = _LINE_MARK.search if "\n" in text else _LINE_MARK.match
    if not _MARK_CHARS.search(text) and not find_line_mark(text):
        return text
    for sign, mark, kept in _MARKS:
        if sign in text:
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


# Single words, in the languages that people greet in; small words of such sentences too.
SMALL_TALK = frozenset(
    """
    hi hello hey hiya yo sup howdy greetings morning good evening afternoon day night
    welcome back there again all everyone folks team hope well how how's are is it it's
    going doing been you you're your u i i'm i'd me my we this that's what what's whats up
    new today now here anyone thanks thank thx ty cheers ok okay k yes yeah yep no nope nah
    sure fine great cool nice lol ha haha hm hmm um uh oh ah alright right gladly lovely
    glad happy meet to see for and so but not much can could may might would do does did
    should help helping assist assistance support need needed have has got a an some one the
    of course any anything something else thing question questions quick quickly please just
    ask with about like wrong funny go ahead test testing ping pong claude chatgpt gemini
    gpt assistant bot max long time chat talk talked talking spoke speak ages while few days
    week weeks since last minute wanted let know fill tell told news believe guess check out
    crazy things stuff lots happened miss missed catching catch wow woah yay omg hear heard
    sorry sounds sound too also more most very really am was were be he she they them his
    her our us in on at by from as or if then than when there's don't didn't can't won't
    haven't wasn't it'll i've i'll we've you've they're he's she's had get getting went come
    came think thought feel feeling amazing awesome excited such lot way love loved want
    make made take took still into over after before because who why where hallo guten tag
    morgen abend moin servus danke bitte wie geht's geht es ihnen dir kann ich helfen
    grüezi bonjour bonsoir salut merci comment puis je vous aider ça va hola buenas buenos
    días tardes noches qué tal gracias cómo estás está puedo ayudarte ayudarle en ciao
    buongiorno buonasera salve grazie posso aiutarti aiutarla stai olá oi bom dia boa tarde
    noite obrigado obrigada tudo bem como ajudar hej hei hejsan tack hoi goedemorgen dank
    привет здравствуйте добрый день спасибо как дела чем могу помочь cześć dzień dobry
    dziękuję merhaba selam nasıl yardımcı olabilirim teşekkürler 你好 您好 谢谢 早上好 嗨
    有什么可以帮您 有什么可以帮你 こんにちは おはよう ありがとう 안녕하세요 안녕
    مرحبا السلام عليكم नमस्ते
    """.split()  # noqa: SIM905
)
_WORD = lazy(r"[^\W_]+(?:'[^\W\d_]+)?")
# A greeting and its addressee, before what is said: 'Hi Max, …', 'actually yes, …'.
ADDRESS = lazy(
    r"(?i)\A(?:(?:hi|hello|hey|good (?:morning|evening|afternoon)|hallo|bonjour|hola|ciao)"
    r"(?: [^\W\d_]+){0,2}|ok(?:ay)?|actually|yes|so|well|thanks)(?: (?:yes|ok|so|well|good))?"
    r"[,!.:–—-]+ +"
)
# 'Hi Tom!', 'My name is Priya.', 'This is Kim from support.'
NAMES_SOMEBODY = lazy(
    r"(?:(?:hi|hello|hey|good (?:morning|evening|afternoon)|hallo|bonjour|hola|ciao)"
    r"(?: [^\W\d_]+){0,2}"
    r"|(?:my name is|my name's|i am|i'm|this is|mein name ist|ich bin|je m'appelle|me llamo"
    r"|mi chiamo) [^\W\d_]+(?: from [^\W\d_]+)?)[\s,.!:)]*"
)


def telling_words(sentence: str) -> set[str]:
    """The words of a sentence but those of small talk; none if it only names somebody, or says
    in brackets that there is a picture."""
    folded = sentence.casefold().replace("’", "'")
    if folded.startswith("[") or NAMES_SOMEBODY.fullmatch(folded):
        return set()
    return {word for word in _WORD.findall(folded) if word not in SMALL_TALK}


# Enough to know whether it is worth reading.
_LINES = 2
_CHARS = 120
_READ = 2_000


def listed_text(path: str, content: str) -> str:
    """The path and the first lines of a document, on one line."""
    lines = (line.strip(" \t#*->=_") for line in content[:_READ].splitlines())
    text = " · ".join([line for line in lines if line][:_LINES])
    return f"{path}: {text if len(text) <= _CHARS else text[:_CHARS].rstrip() + '…'}"
