"""A labelled corpus: secrets of many kinds in the places people leave them, drawn with a seed, and
clean lines of code and prose. No secret stands in this file: all of them are made up at run time.
"""

from __future__ import annotations

import base64
import random
import string
import sysconfig
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
_HEX = "0123456789abcdef"
_ALNUM = string.ascii_letters + string.digits
_URL = _ALNUM + "-_"
_B64 = _ALNUM + "+/"


class Labelled(NamedTuple):
    """A text with one secret in it, and what kind that is."""

    kind: str
    text: str
    secret: str


class Draw:
    """Chance with a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, letters: str, count: int) -> str:
        return "".join(self.random.choice(letters) for _ in range(count))

    def hex(self, count: int) -> str:
        return self.of(_HEX, count)

    def alnum(self, count: int) -> str:
        """Letters and digits, some of each."""
        return self.of(_ALNUM, count - 3) + self.random.choice(string.digits) + "kQ"

    def url(self, count: int) -> str:
        return self.alnum(count - 1) + self.random.choice(string.digits)

    def jwt(self) -> str:
        def part(text: str) -> str:
            return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

        head = part('{"alg":"HS256","typ":"JWT"}')
        body = part(f'{{"sub":"{self.of(string.digits, 10)}","iat":1700000000}}')
        return f"{head}.{body}.{self.url(43)}"

    def password(self) -> str:
        words = ("tiger", "Sommer", "blue", "Kaffee", "river", "Zebra", "maple", "orbit")
        symbol = self.random.choice("!#?%&+")
        digits = self.of("123456789", 3)
        made = [self.random.choice(words) + digits, symbol, self.random.choice(words)]
        if self.random.random() < 0.5:
            made = [self.random.choice(words).title(), digits, symbol]
        return "".join(made)

    def pem(self) -> str:
        name = self.random.choice(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "))
        lines = "\n".join(self.of(_B64, 64) for _ in range(6))
        return f"-----BEGIN {name}PRIVATE KEY-----\n{lines}\n-----END {name}PRIVATE KEY-----"


_TOKENS: dict[str, Callable[[Draw], str]] = {
    "aws-access-key": lambda d: "AKIA" + d.of(string.ascii_uppercase + "234567", 16),
    "gcp-api-key": lambda d: "AIza" + d.url(35),
    "google-oauth-secret": lambda d: "GOCSPX-" + d.url(28),
    "google-oauth-token": lambda d: "ya29." + d.url(80),
    "azure-client-secret": lambda d: d.alnum(3) + "8Q~" + d.alnum(34),
    "digitalocean-token": lambda d: "dop_v1_" + d.hex(64),
    "databricks-token": lambda d: "dapi" + d.hex(32),
    "vault-token": lambda d: "hvs." + d.url(90),
    "terraform-token": lambda d: f"{d.alnum(14)}.atlasv1.{d.url(67)}",
    "pulumi-token": lambda d: "pul-" + d.hex(40),
    "doppler-token": lambda d: "dp.pt." + d.alnum(43),
    "planetscale-token": lambda d: "pscale_tkn_" + d.url(43),
    "supabase-token": lambda d: "sbp_" + d.hex(40),
    "tailscale-key": lambda d: f"tskey-auth-{d.alnum(12)}-{d.alnum(32)}",
    "github-token": lambda d: d.random.choice(("ghp_", "gho_", "ghs_")) + d.alnum(36),
    "gitlab-token": lambda d: "glpat-" + d.url(20),
    "bitbucket-token": lambda d: "ATBB" + d.alnum(32),
    "atlassian-token": lambda d: "ATATT3" + d.url(180),
    "npm-token": lambda d: "npm_" + d.alnum(36),
    "pypi-token": lambda d: "pypi-AgEIcHlwaS5vcmc" + d.url(150),
    "rubygems-key": lambda d: "rubygems_" + d.hex(48),
    "crates-token": lambda d: "cio" + d.alnum(32),
    "docker-token": lambda d: "dckr_pat_" + d.url(27),
    "anthropic-key": lambda d: f"sk-ant-api03-{d.url(93)}",
    "openrouter-key": lambda d: "sk-or-v1-" + d.hex(64),
    "openai-key": lambda d: d.random.choice(
        ("sk-" + d.alnum(48), "sk-proj-" + d.url(74) + "T3BlbkFJ" + d.url(74))
    ),
    "holdfast-key": lambda d: "hf_" + d.url(43),
    "huggingface-token": lambda d: "hf_" + d.of(string.ascii_letters, 34),
    "groq-key": lambda d: "gsk_" + d.alnum(52),
    "replicate-token": lambda d: "r8_" + d.alnum(37),
    "slack-token": lambda d: (
        f"xoxb-{d.of(string.digits, 12)}-{d.of(string.digits, 13)}-{d.alnum(24)}"
    ),
    "discord-token": lambda d: f"MT{d.alnum(24)}.{d.alnum(6)}.{d.alnum(38)}",
    "telegram-token": lambda d: f"7{d.of(string.digits, 9)}:AA{d.url(33)}",
    "twilio-key": lambda d: "SK" + d.hex(32),
    "sendgrid-key": lambda d: f"SG.{d.url(22)}.{d.url(43)}",
    "mailgun-key": lambda d: "key-" + d.hex(32),
    "mailchimp-key": lambda d: d.hex(32) + "-us14",
    "stripe-key": lambda d: d.random.choice(("sk_live_", "rk_live_", "sk_test_")) + d.alnum(24),
    "webhook-secret": lambda d: "whsec_" + d.alnum(32),
    "square-token": lambda d: "sq0atp-" + d.url(22),
    "shopify-token": lambda d: "shpat_" + d.hex(32),
    "linear-key": lambda d: "lin_api_" + d.alnum(40),
    "notion-token": lambda d: "ntn_" + d.alnum(46),
    "figma-token": lambda d: "figd_" + d.url(43),
    "postman-key": lambda d: f"PMAK-{d.hex(24)}-{d.hex(34)}",
    "newrelic-key": lambda d: "NRAK-" + d.of(string.ascii_uppercase + string.digits, 27),
    "grafana-token": lambda d: f"glsa_{d.alnum(32)}_{d.hex(8)}",
    "sentry-token": lambda d: "sntryu_" + d.hex(64),
    "airtable-token": lambda d: f"pat{d.alnum(14)}.{d.hex(64)}",
    "age-key": lambda d: "AGE-SECRET-KEY-1" + d.of(string.ascii_uppercase + "234567", 58),
    "jwt": lambda d: d.jwt(),
    "private-key": lambda d: d.pem(),
}
_AROUND = (
    "{}",
    "The key is {} and it works.",
    "export SERVICE_KEY={}",
    'client = Client("{}")',
    "- use `{}` for the staging server",
    '{{"value": "{}", "id": 12}}',
    "curl -H 'X-Key: {}' https://api.acme.io/v1/things",
    "He said: {}",
    "key: {}  # ask Ana",
    "see [the notes](notes.md), then paste {}.",
)
_NAMED = (
    ("password", "password = '{}'"),
    ("password", 'DB_PASSWORD="{}"'),
    ("password", "POSTGRES_PASSWORD={}"),
    ("password", '{{"user": "ana", "password": "{}"}}'),
    ("password", "passwd: {}"),
    ("password", "my wifi password is {}"),
    ("password", "The password for the router is {}."),
    ("password", "Das WLAN-Passwort lautet {}"),
    ("password", "mysql --host db --password {} app"),
    ("password", "SMTP_PASS={}"),
)
_GENERIC = (
    ("api-key", 'api_key: "{}"'),
    ("api-key", "ACME_API_KEY={}"),
    ("token", "access_token = '{}'"),
    ("secret", 'client_secret: "{}"'),
    ("api-key", "the API key is {}"),
    ("bearer-token", "Authorization: Bearer {}"),
)
_URLS = (
    ("database-password", "postgresql://app:{}@db.internal:5432/app"),
    ("database-password", "mongodb+srv://root:{}@cluster0.acme.net/x"),
    ("database-password", "redis://:{}@cache:6379/0"),
    ("url-password", "https://ana:{}@git.acme.io/repo.git"),
    ("url-password", "ftp://up:{}@files.acme.io/in"),
)


def secrets(seed: int = 7, each: int = 8) -> Iterator[Labelled]:
    """So many of each kind, each in another place."""
    draw = Draw(seed)
    for kind, make in _TOKENS.items():
        for number in range(each):
            secret = make(draw)
            around = _AROUND[(number + len(kind)) % len(_AROUND)]
            if kind == "private-key" and "'" in around:
                around = "{}"
            yield Labelled(kind, around.format(secret), secret)
    for kind, around in (*_NAMED, *_URLS):
        for _ in range(each // 2):
            secret = draw.password().replace("#", "+").replace("?", "!").replace("%", "!")
            secret = secret.replace("&", "!")
            yield Labelled(kind, around.format(secret), secret)
    for kind, around in _GENERIC:
        for _ in range(each // 2):
            secret = draw.alnum(32) if draw.random.random() < 0.5 else draw.hex(40)
            yield Labelled(kind, around.format(secret), secret)
    yield from _others(draw, each)


def _others(draw: Draw, each: int) -> Iterator[Labelled]:
    for _ in range(each // 2):
        key = draw.of(_B64, 38) + "9z"
        yield Labelled("aws-secret-key", f"aws_secret_access_key = {key}", key)
        key = draw.of(_B64, 86) + "=="
        text = f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={key};"
        yield Labelled("azure-storage-key", text, key)
        key = draw.of(_B64, 43) + "="
        text = f"Endpoint=sb://acme.net/;SharedAccessKeyName=Root;SharedAccessKey={key}"
        yield Labelled("azure-shared-key", text, key)
        key = f"T{draw.of(string.digits, 8)}/B{draw.of(string.digits, 8)}/{draw.alnum(24)}"
        yield Labelled("slack-webhook", f"post to https://hooks.slack.com/services/{key}", key)
        key = draw.url(68)
        number = draw.of("123456789", 18)
        text = f"https://discord.com/api/webhooks/{number}/{key}"
        yield Labelled("discord-webhook", text, key)
        key = base64.b64encode(f"ana:{draw.password()}".encode()).decode()
        yield Labelled("basic-auth", f"Authorization: Basic {key}", key)
        key = draw.password()
        yield Labelled("netrc-password", f"machine acme.io login ana password {key}", key)
        key = draw.password()
        yield Labelled("curl-password", f"curl -u ana:{key} https://acme.io", key)
        key = draw.of(string.digits, 6)
        yield Labelled("pin", f"The alarm code is {key}.", key)


# What looks like a secret to a hasty eye, and is none.
TRICKY = (
    "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bb22cd15d6c15b0f00a08",
    "id = 550e8400-e29b-41d4-a716-446655440000",
    "mem_01jbq7w0h5k8p9t3v6x2z4a1bc is the memory's id, trn_01jbq7w0h5k8p9t3v6x2z4a1bd the turn's",
    "password: <your password>",
    "password = os.environ['DB_PASSWORD']",
    "api_key = os.getenv('ACME_API_KEY')",
    'password: "${DB_PASSWORD}"',
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "PASSWORD=changeme",
    "api_key: xxxxxxxxxxxxxxxxxxxxxxxx",
    "export API_KEY=<your-api-key>",
    "password = getpass.getpass('Password: ')",
    "password: str | None = None",
    "def login(user: str, password: str) -> Token:",
    "if password == confirm_password:",
    "The password is required.",
    "The password is too short; use at least 12 characters.",
    "My password is hashed with sha256-crypt.",
    "Is the password stored in Vault?",
    "Her password was changed yesterday.",
    "our password is weak",
    "The pin is connected to GPIO 17.",
    "a token is a piece of a word, about 4 characters",
    "max_tokens = 4096",
    "next_page_token: CAUQAA1234567890abcdefXYZ",
    "secret = secrets.token_urlsafe(32)",
    "Use your API key: sk-...",
    "AKIAIOSFODNN7EXAMPLE is the key that the manual uses",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "postgresql://user:password@localhost/db",
    "postgresql://app:${DB_PASSWORD}@db/app",
    "https://user:pass@example.com",
    "http://localhost:8080/path?x=1@2",
    "git@github.com:acme/repo.git",
    "mailto:ana@acme.io",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGl",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3x8Qk1Vv3x0yq9mS0mB9y3oT5x8Qk1Vv3x0yq9mS0m ana@host",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "class AbstractSingletonProxyFactoryBeanConfigurationTokenProviderFactoryImpl2: pass",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.",
    "etag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
    "The secret of good bread is time.",
    "token = tokens[0]",
    "const token = useToken();",
    "secret_name: my-app-database-credentials",
    "password_hash = '$argon2id$v=19$m=65536'",
    "PWD=/home/ana/src",
    "[secret:github-token:0a1b2c3d] was here",
    "password = [secret:password:0a1b2c3d]",
    "key: value",
    "keyboard: Keychron K2",
    "the key is under the mat",
    "the door code was changed in 2024.",
    "primary_key = 'user_id'",
    "foreign_key: orders.customer_id",
    "cache_key = f'user:{user_id}:v2'",
    "public_key = 'AAAAB3NzaC1yc2EAAAADAQABAAABAQC7'",
)  # fmt: skip


def clean_lines(count: int = 6_000) -> list[str]:
    """Lines of the standard library (without its tests), of this project, and tricky ones."""
    lines = list(TRICKY)
    draw = Draw(11)
    for _ in range(100):
        lines += [
            f"commit {draw.hex(40)}",
            f"id: {uuid.UUID(int=draw.random.getrandbits(128))}",
            f"mem_{draw.of(string.ascii_lowercase + string.digits, 26)}",
            f"![x](data:image/png;base64,{draw.of(_B64, 200)})",
            f"content_hash = {draw.hex(64)}",
        ]
    own = sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "src").rglob("*.py"))
    for path in own:
        # Pages about secrets show some.
        if "secret" not in str(path.relative_to(ROOT)):
            lines += path.read_text("utf-8").splitlines()
    library = Path(sysconfig.get_paths()["stdlib"])
    names = (*("urllib", "http", "email", "json", "logging", "asyncio", "unittest"), "")
    for name in names:
        for path in sorted((library / name).glob("*.py"))[:80]:
            lines += path.read_text("utf-8", "replace").splitlines()
    lines = [line for line in dict.fromkeys(lines) if line.strip()]
    rest = lines[600:]
    draw.random.shuffle(rest)
    return lines[:600] + rest[: count - 600]
