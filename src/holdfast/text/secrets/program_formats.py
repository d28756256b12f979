"""Where programs expect a password, one row each: command lines, headers, files, calls. A row is a
`Rule`: kind, cheap cues, pattern, example."""

from __future__ import annotations

from typing import NamedTuple

# The shortest token with a shape of its own: an access key of AWS.
TOKEN_CHARS_MIN = 20


class Rule(NamedTuple):
    """One kind of secret. `check` names a check of checks.py beyond 'not an example'. One that is
    not `spaced` matches only within a word of TOKEN_CHARS_MIN characters, as its cues do. One that
    is `at_cue` is only tried where a cue begins. Cues contain no spaces."""

    kind: str
    cues: tuple[str, ...]
    pattern: str
    check: str = ""
    spaced: bool = False
    example: str = ""
    at_cue: bool = False


# One argument of a command line, in quotes or without.
_ARGUMENT = r"(?:\"(?P<q>[^\"\n]{3,128})\"|'(?P<a>[^'\n]{3,128})'|(?P<s>[^\s\"'`;|&<>$]{3,128}))"
# The arguments of a call that takes a user and a password, perhaps after a host.
_TWO_TEXTS = (
    r"\(\s{0,2}(?:[\"'][^\"'\n]{1,64}[\"'],\s{0,2}){1,2}[\"'](?P<s>[^\"'\n]{4,128})[\"']\s{0,2}\)"
)
# The rest of a command up to an option; it ends with the line.
_UP_TO = r"\b[^\n|;]{0,160}?\s"


def _command(
    kind: str, programs: tuple[str, ...] | str, option: str, example: str, rest: str = ""
) -> Rule:
    """Programs, and the option that their password follows; `rest` is the end of their names."""
    cues = (programs,) if isinstance(programs, str) else programs
    pattern = f"(?<![\\w.])(?:{'|'.join(cues)}){rest}{_UP_TO}{option}{_ARGUMENT}"
    return Rule(f"{kind}-password", cues, pattern, "chosen", True, example, at_cue=True)


# Only looked for in a text that has a word with an option's first character: -, /, \\ or |.
COMMANDS: tuple[Rule, ...] = (
    _command(
        "mysql",
        ("mysql", "mariadb"),
        r"-p(?=\S)",
        "mysqldump -u root -p⟦Maple77!⟧ shop",
        rest="(?:dump|admin|check|import|show)?",
    ),
    _command("ssh", "sshpass", "-p ?", "sshpass -p ⟦Maple77!⟧ ssh pi@10.0.0.7"),
    _command("redis", "redis-cli", "-a ", "redis-cli -h cache -a ⟦Maple77!⟧ ping"),
    _command("mongo", "mongo", "-p ?", "mongosh -u root -p ⟦Maple77!⟧", rest="[a-z]{0,7}"),
    _command("docker", ("docker", "podman"), "-p ", "docker login -u ci -p ⟦Maple77!⟧", " login"),
    _command("azure", "az", "-p ", "az login -u app -p ⟦Maple77!⟧", rest=" login"),
    _command("openssl", "openssl", "-[kK] ", "openssl enc -aes-256-cbc -k ⟦Maple77!⟧ -in a"),
    _command(
        "openssl",
        "openssl",
        "-pass(?:in|out)? pass:",
        "openssl rsa -in k.pem -passin pass:⟦Maple77!⟧",
    ),
    _command("zip", ("zip", "unzip"), "-P ?", "zip -P ⟦Maple77!⟧ -r out.zip docs"),
    _command("zip", "7z", r"-p(?=\S)", "7z x -p⟦Maple77!⟧ backup.7z", rest="[ar]?"),
    _command("zip", ("rar", "unrar"), r"-h?p(?=\S)", "rar a -hp⟦Maple77!⟧ backup.rar docs"),
    _command(
        "ldap", "ldap", "-w ", "ldapsearch -D cn=admin -w ⟦Maple77!⟧ -b dc=org", rest="[a-z]{3,8}"
    ),
    _command("http", "htpasswd", r"-\w*b\w* \S+ \S+ ", "htpasswd -b .htpasswd ana ⟦Maple77!⟧"),
    _command("http", ("http", "xh"), r"-a \S{1,64}?:", "http -a ana:⟦Maple77!⟧ GET :8000/me"),
    _command(
        "smb",
        ("smbclient", "rpcclient", "smbmap"),
        r"(?:-U|--user)[ =]?\S{1,64}?%",
        "smbclient //nas/share -U lena%⟦Maple77!⟧",
    ),
    _command("smb", "net", r"\\\\\S{1,100} (?!/)", r"net use Z: \\nas\docs ⟦Maple77!⟧", " use"),
    _command("rdp", ("xfreerdp", "wfreerdp"), "/p:", "xfreerdp /u:lena /p:⟦Maple77!⟧ /v:10.0.0.9"),
    _command("snmp", "snmp", "-c ", "snmpwalk -v2c -c ⟦Maple77!⟧ 10.0.0.1", rest="[a-z]{3,8}"),
    _command("ipmi", "ipmitool", "-P ", "ipmitool -H bmc -U root -P ⟦Maple77!⟧ power status"),
    _command("sql", ("sqlcmd", "isql", "bcp"), "-P ?", "sqlcmd -S db -U sa -P ⟦Maple77!⟧"),
    _command("gpg", "gpg", "--passphrase[ =]", "gpg --batch --passphrase ⟦Maple77!⟧ -d a", "2?"),
    Rule(
        "login-password",
        ("-u",),
        rf"-u[ =]?\S{{1,64}}(?:\s[^\n|;]{{0,120}}?)?\s-[pP][ =]?{_ARGUMENT}",
        "coined",
        True,
        "tool -h host -u ana -P ⟦Maple77!⟧ -t topic",
        at_cue=True,
    ),
    Rule(
        "sudo-password",
        ("echo",),
        rf"echo\s+(?:-n\s+)?{_ARGUMENT}\s*\|\s*sudo\s+(?:-\w+\s+)?-\w*S",
        "chosen",
        True,
        "echo '⟦Maple77!⟧' | sudo -S reboot",
        at_cue=True,
    ),
    Rule(
        "login-password",
        ("echo",),
        r"echo\s+[\"']?[\w.-]{1,64}:(?P<s>[^\s\"'|]{3,128})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd",
        "chosen",
        True,
        'echo "ana:⟦Maple77!⟧" | chpasswd',
        at_cue=True,
    ),
)

PLACES: tuple[Rule, ...] = (
    Rule(
        "wifi-password",
        ("wifi:",),
        r"(?i:wifi):(?:[A-OQ-Z]:(?:\\.|[^;\\\n]){0,100};){0,5}P:\"?(?P<s>(?:\\.|[^;\\\n]){4,128}?)\"?;",
        "chosen",
        True,
        "WIFI:T:WPA;S:Loft;P:⟦Maple77!⟧;;",
        at_cue=True,
    ),
    # Headers
    Rule(
        "cookie",
        ("cookie",),
        r"(?i:cookie)[\"']?\s{0,2}[:=]\s{0,3}[\"']?"
        r"(?:[\w.!#$%&'*+^`|~-]{1,64}=[^\s;,\"]{0,200};\s?){0,12}?"
        r"[\w.!#$%&*+^`|~-]{1,64}=(?P<s>[^\s;,\"'<>]{16,4000})",
        "cookie",
        True,
        "Cookie: theme=dark; sessionid=⟦k3jd82nd8s7x6q0pz1mw⟧",
        at_cue=True,
    ),
    Rule(
        "cookie",
        ("sess", ".sid", "auth"),
        r"(?i:\b[\w.-]{0,20}(?:sess(?:ion)?[\w.-]{0,8}|\.sid|auth[\w-]{0,12}))="
        r"(?P<s>[A-Za-z0-9%._~+/-]{16,4000})",
        "cookie",
        False,
        "PHPSESSID=⟦k3jd82nd8s7x6q0pz1mw⟧",
    ),
    Rule(
        "authorization",
        ("authorization",),
        r"(?i:authorization)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:[A-Za-z][\w-]{1,20}\s)?"
        r"(?P<s>[A-Za-z0-9._~+/=-]{16,4000})",
        "token",
        True,
        "Authorization: Token ⟦k3jd82nd8s7x6q0pz1mw⟧",
        at_cue=True,
    ),
    Rule(
        "basic-auth",
        ("authorization",),
        r"(?i:authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?basic)\s(?P<s>[A-Za-z0-9+/]{16,400}={0,2})",
        "token",
        True,
        "Proxy-Authorization: Basic ⟦YW5hOk1hcGxlNzchYW5hOk1hcGxlNzch⟧",
        at_cue=True,
    ),
    # Calls and statements
    Rule(
        "sql-password",
        ("identified",),
        r"(?i:identified\s+(?:with\s+\S{1,40}\s+)?by\s+(?:password\s+)?)['\"](?P<s>[^'\"\n]{3,128})['\"]",
        "chosen",
        True,
        "GRANT ALL ON shop.* TO 'app' IDENTIFIED BY '⟦Maple77!⟧'",
        at_cue=True,
    ),
    Rule(
        "sql-password",
        ("password",),
        r"(?i:password)\s+'(?P<s>[^'\n]{3,128})'",
        "chosen",
        True,
        "CREATE ROLE app LOGIN PASSWORD '⟦Maple77!⟧'",
        at_cue=True,
    ),
    Rule(
        "login-password",
        ("login(", "auth(", "auth=(", ".auth"),
        rf"(?i:login|\.?auth(?:\s?=\s?)?){_TWO_TEXTS}",
        "chosen",
        True,
        'server.login("bot@example.org", "⟦Maple77!⟧")',
        at_cue=True,
    ),
    Rule(
        "login-password",
        ("connect(",),
        rf"(?i:connect){_TWO_TEXTS}",
        "coined",
        True,
        "db.connect('root', '⟦Maple77!⟧')",
        at_cue=True,
    ),
    # Files
    Rule(
        "pgpass-password",
        (":",),
        r"(?:(?<=[A-Za-z*])|(?<=[a-z.-]\d)|(?<=\.\d\d)|(?<=\.\d\d\d)):(?:\*|\d{4,5})"
        r":[\w*.-]{1,64}:[\w*.-]{1,64}:(?P<s>[^\s:]{4,128})(?m:$)",
        "chosen",
        False,
        "db.example.org:5432:sales:reporter:⟦Maple77!⟧",
    ),
    Rule(
        "npm-auth",
        ("_auth",),
        r"_auth(?:Token|)\s{0,2}=\s{0,2}(?P<s>[A-Za-z0-9+/=_-]{16,400})",
        "token",
        True,
        "_auth=⟦k3jd82nd8s7x6q0pz1mw⟧",
        at_cue=True,
    ),
    # Pairs
    Rule(
        "login-password",
        ("@",),
        r"(?<=[\w.+-])@[\w-]{1,64}(?:\.[\w-]{1,40}){1,4}[ ](?:/|\||:)[ ](?P<s>[^\s|/]{4,128})",
        "coined",
        True,
        "ana@example.org / ⟦Maple77!⟧",
        at_cue=True,
    ),
    Rule(
        "login-password",
        ("cred", "login", "zugang"),
        r"(?i:(?<!\w)(?:creds?|credentials?|logins?|zugangsdaten|credenciales|credenziali))"
        r"(?:[ ]for[ ][^\n:]{1,40})?(?:[ ](?:is|are|sind|sont|son|sono)|[ ]?[:=])[ ]{0,2}[\"'`]?"
        r"[\w.@+-]{1,64}(?:[ ]?/[ ]?|:[ ]?|[ ]\|[ ])(?P<s>[^\s\"'`|/]{4,128})",
        "coined",
        True,
        "creds: deploy / ⟦Maple77!⟧",
        at_cue=True,
    ),
    Rule(
        "recovery-code",
        ("code",),
        r"(?i:(?:(?<=backup.)|(?<=recovery.)|(?<=scratch.)|(?<=rescue.)|(?<=[2m]fa.))codes?)\b"
        r"[^\n:=]{0,30}?[:=]?\s{1,3}"
        r"(?P<s>(?=[a-z-]{0,8}\d)[A-Za-z0-9]{4,16}+(?:[- ]?+[A-Za-z0-9]{4,8}+)?+"
        r"(?:,?+\s{1,4}+[A-Za-z0-9]{4,16}+(?:-[A-Za-z0-9]{4,8}+)?+(?![\w-])){0,20})(?![\w-])",
        "digits",
        True,
        "backup codes: ⟦8841-2203, 1190-7756⟧",
        at_cue=True,
    ),
)
