"""The commands for the HTTP server's access tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memstore.domain.tokens import Access
from memstore.faces.cli import command as cli
from memstore.faces.escaping import second
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    import argparse

    from memstore.domain.tokens import AccessToken
    from memstore.store.store import Store


@cli.command(
    "token create",
    "memstore token create laptop\n"
    "memstore token create dashboard --namespace work --read-only --expires-at 2027-01-01",
    cli.option("NAME", "a name for the token, e.g. that of its user"),
    cli.option("--read-only", "allow only the tools that change nothing", dest="reading"),
    cli.option("--expires-at TIME", "when it expires"),
    cli.option(
        "--secret-file FILE",
        "read the secret from this file (- for standard input), e.g. one made by `openssl"
        " rand -hex 32`, and print none; repeating it makes only one token",
    ),
    file="create",
)
def _create(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    given = None if arguments.secret_file is None else _secret(arguments.secret_file)
    token, secret = store.file.tokens.create(
        arguments.name,
        # Not that of the hooks in the current folder: a token is for another machine or program.
        namespace=store.namespace if arguments.place.is_named else DEFAULT_NAMESPACE,
        access=Access.READ if arguments.reading else Access.WRITE,
        expires_at=arguments.expires_at,
        secret=given,
    )
    may = "reads" if token.access == Access.READ else "reads and writes"
    sentence = f"token {token.id} ({token.name}) {may} in {token.namespace}"
    if given is not None:
        show.done(sentence, token.to_dict())
        return
    show.note(f"{sentence}; its secret is shown only now and stored nowhere:")
    # Alone on standard output, so that a script can capture it.
    show.rows([[secret]], token.to_dict() | {"secret": secret})


def _secret(file: str) -> str:
    text = cli.standard_input() if file == "-" else Path(file).expanduser().read_text("utf-8")
    if not (secret := text.strip()):
        raise cli.UsageError("--secret-file: the file is empty")
    return secret


@cli.command("token list", "memstore token list")
def _list(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    tokens = store.file.tokens.list()
    show.rows([_cells(token) for token in tokens], [token.to_dict() for token in tokens])
    if not tokens:
        show.note("no tokens")


def _cells(token: AccessToken) -> list[object]:
    return [
        token.id,
        token.name,
        token.status,
        token.access,
        token.namespace,
        *(
            "never" if moment is None else second(moment)
            for moment in (token.expires_at, token.last_used_at)
        ),
    ]


@cli.command(
    "token revoke",
    "memstore token revoke laptop\nmemstore token revoke '#3'",
    cli.option("token NAME|#ID", "the token's name, or its number as #3"),
)
def _revoke(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    named: str = arguments.token
    number = named.removeprefix("#")
    by_number = number != named and number.isascii() and number.isdigit() and len(number) < 19
    token = store.file.tokens.revoke(int(number) if by_number else named)
    show.done(f"revoked token {token.id} ({token.name})", token.to_dict())
