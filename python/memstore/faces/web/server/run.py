"""``memstore web``: the pages on this machine, opened in the user's browser."""

from __future__ import annotations

import errno
import logging
import os
import sys
import tempfile
import threading
import webbrowser
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from memstore.errors import MemstoreError
from memstore.faces import from_settings, wording
from memstore.faces.serving.address import AcceptedNames, Address, listen
from memstore.faces.serving.bodies import Patience
from memstore.faces.serving.connection import MAX_PAGE_HEAD_BYTES
from memstore.faces.serving.loop import serve, trust
from memstore.faces.serving.opening import Opening, end, on_signals
from memstore.faces.serving.stores import Stores
from memstore.faces.web import kept_path
from memstore.faces.web.server.gate import PagesGate
from memstore.faces.web.server.sign_in import ENTER, SOURCE, USER, SignIn
from memstore.faces.web.sessions import CODE_LIFE, Codes

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import JSONGenerator
    from memstore.settings import Settings

HOST: Final = "127.0.0.1"
PORT: Final = 8766
"""The usual port, so that bookmarks last; if another program has it, the system chooses one."""

FORWARDING: Final = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>memstore</title>
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">Open memstore</a></p>
"""

logger = logging.getLogger(__name__)


def run(chosen: Settings, port: int | None, *, opens_browser: bool) -> NoReturn:
    """Serve the pages until a signal comes, and end the process.

    Args:
        chosen: the settings of the store.
        port: the port; ``None`` for the usual one, or any if that is taken.
        opens_browser: open the browser, rather than print a code.
    """
    status = 1
    opening = Opening(
        partial(from_settings.open_store, chosen, actor=USER, source=SOURCE, create=False)
    )
    on_signals(lambda _number, _frame: end(opening, 0))
    try:
        show(
            opening,
            port,
            opens_browser=opens_browser,
            owners=chosen.owners,
            generator=partial(from_settings.make_generator, chosen),
        )
        status = 0
    except (MemstoreError, OSError, ValueError) as error:
        _say(f"memstore web: {wording.on_command_line(error)}")
    except Exception:
        logger.exception("the server failed")
    finally:
        end(opening, status)


def show(
    opening: Opening,
    port: int | None,
    *,
    opens_browser: bool,
    owners: Mapping[str, str] | None = None,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
) -> None:
    """Serve the pages of a store until a signal comes; the arguments are those of :func:`run`.

    ``owners`` are those that agents use if a call names none; ``generator`` makes the language
    model that reads episodes again.
    """
    logging.basicConfig(format="memstore web: %(message)s", level=logging.WARNING)
    sockets = _listen(port)
    bound = Address(*sockets[0].getsockname()[:2])
    codes = Codes()
    sign_in = SignIn(Stores(opening), kept_path.kept_path(), codes, owners, generator)
    names = AcceptedNames.of(HOST, (), ())
    gate = PagesGate(sign_in, names=names, ports=(bound.port,), on_admitted=trust)
    doorman = _Doorman(bound, codes)
    sign_in.on_entered = doorman.remove_file
    _say(f"memstore web: http://{bound}{ENTER} (Ctrl-C ends it)")
    let_in = doorman.open_browser if opens_browser else doorman.print_code
    let_in()
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_on_enter, args=(let_in,), daemon=True).start()
    try:
        serve(
            gate,
            sockets,
            opening,
            head_seconds=Patience().head_seconds,
            max_head_bytes=MAX_PAGE_HEAD_BYTES,
        )
    finally:
        doorman.remove_file()


def _listen(port: int | None) -> list[socket.socket]:
    try:
        return listen(Address(HOST, PORT if port is None else port))
    except OSError as error:
        cause = error.__cause__
        if port is None and isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE:
            return listen(Address(HOST, 0))
        raise


def _on_enter(work: Callable[[], None]) -> None:
    """Let somebody in again at each line that is entered."""
    for _ in sys.stdin:
        work()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class _Doorman:
    """Brings a one-time code to the user, and to nobody else.

    The browser is started with the name of a file that only the user may read, which forwards to
    the address with the code: command lines are seen by everybody. Behind the ``#`` the code is in
    no request, and so in no log.
    """

    def __init__(self, bound: Address, codes: Codes) -> None:
        self._bound = bound
        self._codes = codes
        self._lock = threading.Lock()
        self._file: Path | None = None

    def open_browser(self) -> None:
        """Open the browser with a new code."""
        self.remove_file()
        address = f"http://{self._bound}{ENTER}#{self._codes.make()}"
        try:
            number, name = tempfile.mkstemp(".html", "open-", kept_path.folder())  # mode 0600
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(FORWARDING.format(address=escape(address)))
        except OSError as error:
            _say(f"memstore web: the browser was not opened: {error}")
            self.print_code()
            return
        with self._lock:
            self._file = Path(name)
        expiry = threading.Timer(CODE_LIFE.total_seconds(), self.remove_file)
        expiry.daemon = True
        expiry.start()
        if not webbrowser.open(Path(name).as_uri()):
            _say("memstore web: no browser was found")
            self.print_code()
        elif sys.stdin is not None and sys.stdin.isatty():
            _say("memstore web: your browser opens it; Enter opens it again")

    def print_code(self) -> None:
        """Print a new code, for the form of the page."""
        _say(f"memstore web: the code for two minutes: {self._codes.make()}")

    def remove_file(self) -> None:
        """Remove the file, once its code was used or is too old."""
        with self._lock:
            file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.unlink()
