"""Tags of a memory: the ones its text names, and the well-known technologies it speaks of.

Few and certain rather than many: a tag that is wrong makes a filter lie. It knows no store and
none of the tags already in use.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.text.content_types import SAMPLE_CHARS, language_of
from holdfast.text.normalise import LABEL_CHARS_MAX

# Guessed tags only fill up to this many; more would be noise next to chosen ones.
TAGS_GUESSED_MAX = 5
# Tags the text itself names are wishes; this is a bound, not a taste.
TAGS_NAMED_MAX = 16
# Technologies are looked for in the title and this much of the text: what it opens with is what
# it is about.
_OPENING_CHARS = 600

# Spelt as they are written. Names that are common words too (Go, Swift, Spring, Express) are left
# out, and those before the bar only count with their own capitals.
_TECHNOLOGIES = """
    Rust Java Ruby Haskell Elixir Scala Deno React Angular Vue Svelte Next.js Nuxt Flask Rails
    Laravel Tailwind Cassandra Kafka Ansible Azure Firebase Jenkins Linux macOS Windows Android iOS
    Git Vim Emacs Figma Notion Obsidian Slack Jira Yarn Vite pandas Anthropic Claude Ollama
    Prometheus Grafana Datadog Sentry Playwright Selenium Jest Prisma Celery Bluetooth
    |
    Python TypeScript JavaScript Kotlin C++ C# PHP Node.js Django FastAPI GraphQL gRPC PostgreSQL
    Postgres MySQL MariaDB SQLite MongoDB Redis Elasticsearch DynamoDB RabbitMQ Docker Kubernetes
    Terraform Nginx AWS GCP Cloudflare Vercel Netlify Supabase GitHub GitLab pnpm npm webpack
    pytest PyTorch TensorFlow NumPy OpenAI LangChain Neovim VSCode WebSocket WebAssembly JWT OAuth
    SQLAlchemy
"""
_SAME_AS = {"postgres": "postgresql"}

_HASHTAG = r"(?<![\w&/#(=\"'])#([^\W\d_][\w-]*(?:/[\w-]+)*)"
# Three, six or eight hexadecimal digits are a colour.
_COLOUR = r"(?i)[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8}"
_CODE = r"(?s)```.*?(?:```|\Z)|`[^`\n]*`"
_FRONT_MATTER = r"(?s)\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)"
_TAGS_FIELD = r"(?mi)^tags:[ \t]*(.*)((?:\n[ \t]*- .*)*)"


def tags_of(content: str, *, content_type: str, title: str = "", language: str = "") -> list[str]:
    """Named tags first, then the language of code, then technologies, all in lower case."""
    if content_type == "code":
        return [language or language_of(content)] if language or language_of(content) else []
    if content_type not in ("text", "markdown"):
        return []
    tags = dict.fromkeys(_named(content[:SAMPLE_CHARS]))
    for technology in technologies(f"{title}\n{content[:_OPENING_CHARS]}"):
        if len(tags) < TAGS_GUESSED_MAX:
            tags[technology] = None
    return list(tags)


def technologies(text: str) -> list[str]:
    """The well-known technologies a text names, in order of appearance."""
    # One cheap pass over the words decides whether the long pattern is worth making at all.
    if _openings().isdisjoint(re.findall(r"[a-z]+", text.lower())):
        return []
    found = (match.group().lower() for match in _technology_pattern().finditer(text))
    return list(dict.fromkeys(_SAME_AS.get(name, name) for name in found))


@cache
def _openings() -> frozenset[str]:
    """The first run of letters of each name."""
    names = _TECHNOLOGIES.replace("|", " ").lower().split()
    return frozenset(found.group() for name in names if (found := re.match(r"[a-z]+", name)))


@cache
def _technology_pattern() -> re.Pattern[str]:
    exact, any_case = (table.split() for table in _TECHNOLOGIES.split("|"))
    forms = "|".join(map(re.escape, exact)) + f"|(?i:{'|'.join(map(re.escape, any_case))})"
    return re.compile(rf"(?<![\w./@-])(?:{forms})(?![\w@+#-]|\.\w)")


def _named(text: str) -> list[str]:
    """Tags of the front matter, then hashtags in the prose."""
    named: list[str] = []
    if text.startswith("---") and (matter := re.match(_FRONT_MATTER, text)):
        if field := re.search(_TAGS_FIELD, matter.group(1)):
            items = re.split(r"[,\n]", field.group(1).strip("[] \t\r") + field.group(2))
            named.extend(item.strip(" \t\r-\"'#") for item in items)
        text = text[matter.end() :]
    if "#" in text:
        hashtags = re.findall(_HASHTAG, re.sub(_CODE, " ", text) if "`" in text else text)
        named.extend(tag for tag in hashtags if len(tag) > 1 and not re.fullmatch(_COLOUR, tag))
    fitting = (" ".join(tag.lower().split()) for tag in named if len(tag) <= LABEL_CHARS_MAX)
    return list(dict.fromkeys(tag for tag in fitting if tag and not set(tag) & set(",;\\")))[
        :TAGS_NAMED_MAX
    ]
