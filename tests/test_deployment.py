"""The container files agree with the program and with each other.

What they must be by the rules of their own formats is held by the linters in the workflow.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

import memstore
from memstore.faces.cli import main as command_line
from memstore.faces.http.gate import PATH
from memstore.faces.http.hooks import HOOK_PATH
from memstore.faces.http.identity import WELL_KNOWN
from memstore.faces.serving.readiness import LIVE, READY
from memstore.faces.starting import every_flag as mcp_server

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "Dockerfile"
WORKFLOWS = ROOT / ".github" / "workflows"
USER = 10001
TOKEN_COMMANDS = ("token create", "token list", "token revoke")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions and what follows each, continued lines joined."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    pairs = [line.strip().split(" ", 1) for line in lines if line.strip()]
    return [(name, rest) for name, rest in pairs]


def of(name: str, *, last_stage: bool = False) -> list[str]:
    found = instructions()
    if last_stage:
        start = max(place for place, (kind, _) in enumerate(found) if kind == "FROM")
        found = found[start:]
    return [rest for kind, rest in found if kind == name]


def documents(file: str) -> Any:
    return yaml.safe_load((ROOT / "deploy" / file).read_text("utf-8"))


COMPOSE = documents("compose.yaml")["services"]["memstore"]
TEAM = documents("compose.postgres.yaml")["services"]
SERVERS = {name: one for name, one in TEAM.items() if name.startswith("memstore-")}
PROXY = (ROOT / "deploy" / "Caddyfile").read_text("utf-8")
DEPLOYMENT = documents("kubernetes/deployment.yaml")
POD = DEPLOYMENT["spec"]["template"]["spec"]
SERVICE = documents("kubernetes/service.yaml")
CONTAINERS = [*POD["initContainers"], *POD["containers"]]
COMMANDS = [
    yaml.safe_load(of("CMD")[0]),
    COMPOSE["command"],
    *(server["command"] for server in SERVERS.values()),
    *(container["command"] for container in CONTAINERS),
]
ON_PAGES = [
    shlex.split(command)
    for command in re.findall(
        r"(?: run --rm memstore(?:-1)?|exec deploy/memstore --| exec memstore) (memstore.*)$",
        (ROOT / "docs" / "serving.md").read_text("utf-8"),
        re.MULTILINE,
    )
]


@pytest.mark.parametrize("command", COMMANDS + ON_PAGES, ids=" ".join)
def test_the_program_accepts_the_command(command: list[str]) -> None:
    program, *arguments = command
    if program == "memstore-mcp":
        parsed = mcp_server._parser().parse_args(arguments)
        address, _ = mcp_server._http(parsed)  # type: ignore[misc]
        assert (address.host, address.port) == ("0.0.0.0", port())
    else:
        assert program == "memstore"
        assert command_line.parser().parse_args(arguments).command.name in (
            "backup",
            *TOKEN_COMMANDS,
        )


def port() -> int:
    return int(of("EXPOSE")[0])


def test_ports_agree() -> None:
    assert [p.rpartition(":")[2] for p in COMPOSE["ports"]] == [str(port())]
    assert all(p.startswith("127.0.0.1:") for p in COMPOSE["ports"])  # TLS is terminated before it
    named, measured = POD["containers"][0]["ports"]
    (served,) = SERVICE["spec"]["ports"]
    metrics = option(POD["containers"][0]["command"], "--metrics")
    assert metrics == f"0.0.0.0:{measured['containerPort']}"
    annotations = DEPLOYMENT["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(measured["containerPort"])
    assert named["containerPort"] == served["port"] == port()
    assert served["targetPort"] == named["name"]
    assert f"127.0.0.1:{port()}/health" in of("HEALTHCHECK")[0]
    asked = {
        probe: POD["containers"][0][probe]["httpGet"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe")
    }
    assert {one["port"] for one in asked.values()} == {named["name"]}
    # Restarting a server does not bring its database back.
    assert {name: one["path"] for name, one in asked.items()} == {
        "startupProbe": LIVE,
        "readinessProbe": READY,
        "livenessProbe": LIVE,
    }


def option(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1]


def test_images_have_this_version() -> None:
    image = f"memstore:{memstore.__version__}"
    assert {one["image"] for one in (COMPOSE, *SERVERS.values())} == {image}
    assert {container["image"] for container in CONTAINERS} == {image}


def test_container_does_not_run_as_root() -> None:
    assert of("USER", last_stage=True) == [f"{USER}:{USER}"]
    assert of("VOLUME") == ["/data"]
    security = POD["securityContext"]
    assert security["runAsNonRoot"] is True
    assert {security[name] for name in ("runAsUser", "runAsGroup", "fsGroup")} == {USER}
    for container in CONTAINERS:
        held = container["securityContext"]
        assert held["allowPrivilegeEscalation"] is False
        assert held["readOnlyRootFilesystem"] is True
        assert held["capabilities"] == {"drop": ["ALL"]}
    for service in (COMPOSE, *SERVERS.values(), TEAM["proxy"]):
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_the_database_is_on_the_volume() -> None:
    environment = " ".join(of("ENV", last_stage=True))
    assert "MEMSTORE_DB=/data/memory.db" in environment
    assert COMPOSE["volumes"] == ["memory:/data"]
    assert "deploy" not in COMPOSE  # a file has one machine


def test_replicas_share_a_database_server() -> None:
    assert DEPLOYMENT["kind"] == "Deployment"
    assert DEPLOYMENT["spec"]["replicas"] >= 2
    assert DEPLOYMENT["spec"]["selector"]["matchLabels"] == SERVICE["spec"]["selector"]
    budget = documents("kubernetes/disruption.yaml")["spec"]
    assert budget["selector"]["matchLabels"] == SERVICE["spec"]["selector"]
    assert "sessionAffinity" not in SERVICE["spec"]  # no request needs the server of the last one
    for container in CONTAINERS:
        assert "/data" not in {mount["mountPath"] for mount in container["volumeMounts"]}
        keys = {one["name"]: one["valueFrom"]["secretKeyRef"]["name"] for one in container["env"]}
        assert keys == dict.fromkeys(("MEMSTORE_DB", "PGPASSWORD"), "memstore-database")
    user = TEAM["postgres"]["environment"]
    address = f"postgresql://{user['POSTGRES_USER']}@postgres/{user['POSTGRES_DB']}"
    for server in SERVERS.values():
        assert server["environment"] == {"MEMSTORE_DB": address}
        assert "volumes" not in server
    assert "pgvector" in TEAM["postgres"]["image"]


def test_one_file_has_one_replica_and_its_own_volume() -> None:
    alone = documents("kubernetes/file/statefulset.yaml")
    assert (alone["kind"], alone["spec"]["replicas"]) == ("StatefulSet", 1)
    service = documents("kubernetes/file/service.yaml")
    assert service["metadata"]["name"] == alone["spec"]["serviceName"]
    assert service["spec"]["selector"] == alone["spec"]["selector"]["matchLabels"]
    (claim,) = alone["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
    pod = alone["spec"]["template"]["spec"]
    assert pod["securityContext"] == POD["securityContext"] | {
        "fsGroupChangePolicy": "OnRootMismatch"
    }
    folder = re.search(r"MEMSTORE_DB=(\S+)/", " ".join(of("ENV", last_stage=True)))[1]  # type: ignore[index]
    for container, beside in zip(
        (*pod["initContainers"], *pod["containers"]), CONTAINERS, strict=True
    ):
        mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
        assert mounts[claim["metadata"]["name"]] == folder
        assert (container["image"], container["securityContext"]) == (
            beside["image"],
            beside["securityContext"],
        )
        assert "env" not in container  # the file of the image
    (server,) = pod["containers"]
    assert option(server["command"], "--backup-folder").startswith(f"{folder}/")
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert server[probe] == POD["containers"][0][probe]
    parsed = mcp_server._parser().parse_args(server["command"][1:])
    assert (parsed.http, parsed.backup_every) == ("0.0.0.0:8765", "6h")
    assert float(option(server["command"], "--drain")) + 6 < pod["terminationGracePeriodSeconds"]


def test_the_proxy_knows_each_server_and_asks_whether_it_is_ready() -> None:
    assert len(SERVERS) == 2
    (upstreams,) = re.findall(r"reverse_proxy (.+) \{", PROXY)
    assert upstreams.split() == [f"{name}:{port()}" for name in SERVERS]
    (forwarded,) = re.findall(r"@programs path (.+)", PROXY)
    assert forwarded.split() == [PATH, HOOK_PATH, f"{WELL_KNOWN}*"]
    assert re.findall(r"health_uri (\S+)", PROXY) == [READY]
    assert f"\n:{port()} {{" in PROXY
    assert [p.rpartition(":")[0] for p in TEAM["proxy"]["ports"]] == [f"127.0.0.1:{port()}"]
    (interval,) = map(float, re.findall(r"health_interval (\d+)s", PROXY))
    for server in SERVERS.values():
        assert float(option(server["command"], "--drain")) > 2 * interval


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sh")
def test_the_database_secret_is_made_once_and_read_by_its_user_alone(tmp_path: Path) -> None:
    script = shutil.copy(ROOT / "deploy" / "make-database-env", tmp_path)
    subprocess.run(["sh", script], check=True)
    made = tmp_path / "database.env"
    names = dict(line.split("=") for line in made.read_text("utf-8").splitlines())
    assert set(names) == {"POSTGRES_PASSWORD", "PGPASSWORD"}
    assert len({*names.values()}) == 1
    assert all(re.fullmatch("[0-9a-f]{48}", secret) for secret in names.values())
    assert made.stat().st_mode & 0o777 == 0o600
    again = subprocess.run(["sh", script], capture_output=True, check=False)
    assert again.returncode == 1
    assert "/deploy/database.env" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_the_image_has_the_packages_of_every_flag() -> None:
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", DOCKERFILE.read_text("utf-8"))
    assert {"http", "metrics", "postgres"} == {*extras.split(",")}


def test_grace_period_covers_the_shutdown() -> None:
    from memstore.faces.serving.loop import END_SECONDS

    drain = float(option(POD["containers"][0]["command"], "--drain"))
    ready = POD["containers"][0]["readinessProbe"]
    assert drain > ready["periodSeconds"] * ready["failureThreshold"]
    assert POD["terminationGracePeriodSeconds"] > drain + END_SECONDS
    assert int(COMPOSE["stop_grace_period"].removesuffix("s")) > END_SECONDS
    for server in SERVERS.values():
        grace = int(server["stop_grace_period"].removesuffix("s"))
        assert grace > float(option(server["command"], "--drain")) + END_SECONDS


def test_the_build_context_has_exactly_what_is_copied() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        source
        for line in of("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    }
    assert copied == let_in
    assert all((ROOT / source).exists() for source in copied)
    assert "*" in ignored
    assert not any(fnmatch("tests", source) or source.startswith(".") for source in let_in)
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert wanted["project"]["readme"] in copied
    assert {file.split("/")[0] for file in wanted["project"]["license-files"]} <= copied


def test_the_compiler_is_new_enough() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    (version,) = re.findall(r"FROM rust:(\d+\.\d+)-", DOCKERFILE.read_text("utf-8"))
    assert tuple(map(int, version.split("."))) >= tuple(map(int, cargo["rust-version"].split(".")))


def test_container_files_contain_no_secrets() -> None:
    for file in (DOCKERFILE, *(ROOT / "deploy").rglob("*.yaml")):
        text = file.read_text("utf-8")
        assert "mst_" not in text
        assert not re.search(r"(?i)(password|api_key)\s*[:=]", text)
        assert not re.search(r"\b[0-9a-fA-F]{32,}\b", text)


def test_a_release_is_published_after_all_tests_and_then_everywhere() -> None:
    jobs = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))["jobs"]
    assert jobs["tests"]["uses"].endswith("/.github/workflows/test.yml")
    assert {"notes", "tests", "wheels", "sdist"} == {*jobs["publish"]["needs"]}
    assert {name for name, job in jobs.items() if job.get("needs") == "publish"} == {
        "image", "registry", "announce",
    }  # fmt: skip
    tests = yaml.safe_load((WORKFLOWS / "test.yml").read_text("utf-8"))
    assert "workflow_call" in tests[True]  # YAML reads "on" as true
    # When called, github.workflow is the release itself, which would cancel itself.
    assert "github.workflow" not in tests["concurrency"]["group"]


def test_actions_are_pinned_and_have_one_version_everywhere() -> None:
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS.glob("*.yml"))
    used = re.findall(r"uses: ([\w-]+/[\w-]+)@(\S+ # v\S+)", text)
    assert len(used) == len(re.findall(r"uses: [\w-]+/", text))
    assert all(re.fullmatch(r"[0-9a-f]{40} # v[\d.]+", version) for _, version in used)
    assert len({*used}) == len({action for action, _ in used})
