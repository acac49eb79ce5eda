"""A real SLURM on this machine alone: munged, slurmctld and slurmd in a private folder."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "srun", "squeue", "scontrol", "scancel", "sinfo", "sacct", "sacctmgr")
PATHS = os.pathsep.join([os.environ["PATH"], "/usr/local/sbin", "/usr/sbin", "/sbin"])

SLURM_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A requeued job may start again after cred_expire seconds.
AuthInfo=socket={folder}/munge.socket,cred_expire=15
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
# What a container has not got: control groups, accounting.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
# What is told about the nodes holds, not what the machine has.
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=5
InactiveLimit=0
# Ended jobs stay known: they are the records that tests read.
MinJobAge=86400
SchedulerParameters=sched_interval=1,sched_min_interval=100000
PropagateResourceLimits=NONE
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} \
RealMemory={memory_mb} Gres=gpu:{gpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """SLURM daemons with files, key and ports of their own, and the commands to use them.

    GPUs are declared with links to /dev/null as devices: they are granted, counted and numbered
    like real ones. ``environment`` is all that a process needs to use this cluster and no other.
    """

    def __init__(
        self, folder: Path, *, nodes: int = 1, gpus: int = 8, cpus: int = 8, memory_mb: int = 64000
    ) -> None:
        self.folder = folder
        self.nodes, self.gpus, self.cpus, self.memory_mb = nodes, gpus, cpus, memory_mb
        self._daemons: list[subprocess.Popen] = []

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a user of this cluster, who has activated no environment of Python."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
        found = [str(self.folder / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]
        return {**kept, "PATH": os.pathsep.join(found), "OMP_NUM_THREADS": "1"}

    def start(self) -> "Cluster":
        """Start the daemons and wait until every node is idle."""
        self._write_configuration()
        socket_file = self.folder / "munge.socket"
        self._launch(
            "munged", "--force", "--foreground", f"--key-file={self.folder}/munge.key",
            f"--socket={socket_file}", f"--pid-file={self.folder}/munged.pid",
            f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed",
        )  # fmt: skip
        self._wait(socket_file.exists, 10, "munged opened no socket")
        self._launch("slurmctld", "-D")
        for node in range(1, self.nodes + 1):
            self._launch("slurmd", "-D", "-N", f"n{node}")
        self._wait(self._all_idle, 60, "the nodes did not become idle")
        return self

    def stop(self) -> None:
        """Cancel what runs and end every process of this cluster."""
        # Best done by SLURM itself; what it leaves, if it still works at all, is killed below.
        with contextlib.suppress(AssertionError, TimeoutError, subprocess.TimeoutExpired):
            self.run("scancel", "--user=root")
            self._wait(lambda: not self.run("squeue", "--noheader").strip(), 20, "jobs stay")
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()
        while left := self._processes():
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.1)

    def run(self, *command: str, check: bool = True) -> str:
        """What a command prints that is run as a user of the cluster."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0 or not check, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def records(self) -> list[dict[str, str]]:
        """The scheduler's records of all jobs, ended ones too: ``JobId``, ``JobState``, ..."""
        lines = self.run("scontrol", "show", "jobs", "--oneliner").splitlines()
        fields = re.compile(r"(?:^|(?<= ))([A-Za-z][\w/:]*)=(.*?)(?= [A-Za-z][\w/:]*=|\s*$)")
        return [dict(fields.findall(line)) for line in lines if line.startswith("JobId=")]

    def _write_configuration(self) -> None:
        for name in ("state", "bin", "devices"):
            (self.folder / name).mkdir(parents=True)
        for node in range(1, self.nodes + 1):
            (self.folder / f"spool-n{node}").mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        for gpu in range(self.gpus):
            (self.folder / "devices" / f"gpu{gpu}").symlink_to("/dev/null")
        devices = f"File={self.folder}/devices/gpu[0-{self.gpus - 1}]"
        (self.folder / "gres.conf").write_text(f"Name=gpu {devices}\n" if self.gpus else "")
        port, first = _free_ports(1), _free_ports(self.nodes)
        settings = SLURM_CONF.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, port=port, first=first,
            last=first + self.nodes - 1, nodes=self.nodes, cpus=self.cpus, gpus=self.gpus,
            memory_mb=self.memory_mb,
        )  # fmt: skip
        (self.folder / "slurm.conf").write_text(settings)
        # The executor takes SLURM_CONF away from its inner srun: the commands themselves know it.
        for name in CLIENTS:
            if found := shutil.which(name, path=PATHS):
                client = self.folder / "bin" / name
                client.write_text(
                    f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {found} "$@"\n'
                )
                client.chmod(0o755)

    def _launch(self, name: str, *arguments: str) -> None:
        # setpriv: a daemon ends with this process, however that ends.
        command = ["setpriv", "--pdeathsig", "KILL", shutil.which(name, path=PATHS), *arguments]
        with (self.folder / "daemons.log").open("a") as log:
            self._daemons.append(
                subprocess.Popen(
                    command,
                    env={**self.environment, "SLURM_CONF": str(self.folder / "slurm.conf")},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _all_idle(self) -> bool:
        states = self.run("sinfo", "--noheader", "--Node", "--format=%T", check=False).split()
        return states == ["idle"] * self.nodes

    def _wait(self, condition: Callable[[], bool], seconds: float, complaint: str) -> None:
        end = time.monotonic() + seconds
        while not condition():
            for daemon in self._daemons:
                assert daemon.poll() is None, f"{daemon.args[3]} ended: {self._logs()}"
            if time.monotonic() > end:
                raise TimeoutError(f"{complaint}: {self._logs()}")
            time.sleep(0.2)

    def _logs(self) -> str:
        return "\n".join(log.read_text()[-2000:] for log in sorted(self.folder.glob("*.log")))

    def _processes(self) -> list[int]:
        """Processes that any daemon or job of this cluster left: they carry its folder's name."""
        mark, found = f"SLURM_CONF={self.folder}/slurm.conf".encode(), []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found


def _free_ports(count: int) -> int:
    """The first of ``count`` ports in a row that nobody listens on."""
    for _ in range(100):
        with contextlib.ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(count)]
            sockets[0].bind(("127.0.0.1", 0))
            first = sockets[0].getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                for step, other in enumerate(sockets[1:], start=1):
                    other.bind(("127.0.0.1", first + step))
                return first
    raise RuntimeError(f"no {count} free ports in a row")


@pytest.fixture(scope="session")
def make_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Cluster]]:
    """Starts clusters: ``make_cluster(nodes=4, gpus=8)``; all are stopped after the last test."""
    missing = [name for name in DAEMONS if shutil.which(name, path=PATHS) is None]
    if missing:
        pytest.skip(f"SLURM is not installed ({', '.join(missing)} not found): `make system`")
    if os.geteuid() != 0:
        pytest.skip("SLURM's daemons need root to run jobs of their own cluster")
    clusters: list[Cluster] = []

    def make(**size: int) -> Cluster:
        clusters.append(Cluster(tmp_path_factory.mktemp("cluster"), **size))
        return clusters[-1].start()

    # A test run that is told to end tidies up as on Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield make
    finally:
        for cluster in clusters:
            cluster.stop()
        signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def cluster(make_cluster: Callable[..., Cluster]) -> Cluster:
    """One node with eight declared GPUs; as many CPUs as keep this machine busy, not swamped."""
    return make_cluster(nodes=1, gpus=8, cpus=max(2, os.cpu_count() or 2))
