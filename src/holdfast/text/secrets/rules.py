r"""The shapes of secrets, one row each: kind, cheap cues, pattern.

A cue is a piece of text in small letters without which the pattern cannot match: a text that holds
no cue costs a few substring searches and nothing more. Patterns are kept as text and compiled when
a cue was seen, since compiling all of them would cost a start more than everything else. Where a
pattern has a group `s`, only that is the secret. Secrets that a name gives away (`password = …`)
are in named.py; whether a match is a made-up example, checks.py decides. A test checks the example
of a row, in which the secret is between ⟦ and ⟧.
"""

from collections.abc import Iterable

from holdfast.text.secrets.program_formats import COMMANDS, PLACES, Rule

# What may not be before or after a token, or it would be a piece of something longer.
_B = r"(?<![A-Za-z0-9_])"
_E = r"(?![A-Za-z0-9_])"
_E_DASH = r"(?![A-Za-z0-9_-])"
_HEX = "[0-9a-f]"
_WORD = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"


def _token(kind: str, front: str, rest: str, *, end: str = _E_DASH, cue: str = "") -> Rule:
    """A token that begins with a fixed text. What may not be before it is checked after the text,
    so that the search for it is one for plain text."""
    cues = (cue or front.replace("\\", "").lower(),)
    return Rule(kind, cues, f"{front}(?<![A-Za-z0-9_]{front}){rest}{end}")


_BEGIN = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
# A URL's user part; a password in it ends at the last @ before a slash.
_USER = r"[^\s:/@?#\"'<>\[\](){}]{0,64}"
_URL_PASSWORD = r"(?P<s>[^\s/@?#\"'<>\[\]{}]{3,128})@[\w\[]"
_DATABASES = (
    *("postgres", "postgresql", "mysql", "mariadb", "mongodb", r"mongodb\+srv", "redis", "rediss"),
    *("amqp", "amqps", "mssql", "sqlserver", "oracle", "clickhouse", "couchdb", "neo4j", "bolt"),
    *("cassandra", "memcached", "kafka", "nats", "ldap", "ldaps", r"\+psycopg", r"\+psycopg2"),
    *(r"\+asyncpg", r"\+pymysql", r"\+aiomysql", r"\+mysqldb", r"\+pyodbc", r"\+cx_oracle"),
)
_OF_DATABASE = "|".join(f"(?<={name})" for name in _DATABASES)

# Special ones come before general ones: of two that overlap, the first is kept.
RULES: tuple[Rule, ...] = (
    # Keys in files
    Rule(
        "private-key",
        ("-----begin",),
        f"{_BEGIN}(?:(?!-----BEGIN)[\\s\\S]){{16,32000}}?{_END}",
        "pem",
        spaced=True,
    ),
    # One that was cut off is still one.
    Rule(
        "private-key",
        ("-----begin",),
        f"{_BEGIN}(?:\\s|\\\\[nr])*[A-Za-z0-9+/=\\s\\\\]{{32,}}",
        "pem",
        spaced=True,
    ),
    # In a kubeconfig or a Secret of Kubernetes. This is base 64 of `-----BEGIN `.
    Rule(
        "private-key",
        ("ls0tls1crudjti",),
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{80,}={0,2}",
        "encoded_pem",
    ),
    Rule(
        "putty-key",
        ("private-lines:",),
        r"Private-Lines: \d+\s+(?P<s>(?:[A-Za-z0-9+/=]{40,}+\s*+)+)",
        spaced=True,
    ),
    _token("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    # Clouds
    Rule(
        "aws-access-key",
        ("akia", "asia", "abia", "acca"),
        f"{_B}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_E}",
    ),
    Rule(
        "aws-secret-key",
        ("aws", "secret_access", "secretaccess"),
        r"(?i:aws.{0,24}|secret.?access.?key.{0,12})(?:secret|sk|key)?[\"'\s]{0,3}(?:=>|[:=]|\bis\b)"
        r"[\"'\s]{0,4}(?P<s>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "mixed",
        spaced=True,
    ),
    _token("gcp-api-key", "AIza", "[A-Za-z0-9_-]{35}"),
    _token("google-oauth-secret", "GOCSPX-", f"{_WORD}{{28}}"),
    _token("google-oauth-token", r"ya29\.", f"{_WORD}{{40,400}}"),
    Rule("azure-storage-key", ("accountkey=",), r"AccountKey=(?P<s>[A-Za-z0-9+/]{86}==)"),
    Rule("azure-shared-key", ("sharedaccesskey=",), r"SharedAccessKey=(?P<s>[A-Za-z0-9+/]{43}=)"),
    Rule(
        "azure-client-secret",
        ("q~",),
        r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])",
    ),
    Rule(
        "url-signature",
        ("signature=",),
        r"(?i:[?&](?:x-(?:amz|goog)-)?signature=)(?P<s>[A-Za-z0-9%+/_-]{27,512}=?)",
        "mixed",
    ),
    Rule("azure-sas", ("sig=",), r"[?&]sig=(?P<s>[A-Za-z0-9%+/_-]{40,60}(?:%3D|=))"),
    Rule("digitalocean-token", ("_v1_",), f"{_B}do[opr]_v1_{_HEX}{{64}}{_E}"),
    Rule("cloudflare-key", ("v1.0-",), f"{_B}v1\\.0-{_HEX}{{24}}-{_HEX}{{146}}{_E}"),
    _token("heroku-key", "HRKU-", f"{_WORD}{{36,70}}"),
    _token("databricks-token", "dapi", f"{_HEX}{{32}}(?:-\\d)?"),
    Rule("vault-token", ("hvs.", "hvb.", "hvr."), f"{_B}hv[sbr]\\.{_WORD}{{24,200}}"),
    Rule(
        "terraform-token", ("atlasv1",), f"{_B}{_ALNUM}{{14}}\\.atlasv1\\.{_WORD}{{60,70}}{_E_DASH}"
    ),
    _token("pulumi-token", "pul-", f"{_HEX}{{40}}"),
    Rule(
        "doppler-token",
        ("dp.",),
        f"{_B}dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{{2,35}}\\.)?{_ALNUM}{{40,44}}{_E}",
    ),
    Rule("planetscale-token", ("pscale_",), f"{_B}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{{32,64}}"),
    Rule("supabase-token", ("sbp_",), f"{_B}sbp_{_HEX}{{40}}{_E}"),
    _token(
        "tailscale-key", "tskey-", f"(?:auth|api|client|webhook)-{_ALNUM}{{6,24}}-{_ALNUM}{{16,48}}"
    ),
    # Code and packages
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        f"{_B}gh[pousr]_{_ALNUM}{{36,255}}{_E}",
    ),
    _token("github-token", "github_pat_", f"{_ALNUM}{{22}}_{_ALNUM}{{59}}", end=_E),
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-"),
        f"{_B}gl(?:pat|dt|rt|ptt|cbt|soat|ft)-[A-Za-z0-9_.-]{{20,90}}",
    ),
    _token("bitbucket-token", "ATBB", f"{_ALNUM}{{32}}", end=_E),
    _token("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{100,250}", end=""),
    _token("npm-token", "npm_", f"{_ALNUM}{{36}}", end=_E),
    _token("pypi-token", "pypi-", f"AgE{_WORD}{{50,400}}"),
    _token("rubygems-key", "rubygems_", f"{_HEX}{{48}}"),
    _token("crates-token", "cio", f"{_ALNUM}{{32}}", end=_E),
    _token("docker-token", "dckr_pat_", f"{_WORD}{{27}}"),
    # Models
    _token("anthropic-key", "sk-ant-", f"[a-z0-9]{{2,10}}-{_WORD}{{60,120}}"),
    _token("openrouter-key", "sk-or-v1-", f"{_HEX}{{64}}"),
    Rule("openai-key", ("sk-",), f"{_B}sk-(?:proj|svcacct|admin|None)-{_WORD}{{40,400}}{_E_DASH}"),
    Rule("openai-key", ("sk-",), f"{_B}sk-{_ALNUM}{{32,64}}{_E_DASH}", "mixed"),
    # Shorter than the services make them today, as people cut them or invent them; drawn at random.
    Rule(
        "anthropic-key",
        ("sk-ant-",),
        f"{_B}sk-ant-[a-z0-9]{{2,10}}-{_WORD}{{16,59}}{_E_DASH}",
        "mixed",
    ),
    Rule(
        "openai-key",
        ("sk-",),
        f"{_B}sk-(?:proj|svcacct|admin|None)-{_WORD}{{16,39}}{_E_DASH}",
        "mixed",
    ),
    _token("holdfast-key", "hf_", f"{_WORD}{{43}}"),
    _token("huggingface-token", "hf_", f"{_ALNUM}{{34}}", end=_E),
    _token("groq-key", "gsk_", f"{_ALNUM}{{48,60}}", end=_E),
    _token("xai-key", "xai-", f"{_ALNUM}{{70,90}}", end=_E),
    _token("replicate-token", "r8_", f"{_ALNUM}{{37}}", end=_E),
    _token("perplexity-key", "pplx-", f"{_ALNUM}{{40,64}}", end=_E),
    # Talk
    Rule("slack-token", ("xox",), f"{_B}xox[abeoprs](?:\\.xox[bp])?-[0-9A-Za-z-]{{20,250}}"),
    _token("slack-token", "xapp-", r"\d-[A-Z0-9]{8,16}-\d{8,16}-[a-z0-9]{40,80}"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9+/]{30,90})",
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/\d{16,20}/(?P<s>[A-Za-z0-9_-]{60,70})",
    ),
    Rule(
        "discord-token",
        (".",),
        r"(?<![\w.-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])",
        "mixed",
    ),
    Rule(
        "teams-webhook",
        ("webhook.office.com",),
        r"webhook\.office\.com/(?P<s>webhookb2/[A-Za-z0-9@/-]{80,220})",
    ),
    Rule("telegram-token", (":aa",), f"(?:{_B}|(?<=/bot))\\d{{8,10}}:AA{_WORD}{{33}}{_E_DASH}"),
    _token("twilio-key", "SK", f"{_HEX}{{32}}", end=_E),
    _token("sendgrid-key", r"SG\.", f"{_WORD}{{22}}\\.{_WORD}{{43}}"),
    _token("mailgun-key", "key-", f"{_HEX}{{32}}"),
    Rule("mailchimp-key", ("-us",), f"{_B}{_HEX}{{32}}-us\\d{{1,2}}{_E}"),
    # Money
    Rule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        f"{_B}[sr]k_(?:live|test)_{_ALNUM}{{16,250}}{_E}",
    ),
    _token("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,80}", end=""),
    Rule("square-token", ("sq0",), f"{_B}sq0(?:atp|csp|idp)-{_WORD}{{22,43}}{_E_DASH}"),
    Rule("shopify-token", ("shp",), f"{_B}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}{_E}"),
    Rule(
        "braintree-token",
        ("access_token$",),
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    # Work
    _token("linear-key", "lin_api_", f"{_ALNUM}{{40}}", end=_E),
    _token("notion-token", "ntn_", f"{_ALNUM}{{40,60}}", end=_E),
    _token("notion-token", "secret_", f"{_ALNUM}{{43}}", end=_E),
    _token("figma-token", "figd_", f"{_WORD}{{40,60}}"),
    _token("postman-key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    _token("newrelic-key", "NRAK-", "[A-Z0-9]{27}"),
    Rule("grafana-token", ("glsa_",), f"{_B}glsa_{_ALNUM}{{32}}_{_HEX}{{8}}{_E}"),
    Rule("sentry-token", ("sntry",), f"{_B}sntry[su]_[A-Za-z0-9+/=_-]{{60,250}}"),
    _token("airtable-token", "pat", f"{_ALNUM}{{14}}\\.{_HEX}{{64}}", end=_E),
    _token("dropbox-token", r"sl\.", f"(?:u\\.)?{_WORD}{{120,1200}}"),
    # Others
    Rule(
        "fly-token",
        ("fm2_", "fm1r_", "fo1_", "flyv1"),
        r"(?<![\w/+])(?:FlyV1 )?(?:fm2_|fm1[ra]_|fo1_)[A-Za-z0-9+/_=,-]{32,4000}",
        spaced=True,
    ),
    _token("square-token", "EAAA", f"{_WORD}{{56,70}}"),
    Rule("vault-token", ("s.",), r"(?<![\w./-])s\.[A-Za-z0-9]{24}(?![\w.])", "mixed"),
    Rule(
        "password-hash",
        ("$2", "$apr1$", "$6$", "$5$", "$1$", "$y$", "$argon2", "$scrypt$", "$pbkdf2"),
        r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}"
        r"|\$(?:[156]|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}"
        r"|\$y\$[./A-Za-z0-9]{2,8}\$[./A-Za-z0-9]{8,32}\$[./A-Za-z0-9]{43}"
        r"|\$argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,128}",
    ),
    Rule(
        "jwk-private",
        ('"kty"',),
        r'"d"\s{0,2}:\s{0,2}"(?P<s>[A-Za-z0-9_-]{20,700})"',
        spaced=True,
    ),
    # General forms
    Rule(
        "jwt",
        ("eyj",),
        r"(?<![\w.-])eyJ[A-Za-z0-9_-]{12,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
    ),
    Rule(
        "database-password",
        ("://",),
        f"(?i:{_OF_DATABASE})://{_USER}:{_URL_PASSWORD}",
        "password",
        spaced=True,
        at_cue=True,
    ),
    Rule(
        "url-password",
        ("://",),
        f"(?<=[a-zA-Z][a-zA-Z0-9+.-])://{_USER}:{_URL_PASSWORD}",
        "password",
        spaced=True,
        at_cue=True,
    ),
    Rule(
        "basic-auth",
        ("basic",),
        r"(?i:authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?basic) (?P<s>[A-Za-z0-9+/]{8,200}={0,2})",
        "basic",
        spaced=True,
    ),
    Rule(
        "bearer-token",
        ("bearer",),
        r"(?i:\bbearer) (?P<s>[A-Za-z0-9._~+/-]{20,2000}=*)(?![\w(])",
        "token",
        spaced=True,
    ),
    Rule(
        "curl-password",
        ("curl",),
        r"(?<!\w)curl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:"
        r"(?P<s>[^\s\"'@]{4,128})",
        "password",
        spaced=True,
    ),
    Rule(
        "netrc-password",
        ("machine",),
        r"machine\s+(?:[\w-]+(?:\.[\w-]+)+|localhost)\s+login\s+\S+\s+password\s+(?P<s>\S{4,128})",
        "password",
        spaced=True,
        at_cue=True,
    ),
    Rule(
        "docker-auth",
        ('"auth"',),
        r'"auth"\s{0,2}:\s{0,2}"(?P<s>[A-Za-z0-9+/]{12,400}={0,2})"',
        "docker",
        spaced=True,
    ),
    *PLACES,
    *COMMANDS,
)


# Which rules are worth trying on a text, by the cues that are in it


def _rules_by_cue(rules: Iterable[Rule]) -> list[tuple[str, list[Rule]]]:
    out: dict[str, list[Rule]] = {}
    for rule in rules:
        for cue in rule.cues:
            out.setdefault(cue, []).append(rule)
    return list(out.items())


COMMANDS_BY_CUE = _rules_by_cue(COMMANDS)
SPACED_BY_CUE = _rules_by_cue(rule for rule in RULES if rule.spaced and rule not in COMMANDS)
TOKENS_BY_CUE = _rules_by_cue(rule for rule in RULES if not rule.spaced)
ORDER = {rule: place for place, rule in enumerate(RULES)}
# Each noun of nouns.py contains one of these; that module is only loaded where one is found.
NOUN_CUES = (
    *(
        "pass",
        "psswd",
        "psw",
        "masterauth",
        "pswd",
        "pw",
        "key",
        "secret",
        "token",
        "credential",
        "kennwort",
    ),
    *("contrase", "wachtwoord", "senha", "hasło", "haslo", "lösenord", "adgangskode", "salasana"),
    *(
        "парол",
        "密码",
        "密碼",
        "口令",
        "パス",
        "비밀번호",
        "암호",
        "mdp",
        "psk",
        "clave",
        "schlüssel",
    ),
    *("parola", "chiave", "clé", "chave", "sleutel", "密钥", "キー", "トークン", "токен", "ключ"),
    *("pin", "code", "códi", "codi", "combination", "暗証", "暗证"),
)
