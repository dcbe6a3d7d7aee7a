"""Secrets known by their name: what is assigned to ``DB_PASSWORD``, or given to ``--token``.

A name says that a value is a secret, and whether the value looks like one is decided apart from
it. References (``$PW``, ``os.environ["X"]``, ``vault:…``), placeholders (``changeme``, ``<key>``),
types, and plain words of a sentence are none. Every pattern is bounded: time is linear in the text.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD: Final = "password"  # noqa: S105 - a kind, as are the next
KEY: Final = "api-key"
TOKEN: Final = "token"  # noqa: S105
SECRET: Final = "secret"  # noqa: S105

ENDINGS: Final = {
    **dict.fromkeys(
        "password passwd passphrase passcode passwort kennwort contraseña contrasena senha pwd"
        " requirepass masterauth storepass keypass".split(),
        PASSWORD,
    ),
    **dict.fromkeys(
        "apikey secretkey accesskey accountkey authkey privatekey masterkey licensekey".split(), KEY
    ),
    **dict.fromkeys("secret credential credentials".split(), SECRET),
    "token": TOKEN,
}
"""What a name ends with, and what that makes it."""

KEYS: Final = frozenset(
    "api secret access auth authentication authorization account private encryption encrypt signing"
    " sign master license licence service subscription deploy admin root webhook app application"
    " shared session jwt hmac cookie client consumer integration ingest write openai anthropic"
    " gemini mistral voyage deepseek cohere groq datadog dd stripe sendgrid mailgun".split()
)
"""What makes a key a secret one, right before the word."""

PASSES: Final = frozenset(
    "db user smtp mysql postgres pg redis mongo ftp ssh admin root mail email imap ldap proxy key"
    " store wifi wpa sudo login rabbitmq sa basic http auth my app web service archive".split()
)
"""What makes a "pass" a password, right before it."""

AFTERWARDS: Final = frozenset(
    "value val b64 base64 raw plain plaintext prod production staging stage dev development"
    " live old new current primary secondary main string".split()
)
"""Words that may follow the telling one, as in ``API_KEY_PROD``."""

OTHERWISE: Final = frozenset(
    "max min num number count total budget limit used per next prev previous page continuation"
    " cursor pad eos bos sep unk cls mask special stop start begin end image audio design color"
    " colour theme sync resume pagination mention public non sub forgot reset show hide no has is"
    " needs requires require ask check validate verify with without skip cache wake invalid"
    " missing wrong bad expired empty idempotency template".split()
)
"""Words of a name that make it another thing: ``max_token``, ``next_token``, ``public_key``."""

DUMMIES: Final = frozenset(
    "change changeme your yours example examples placeholder redacted dummy sample insert replace"
    " replaceme todo fixme fake mock removed hidden masked omitted here test testing tests default"
    " password passwd pass pwd passphrase secret secrets token tokens key keys api apikey admin"
    " user username guest foo bar baz qux none null nil true false undefined required optional"
    " string str text bytes byte char varchar int uint integer float bool boolean number object any"
    " hash hashed sha md utf base argon bcrypt scrypt pbkdf oauth rsa aes hmac http https ipv line"
    " env vault value some not set use enter generate generated random config settings file path"
    " field name version demo abc abcdef xyz step page chapter section figure table blank temp tmp"
    " hello world localhost postgres root mysql redis letmein".split()
)
"""Words of placeholders, types and references; a value made of them and a few digits is none."""

NAME: Final = lazy_pattern(
    r"(?i:pass(?:word|wd|phrase|code|wort)?|pwd|kennwort|contrase[ñn]a|senha|secret|token|key|auth"
    r"|credential)[A-Za-z0-9_.-]{0,40}"
)
"""The telling word of a name and what follows; what stands before it is looked for from there."""

PART: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$")

MAX_BEFORE: Final = 60
"""The most characters of a name before its telling word."""

WORD: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-zñ]+|[0-9]+")

SPACED_NAME: Final = lazy_pattern(r"(?i:(?<![A-Za-z0-9])(?:api|secret|access|private|auth)) $")
"""What makes "key" or "token" a name of two words, as in "API key: …"."""

SETTING: Final = lazy_pattern(
    r"(?:(?<![A-Za-z0-9])(?i:setx|setenv|set -\w{1,3}|set|env|arg|by) |login \S{1,100} )$"
)
"""What stands before a name that takes its value after a space."""

UNTOLD: Final = ("api ", "secret ", "private ")
"""What says no more of a token than the word alone, in a sentence."""

AFTER: Final = lazy_pattern(
    r"""(?x)
    (?P<close>\\{0,3}["'`]?\]?)
    (?:
      (?P<typed>[ ]?:[ ]?[A-Za-z_][\w.]{0,30}(?:\[\w{1,20}\])?(?:[ ]?\|[ ]?None)?[ ]?=(?![=~])[ ]?)
      | (?P<assigned>[ \t]{0,20}(?::=|=>|[:=](?![=~]))[ \t]{0,20}(?:[|>]-?[ ]?)?
          (?:\r?\n[ \t]{1,20})?)
      | (?P<paired>,?\s{1,40}["']?(?i:value)["']?[ ]{0,4}[:=][ ]{0,4})
      | (?P<listed>[ ]{0,4},\s{1,8}(?=\\{0,3}["'`]))
      | (?P<tagged>>)
      | (?P<spaced>[ \t]{1,8})
    )
    (?:(?i:bearer|basic|token)[ ]{1,3})?
    (?P<quote>\\{0,3}["'`])?
    """
)
"""What may stand between a name and its value."""

BARE: Final = lazy_pattern(r"[^\s\"'`,;<>|&]{1,400}")

QUOTED: Final = {
    sign: lazy_pattern(rf"[^{sign}\\\r\n]{{1,400}}(?={sign})|[^{sign}\\\r\n]{{1,400}}(?=\\+{sign})")
    for sign in "\"'`"
}

STATED: Final = lazy_pattern(
    r"(?i)\b(pass(?:word|wd|phrase|code|wort)|pwd|api[ -]?key|access[ -]key|secret(?:[ -]key)?"
    r"|token|kennwort|contraseña|senha|mot de passe)"
    r"(?: (?:for|of|on|to|für|de|del)(?: [\w.@-]{1,40}){1,3}?)?"
    r" (?:is|was|are|ist|lautet|est|es|é)(?: now)?:? [\"'`]?([^\s\"'`]{6,200})"
)
"""What a sentence says to be a password."""

COMMANDS: Final = (
    ("curl wget http xh", r"(?:-u|--user|--proxy-user|-U|-a|--auth)[ =]?[\"']?[^\s:\"']{1,100}:"),
    ("sshpass", r"-p ?[\"']?"),
    ("mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump mycli 7z 7za", r"-p[\"']?(?=\S)"),
    ("docker+login podman+login az+login helm+registry oc+login mongo mongosh mongodump"
     " mongorestore rdesktop", r"-p[ =]?[\"']?"),
    ("redis-cli", r"-a ?[\"']?"),
    ("ldapsearch ldapadd ldapmodify ldapwhoami", r"-w ?[\"']?"),
    ("zip unzip sqlcmd bcp ipmitool", r"-P ?[\"']?"),
    ("openssl", r"-(?:pass|passin|passout) [\"']?pass:"),
    ("smbclient rpcclient", r"-U ?[\"']?[^\s%\"']{1,100}%"),
    ("lftp", r"-u ?[\"']?[^\s,\"']{1,100},"),
    ("ngrok", r"(?:add-)?authtoken [\"']?"),
    ("xfreerdp xfreerdp3", r"/p:[\"']?"),
    ("ConvertTo-SecureString", r"(?:-String )?[\"'](?=\S)"),
    ("IDENTIFIED identified", r"(?i:by) '"),
)  # fmt: skip
"""Commands, ``+`` for a space, and what stands before a secret in their lines."""

MAX_LINE: Final = 1000
"""How far before an option its command is looked for."""

MAX_CONTINUED: Final = 20
"""Over how many ends of lines, each behind a backslash."""

MAX_USUAL: Final = 60
"""A longer value is read once, however many names stand in it."""

TELLING: Final = (
    "pass pwd kennwort contrase senha secret token key auth credential curl wget http sshpass mysql"
    " mariadb mycli 7z podman mongo rdesktop redis-cli ldap zip sqlcmd bcp openssl smbclient lftp"
    " ngrok xfreerdp login ipmitool rpcclient securestring identified"
).split()
"""A text without any of these has no secret that is known by a name."""

REFERENCE: Final = lazy_pattern(
    r"""(?x)
    [$%<{(\[*!~\\|^?]                              # a variable, a template, a mask
    | \.{0,2}/ | @[{\w]+[@}]$ | \#(?:\{|$) | -{1,2}[a-z]
    | (?i:file|env|vault|op|ssm|keyring|secretsmanager|arn|ref\+\w+|sops|data|secret|kms|gcp|aws)
      :[\w/:{]
    | \w[\w+.-]{0,20}://                          # an address: the password in it is found apart
    | [A-Za-z_][\w.]{0,60}[(\[{]                  # a call or a look-up
    """
)

MASKED: Final = lazy_pattern(r"\$\{|\$\(|\{\{|\}\}|<[^>]*>|\*{3}|\.{3}|…|•{2}|(?i:x{4})|_{4}|#\{")

CODE: Final = lazy_pattern(r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[?;!]?$", re.ASCII)

HEXADECIMAL: Final = lazy_pattern(r"[0-9a-fA-F]+$")

UUID: Final = lazy_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")

NUMBERS: Final = lazy_pattern(r"[0-9.,:/_+%-]+(?:[a-zA-Z]{1,2})?$")

END: Final = ".,;:!?)]}>*"
"""What may follow a value that is not quoted."""


class Found(NamedTuple):
    """The place of a value, and what its name calls it."""

    kind: str
    start: int
    end: int


def find(text: str, lowered: str) -> Iterator[Found]:
    """Yield what looks like the value of a secret, in a text that is also given in lower case."""
    if not any(word in lowered for word in TELLING):
        return
    looked_at = 0
    for match in NAME.finditer(text):
        if match.start() >= looked_at and (value := _value(text, match)) is not None:
            if value.is_secret:
                yield value.found
            if value.found.end - value.found.start > MAX_USUAL:
                looked_at = value.found.end  # else each name in it would be read with the rest
    for match in STATED.finditer(text):
        said, is_password = match[2].rstrip(END), "pass" in match[1].lower()
        if _is_stated(said, is_password=is_password):
            yield Found(PASSWORD, match.start(2), match.start(2) + len(said))
    for names, command, pattern in _commands():
        if any(name.lower() in lowered for name in names):
            yield from _given(text, pattern, command)


def names_secret(name: str, value: str) -> str | None:
    """Return what kind of secret a member of an object is; ``None`` if it is none."""
    kind = _kind(name)
    return kind if kind and _looks_secret(value, kind, name, quoted=True) else None


class _Value(NamedTuple):
    """What a name of a secret is given."""

    found: Found
    is_secret: bool


def _value(text: str, match: re.Match[str]) -> _Value | None:
    """Return what a name is given, if that is the name of a secret."""
    start, end = match.span()
    least = max(0, start - MAX_BEFORE)
    while start > least and text[start - 1] in PART:
        start -= 1
    written = text[start:end]
    name = written.rstrip(".-")
    end -= len(written) - len(name)
    if SPACED_NAME.search(text, max(0, start - 10), start):
        name = f"{text[max(0, start - 8) : start].split()[-1]} {name}"
    if text[start - 1 : start] == ":" and text[start - 2 : start - 1].isdigit():
        return None  # a part of a name such as arn:aws:…:1234:secret:db
    kind = _kind(name)
    after = AFTER.match(text, end) if kind else None
    if kind is None or after is None or not _joins(text, start, name, after):
        return None
    sign = (after["quote"] or "")[-1:]
    value = (QUOTED[sign] if sign else BARE).match(text, after.end())
    if value is None:
        return None
    said = value[0] if sign else value[0].rstrip(END)
    spoken = not sign and after["assigned"] is not None and ": " in after["assigned"]
    is_secret = _looks_secret(said, kind, name, quoted=bool(sign), spoken=spoken)
    return _Value(Found(kind, value.start(), value.start() + len(said)), is_secret)


def _joins(text: str, start: int, name: str, after: re.Match[str]) -> bool:
    """Whether what stands behind a name gives it a value."""
    if after["assigned"] or after["typed"]:
        return True
    if after["listed"]:
        return bool(after["close"])
    if after["tagged"]:
        return text[start - 1 : start] == "<"
    if after["paired"]:
        return True
    is_flag = name.startswith("-")
    quotes = (after["quote"] or "")[-1:] == "'"
    is_setting = name in ("requirepass", "masterauth") or SETTING.search(
        text, max(0, start - 110), start
    )
    return is_flag or quotes or bool(is_setting)


def _kind(name: str) -> str | None:
    """Return what kind of secret a name is that of; ``None`` for other names."""
    words = [word.lower() for word in WORD.findall(name)]
    while len(words) > 1 and (words[-1] in AFTERWARDS or words[-1].isdigit()):
        words.pop()
    if not words or OTHERWISE.intersection(words):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "key":
        return KEY if before in KEYS else None
    if last == "pass":
        return PASSWORD if before in PASSES else None
    if last == "auth":
        return KEY if not before else None
    return next((kind for ending, kind in ENDINGS.items() if last.endswith(ending)), None)


def _looks_secret(
    value: str, kind: str, name: str, *, quoted: bool, spoken: bool = False, least: int = 6
) -> bool:
    """Whether a value looks like a secret of this kind, and like nothing else.

    Args:
        quoted: it stands in quotes, so that it is no code.
        spoken: it follows a colon and a space, as words of a sentence do.
        least: the fewest characters.
    """
    if len(value) < least or REFERENCE.match(value) or MASKED.search(value) or " " in value:
        return False
    if NUMBERS.match(value):
        return kind == PASSWORD and value.isdigit() and len(value) >= 8 and _is_uneven(value)
    if not quoted and CODE.match(value) and not _is_mixed(value, least=16):
        return False
    if is_dummy(value):
        return False
    is_lone = len(WORD.findall(name)) == 1
    if HEXADECIMAL.match(value) or UUID.match(value):
        # "token: 7c32b02c" may be any hash, in a sentence.
        is_hash = kind == TOKEN and spoken and (is_lone or name.lower().startswith(UNTOLD))
        return not is_hash and (kind == PASSWORD or len(value) >= 16)
    if kind == PASSWORD or (kind == SECRET and not (is_lone and spoken)):
        return _is_password(value) and (kind == PASSWORD or len(value) >= 8)
    return _is_mixed(value, least=8, turns=3 if is_lone and spoken else 2)


def _is_password(value: str) -> bool:
    """Whether it has letters with digits or signs, or is no word of any language."""
    letters = sum(one.isalpha() for one in value)
    digits = sum(one.isdigit() for one in value)
    signs = sum(not (one.isalnum() or one in "_-.'’") for one in value[:-1])
    return bool(letters and digits) or bool(letters and signs) or _is_random(value)


def _is_stated(value: str, *, is_password: bool) -> bool:
    """Whether a word that a sentence says to be a secret is no word of the language."""
    if re.match(r"\w{1,20}[:=]", value):
        return False  # an assignment of its own, or a hash such as sha256:…
    if REFERENCE.match(value) or MASKED.search(value) or is_dummy(value) or NUMBERS.match(value):
        return False
    if not is_password:
        return _is_mixed(value, least=8)
    if re.search(r"[!@#%^&*+=].|[#%&*+=]$", value):
        return any(one.isalpha() for one in value) and not re.search(r"@[\w-]+\.\w|://", value)
    if not value.isalnum():
        return False
    return _is_mixed(value, least=8) or (value[0].isalpha() and _turns(value) > 0)


def _is_mixed(value: str, *, least: int, turns: int = 2) -> bool:
    """Whether some part of it has letters and digits mingled as no word or version has them."""
    return any(
        len(part) >= least and (_turns(part) >= turns or _is_random(part))
        for part in re.split(r"[^A-Za-z0-9+]+", value)
    ) or (len(value) >= 2 * least and value.isascii() and _turns(value) >= 4)


def _turns(text: str) -> int:
    """Return how often letters and digits change places."""
    kinds = [one.isdigit() for one in text if one.isalnum()]
    return sum(one != other for one, other in pairwise(kinds))


def _is_random(value: str) -> bool:
    """Whether letters in lower and upper case are mingled as no camelCase name has them."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)
    if not value.isascii() or not value.isalpha() or len(parts) < 3:
        return value.isascii() and value.isalpha() and len(value) > 30 and value.islower()
    return 2 * sum(len(part) < 3 for part in parts) >= len(parts)


def _is_uneven(digits: str) -> bool:
    """Whether digits neither repeat nor count up."""
    return digits not in "01234567890123456789" and len(set(digits)) > 3


def is_dummy(value: str) -> bool:
    """Whether it is made of the words of a placeholder, and little else."""
    if len(set(value)) < 4:
        return True
    words = WORD.findall(value)
    left = [one for one in words if one.lower() not in DUMMIES]
    if len(left) == len(words):
        return False
    # Digits behind such a word, or a few letters, do not make it a secret.
    return sum(map(len, left)) < 12 and not _is_mixed("".join(left), least=8)


@cache
def _commands() -> tuple[tuple[list[str], re.Pattern[str], re.Pattern[str]], ...]:
    """Return names of commands, the pattern of any of them, and that of their secrets."""
    found = []
    for written, option in COMMANDS:
        names = [name.replace("+", " ") for name in written.split()]
        any_of = "|".join(map(re.escape, names))
        command = re.compile(rf"(?<![\w-])(?:{any_of})(?![\w-])")
        found.append((names, command, re.compile(rf"(?<=\s){option}([^\s\"'`;|]{{4,200}})")))
    return tuple(found)


def _given(text: str, pattern: re.Pattern[str], command: re.Pattern[str]) -> Iterator[Found]:
    """Yield the secrets that commands are given in their lines."""
    for match in pattern.finditer(text):
        if not command.search(text, _line_start(text, match.start()), match.start()):
            continue
        value, user = match[1], match[0][: match.start(1) - match.start()]
        is_plain = REFERENCE.match(value) or MASKED.search(value) or is_dummy(value)
        if not is_plain and value not in user and not value.isdigit():
            yield Found(PASSWORD, match.start(1), match.end(1))


def _line_start(text: str, place: int) -> int:
    """Return where the line of a place begins, which backslashes may have continued."""
    least = max(0, place - MAX_LINE)
    start = place
    for _ in range(MAX_CONTINUED):
        start = text.rfind("\n", least, start)
        if start < 1 or text[start - 1] != "\\":
            break
    return max(start + 1, least)
