"""The commands that connect hosts, the programs in which agents run."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.domain.arguments import AUTO
from memstore.domain.records import Scope
from memstore.domain.tokens import Access
from memstore.errors import MemstoreError
from memstore.faces import from_settings, options
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.faces.options import chosen_settings
from memstore.file.paths import file_at
from memstore.lazy import lazy_import
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore import plain_http, projects
    from memstore.faces.cli import sync
    from memstore.faces.hosts import (
        catalogue,
        check,
        hook,
        own_memory,
        past_sessions,
        record,
        registration,
        remote,
        remote_entries,
        servers,
        setup,
        spool,
        troubles,
        unkept,
    )
    from memstore.faces.hosts.catalogue import Host, Registration
    from memstore.faces.hosts.record import Done
    from memstore.faces.hosts.registration import Programs
    from memstore.faces.hosts.setup import FileChange
    from memstore.settings import Settings
    from memstore.store import store as stores
    from memstore.sync import remembered
else:
    sync = lazy_import("memstore.faces.cli.sync")
    remembered = lazy_import("memstore.sync.remembered")
    stores = lazy_import("memstore.store.store")
    catalogue = lazy_import("memstore.faces.hosts.catalogue")
    check = lazy_import("memstore.faces.hosts.check")
    hook = lazy_import("memstore.faces.hosts.hook")
    own_memory = lazy_import("memstore.faces.hosts.own_memory")
    past_sessions = lazy_import("memstore.faces.hosts.past_sessions")
    projects = lazy_import("memstore.projects")
    record = lazy_import("memstore.faces.hosts.record")
    registration = lazy_import("memstore.faces.hosts.registration")
    plain_http = lazy_import("memstore.plain_http")
    remote = lazy_import("memstore.faces.hosts.remote")
    remote_entries = lazy_import("memstore.faces.hosts.remote_entries")
    servers = lazy_import("memstore.faces.hosts.servers")
    setup = lazy_import("memstore.faces.hosts.setup")
    spool = lazy_import("memstore.faces.hosts.spool")
    unkept = lazy_import("memstore.faces.hosts.unkept")
    troubles = lazy_import("memstore.faces.hosts.troubles")

EVERY: Final = "5m"
"""How often hosts' hooks and servers sync, unless setup is told otherwise."""

ENDPOINT: Final = "/mcp"
"""What the address of a server ends with, unless a proxy gives it another."""

RULES: Final = {
    "named": "{folder} is set to this namespace",
    "repository": "{folder} is the top of a repository",
    "folder": "{folder} is not in a repository",
    "none": "{folder} is not a project",
}


@cli.command(
    "setup",
    "memstore setup --dry-run\nmemstore setup claude-code codex\nmemstore setup --check\n"
    "memstore setup --sync git@github.com:me/memory.git\nmemstore setup --uninstall\n"
    "memstore setup --server https://memory.example.com/mcp --token-file token.txt",
    cli.option("HOST", "the hosts, by name (default: those installed)", nargs="*"),
    cli.one_of(
        cli.option("--dry-run", "show what would change without changing it"),
        cli.option(
            "--check", "start the registered command as the host would and report what happens"
        ),
    ),
    cli.option("--uninstall", "undo exactly what setup did"),
    cli.option("--project", "only for the project in the current folder, in its own settings"),
    cli.option(
        "--user ID",
        "whose memories the hooks and the server use if a call names no owner; none for memories "
        "without owners (default: the only user, if every memory in the file has one)",
    ),
    cli.option("--no-hooks", "register only the server, and remove the hooks"),
    cli.option("--no-prompts", "leave out the hooks that give prompts what bears on them"),
    cli.option(
        "--server URL",
        "use the memory of this server over HTTP: the hosts' tools and the hooks (https://, or "
        "http:// on this machine)",
    ),
    cli.option(
        "--token-file FILE",
        "the file with the token for --server, or for the server of --sync; - for standard input "
        "(default: MEMSTORE_TOKEN, or the token that was kept before)",
    ),
    cli.option(
        "--sync PLACE",
        "sync with this place, as memstore sync does: now, and in the background when a session "
        "begins, after writes and every few minutes",
    ),
    cli.option("--sync-every TIME", f"how often (default: {EVERY})"),
    *cli.SYNC_CHOICES,
    cli.option("--no-transcripts", "leave out the hooks that record conversations"),
    cli.option(
        "--own-memory KEEP|OFF",
        "what hosts remember by themselves: keep it, and take it over as facts when a session ends "
        "(keep, the default), or turn it off (off)",
        type=str.lower,
        choices=("keep", "off"),
        default="keep",
    ),
    file="none",
    usage="[HOST…] [options]",
)
def _setup(store: None, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    project = projects.project_of().folder if arguments.project else None
    if arguments.check:
        return _check(arguments.host, project, show)
    hosts = _hosts(arguments, project)
    if not hosts and not arguments.uninstall:
        known = ", ".join(catalogue.by_name())
        raise cli.UsageError(
            f"no supported host is installed: name one of {known} to set it up anyway"
        )
    told: dict[str, list[FileChange]] = {}
    failed: dict[str, str] = {}
    _check_flags(arguments)
    if arguments.sync is not None and (code := _begin_syncing(arguments, show)):
        return code
    wanted = None if arguments.uninstall else _wanted(arguments, project, show)
    if wanted is not None and wanted.url is not None and wanted.secret is not None:
        _check_server(wanted, chosen_settings(arguments).user, show)
        if not arguments.dry_run:
            servers.keep(wanted.url, wanted.secret)  # before a host asks for it
    before = record.everything() if arguments.uninstall else []
    for host in hosts:
        try:
            if wanted is None:
                told[host.name] = setup.uninstall(host, project, dry_run=arguments.dry_run)
            else:
                told[host.name] = setup.install(host, wanted, dry_run=arguments.dry_run)
        except (MemstoreError, OSError) as error:
            failed[host.name] = str(error)
    if arguments.uninstall and not arguments.dry_run:
        record.tidy()
        servers.forget_all_but(remote_entries.urls([asdict(one) for one in record.everything()]))
        for sentence in spool.sentences():
            show.note(f"{sentence}; memstore spool shows it")
        _end_syncing(arguments, before, show)
    _tell_changes(told, failed, show, in_full=arguments.dry_run)
    if wanted is not None:
        _tell_own_memory([host for host in hosts if host.name in told], wanted, show)
    if wanted is not None and any(told.values()):
        _tell_what_follows([host for host in hosts if told.get(host.name)], wanted, show)
    changed = {name: [line for one in files for line in one.lines] for name, files in told.items()}
    show.done(_summary(arguments, told), {"changed": changed, "failed": failed})
    return cli.REFUSED if failed else None


def _check_flags(arguments: argparse.Namespace) -> None:
    """Raise UsageError if a flag is there without the one that it belongs to."""
    if arguments.token_file is not None and arguments.server is None and arguments.sync is None:
        raise cli.UsageError("--token-file goes with --server or --sync")
    if arguments.sync is None:
        for name in (
            "sync_every",
            "namespaces",
            "passphrase_file",
            "unsealed",
            "trust",
            "no_trust",
        ):
            if getattr(arguments, name):
                raise cli.UsageError(f"--{name.replace('_', '-')} goes with --sync")
    elif arguments.server is not None:
        raise cli.UsageError(
            "the memory of --server is on that server, and is synced there: leave --sync out"
        )
    elif arguments.uninstall:
        raise cli.UsageError(
            "--uninstall ends syncing in the background; memstore sync --leave forgets the place"
        )


def _begin_syncing(arguments: argparse.Namespace, show: cli.Show) -> int | None:
    """Sync with the place, and let it be done in the background from now on."""
    registration.programs()  # before anything is sent, because without them nothing is set up
    more = {
        "address": arguments.sync,
        "every": arguments.sync_every or EVERY,
        "project_repository": False,
    }
    chosen = chosen_settings(arguments)._replace(embedder="none", model=None)
    options.check_host(chosen)
    if arguments.dry_run:
        chosen = from_settings.rehearsing(chosen)
    with from_settings.open_store(chosen, source="cli") as store:
        wanted = argparse.Namespace(**{**vars(arguments), **more})
        return sync.begin(store, wanted, show, is_part=True)


def _end_syncing(arguments: argparse.Namespace, before: list[Done], show: cli.Show) -> None:
    """Let nothing be synced in the background any more if no host is set up."""
    if record.everything():
        return
    files = {file_at(chosen_settings(arguments).db or settings.default_path())}
    files |= {one.memory["db"] for one in before if one.memory and "db" in one.memory}
    for file in sorted(files):
        state = remembered.folder_of(file)
        place = remembered.read(state)
        if place is not None and place.every_seconds is not None:
            remembered.write(state, place._replace(every_seconds=None))
            show.note(
                f"{file} is not synced in the background any more; memstore sync still does, and "
                "memstore sync --leave forgets the place"
            )


def _hosts(arguments: argparse.Namespace, project: Path | None) -> list[Host]:
    """Return the hosts named, or else those installed or already set up."""
    known = catalogue.by_name()
    if unknown := [name for name in arguments.host if name not in known]:
        raise cli.UsageError(f"no host {unknown[0]!r} is known: {', '.join(known)}")
    chosen = [known[name] for name in arguments.host]
    if project is not None and (without := [h.name for h in chosen if not h.in_project]):
        raise cli.UsageError(f"{without[0]} has no settings for a project: leave --project out")
    if chosen:
        return chosen
    if arguments.uninstall:
        where = str(project) if project else None
        return [
            known[one.host]
            for one in record.everything()
            if one.project == where and one.host in known
        ]
    return [host for host in known.values() if host.is_here and (host.in_project or not project)]


def _quick(flags: list[str], embedder: str, show: cli.Show) -> list[str]:
    """Return the flags of the hooks, without a function that a prompt would wait for."""
    if ":" not in embedder or embedder.startswith("fastembed"):
        return flags
    seconds = registration.seconds_to_embed(embedder)
    if seconds <= registration.A_PROMPT_WAITS_SECONDS:
        return flags
    show.note(
        f"{embedder} takes {seconds:.1f} s to start and embed a question, which is too long for a "
        "prompt to wait: hooks find by words, and compare by the built-in model"
    )
    return ["local" if flag == embedder else flag for flag in flags]


def _wanted(arguments: argparse.Namespace, project: Path | None, show: cli.Show) -> Registration:
    programs = registration.programs()
    chosen = chosen_settings(arguments)
    if arguments.server is not None:
        return _wanted_server(arguments, chosen, programs, project)
    options.check_host(chosen)
    if chosen.user is None:
        chosen = chosen._replace(user=_only_user(chosen, show))
    names = (
        "db", "embedder", "model", "ollama", "durability", "secrets", "half_lives",
        "without_rules", "timezone", "user",
    )  # fmt: skip
    memory = {name: str(value) for name in names if (value := getattr(chosen, name))}
    if "db" in memory:
        memory["db"] = str(Path(memory["db"]).expanduser().absolute())
    flags = []
    for name, value in memory.items():
        flags += [f"--{name.replace('_', '-')}", value]
    memory["namespace"] = chosen.namespace or AUTO
    hook = None if arguments.no_hooks else [*programs.command_line, "hook"]
    return catalogue.Registration(
        server=[*programs.server, *flags],
        hook=hook,
        flags=flags if hook is None else _quick(flags, memory.get("embedder", ""), show),
        namespace=memory["namespace"],
        keeps=not arguments.no_transcripts,
        project=project,
        environment=programs.environment,
        own_memory=arguments.own_memory,
        prompts=not arguments.no_prompts,
        memory=memory,
    )


def _wanted_server(
    arguments: argparse.Namespace, chosen: Settings, programs: Programs, project: Path | None
) -> Registration:
    """Return what to register for a server over HTTP."""
    url = str(arguments.server).rstrip("/")
    if plain_http.checked_url(url, "server").path in ("", "/"):
        raise cli.UsageError(f"--server: {_without_endpoint(url)}")
    secret = _secret(arguments.token_file, url)
    if secret is None and not arguments.no_hooks:
        raise cli.UsageError(
            "there is no token for the hooks: give it in MEMSTORE_TOKEN or --token-file (memstore "
            "token create on the server's machine makes one), or leave them out with --no-hooks"
        )
    flags = ["--server", url]
    for name in ("user", "secrets"):
        if value := getattr(chosen, name):
            flags += [f"--{name}", value]
    return catalogue.Registration(
        server=[],
        hook=None if arguments.no_hooks else [*programs.command_line, "hook"],
        flags=flags,
        namespace=AUTO,
        keeps=not arguments.no_transcripts,
        project=project,
        environment={},
        url=url,
        secret=secret,
        program=programs.command_line,
        own_memory=arguments.own_memory,
        prompts=not arguments.no_prompts,
        memory={"server": url},
    )


def _without_endpoint(url: str) -> str:
    return f"the address of a server ends with {ENDPOINT}: {url}{ENDPOINT}?"


def _secret(file: str | None, url: str) -> str | None:
    """Return the token for a server; never from the command line, which others can read."""
    if file is None:
        return settings.server_token() or servers.known().get(url)
    text = cli.standard_input() if file == "-" else Path(file).expanduser().read_text("utf-8")
    if not (secret := text.strip()):
        raise cli.UsageError("--token-file: the file is empty")
    return secret


def _check_server(wanted: Registration, user: str | None, show: cli.Show) -> None:
    """Ask the server what the token gives access to; its error is that of the command."""
    assert wanted.url is not None
    assert wanted.secret is not None
    try:
        told = remote.check(wanted.url, wanted.secret, user)
    except MemstoreError as error:
        if wanted.url.endswith(ENDPOINT):
            raise
        raise cli.UsageError(f"{error}; {_without_endpoint(wanted.url)}") from error
    writes = told.get("access") == Access.WRITE
    access = "reads and writes" if writes else "only reads"
    show.note(visible(f"the token {access} in the namespace {told.get('namespace')}"))
    if wanted.hook is not None and wanted.keeps and not writes:
        raise cli.UsageError(
            "the token is read-only, so that no conversation could be recorded: use another one, "
            "or --no-transcripts"
        )


def _only_user(chosen: Settings, show: cli.Show) -> str | None:
    """Return the user of all memories, and say so; ``None`` if some have another owner or none."""
    if not Path(file_at(chosen.db or settings.default_path())).exists():
        return None
    quiet = chosen._replace(read_only=True, embedder="none", model=None, ollama=None, openai=None)
    if quiet.namespace == AUTO:
        quiet = quiet._replace(namespace=None)
    try:
        with from_settings.open_store(quiet, source="cli") as store:
            others, held = stores.others_of(store), store.status()
    except MemstoreError as error:
        show.note(f"the owners of the memories could not be read: {visible(str(error))}")
        return None
    if not others.facts or held.active or held.episodes:
        return None
    first = others.first[0]
    if len(others.first) == 1 and first == Scope(user_id=first.user_id):
        show.note(
            f"every memory belongs to the user {first.user_id}: hooks and the server use that "
            "user's; setup --user none uses memories without owners"
        )
        return first.user_id
    show.note(
        f"every memory has an owner ({counted(others.facts)}), and hooks will find none of them: "
        "setup --user NAME chooses a user"
    )
    return None


def _tell_changes(
    by_host: dict[str, list[FileChange]], failed: dict[str, str], show: cli.Show, *, in_full: bool
) -> None:
    for name, changes in by_host.items():
        for change in changes:
            for line in change.lines if in_full else [f"{name}: {change.summary}"]:
                show.note(visible(line))
    for name, why in failed.items():
        show.note(f"{name}: {visible(why)}")


def _tell_own_memory(hosts: Sequence[Host], wanted: Registration, show: cli.Show) -> None:
    """Say what hosts remember by themselves, what becomes of it, and what can be imported."""
    for host in hosts:
        found = own_memory.state(host.name, wanted.project)
        if found is None:
            continue
        show.note(visible(f"{found.sentence}; {_what_becomes_of(found, wanted)}"))
        if sessions := past_sessions.recorded(host.name):
            name = next(key for key, one in past_sessions.NAMES.items() if one == host.name)
            show.note(
                f"{counted(sessions, 'recorded session')} of {host.title} can be imported: "
                f"memstore import --from {name}"
            )


def _what_becomes_of(found: own_memory.HostMemory, wanted: Registration) -> str:
    takes = "what it says becomes facts when a session ends"
    if wanted.hook is None or not wanted.keeps:
        takes = "without the hooks that record conversations, nothing is taken over"
    if wanted.own_memory == "off":
        if not found.may_be_off:
            return f"it has no setting that turns it off; {takes}"
        return "it is turned off until setup --uninstall, or setup --own-memory keep"
    if found.is_on and found.may_be_off:
        return f"{takes}; setup --own-memory off turns it off"
    return takes


def _tell_what_follows(changed: list[Host], wanted: Registration, show: cli.Show) -> None:
    for host in changed:
        if host.note:
            show.note(host.note)
    if wanted.server and Path(wanted.server[0]).stem == "uvx":
        show.note(
            "uvx takes up to a second to start; for a faster start run uv tool install pymemstore, "
            "then memstore setup"
        )
    if wanted.hook is None:
        return
    if wanted.keeps:
        show.note(
            "conversations are recorded as episodes before compaction and at the session end; "
            "setup --no-transcripts turns that off"
        )
    else:
        show.note("conversations are not recorded")


def _summary(arguments: argparse.Namespace, changes: dict[str, list[FileChange]]) -> str:
    changed = [catalogue.by_name()[name].title for name, lines in changes.items() if lines]
    same = [catalogue.by_name()[name].title for name, lines in changes.items() if not lines]
    if arguments.dry_run:
        return f"would change: {', '.join(changed) or 'nothing'}"
    verb = "removed from" if arguments.uninstall else "set up"
    parts = [f"{verb}: {', '.join(changed)}"] if changed else []
    parts += [f"nothing to do: {', '.join(same)}"] if same else []
    back = " (memstore setup --uninstall undoes it)" if changed and not arguments.uninstall else ""
    return ("; ".join(parts) or "nothing was done") + back


def _check(names: Sequence[str], project: Path | None, show: cli.Show) -> int | None:
    where = str(project) if project else None
    found = [
        (one.host, seen)
        for one in record.everything()
        if one.project == where and (not names or one.host in names)
        for seen in check.seen(one)
    ]
    if not found:
        raise cli.UsageError("nothing is registered; run memstore setup first")
    show.rows(
        [[host, s.what, "works" if s.works else "FAILS", s.answer, s.command] for host, s in found],
        [{"host": host, **s._asdict()} for host, s in found],
    )
    for host in dict.fromkeys(host for host, _ in found):
        if (own := own_memory.state(host, project)) is not None:
            show.note(visible(own.sentence))
    return None if all(s.works for _, s in found) else cli.REFUSED


@cli.command(
    "spool",
    "memstore spool\nmemstore spool --send",
    cli.option("--send", "send it now, and say what a server answers"),
    file="none",
)
def _spool(store: None, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    failed = {}
    if arguments.send:
        unkept.try_again(at_once=True)
        for one in spool.everything():
            try:
                remote.send_waiting(one.url)
            except MemstoreError as error:
                failed[one.url] = str(error)
    found = spool.everything()
    show.rows(
        [
            [one.url, f"{one.turns:,} turns", one.since or "", sum(one.dropped.values())]
            for one in found
        ],
        [one._asdict() for one in found],
    )
    waiting = [*unkept.sentences(), *spool.sentences()]
    for sentence in waiting or ["nothing waits for a server"]:
        show.note(visible(sentence))
    for one in found:
        for sentence in troubles.sentences_of(one.url):
            show.note(visible(sentence))
    for url, reason in failed.items():
        show.note(visible(f"{url}: {reason}"))
    return cli.REFUSED if failed else None


@cli.command(
    "hook",
    "echo '{}' | memstore hook SessionStart --namespace auto",
    cli.option("EVENT", "the event, by the host's name for it"),
    cli.option("--host NAME", "the host, recorded as the source of its sessions", default="host"),
    cli.option("--user ID", "whose memories to recall and record (default: those without owners)"),
    cli.option("--server URL", "use the memory of this server, with the token that setup kept"),
    file="none",
)
def _hook(store: None, arguments: argparse.Namespace, show: cli.Show) -> int:
    return hook.respond(arguments)


@cli.command(
    "where",
    "memstore where\nmemstore where ~/work/api\nmemstore where ~/work/acme --set acme",
    cli.option("FOLDER", "a folder of the project (default: the current one)", nargs="?"),
    cli.one_of(
        cli.option("--set NAME", "use this namespace for FOLDER and everything in it", dest="to"),
        cli.option("--unset", "forget the namespace set for FOLDER"),
    ),
    file="none",
    usage="[FOLDER] [--set NAME | --unset] [options]",
)
def _where(store: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    folder = Path(arguments.folder or settings.project_folder()).expanduser().resolve()
    if not folder.is_dir():
        raise cli.UsageError(
            f"there is no folder {str(folder)!r}: name one, or none for the current folder"
        )
    if arguments.to is not None or arguments.unset:
        projects.set_name(folder, arguments.to)
    found = projects.project_of(folder)
    show.done(
        f"{found.namespace}: {RULES[found.rule].format(folder=found.folder)}",
        {**found._asdict(), "folder": str(found.folder)},
    )
