"""A real Slurm of several nodes on this machine, for tests: on loopback, without cgroups.

munged, slurmctld and one slurmd a node are children of the tests and are ended by their numbers.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from getpass import getuser
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
_SYSTEM_PATH = "/usr/sbin:/sbin:/usr/local/sbin"

_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# a requeued job waits for the life of its credential
AuthInfo=socket={folder}/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool/%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
SlurmdTimeout=6
SlurmctldTimeout=10
MessageTimeout=5
InactiveLimit=0
KillWait=5
MinJobAge=300
JobRequeue=1
MaxArraySize={max_array}
MaxJobCount=20000
{nodes}
PartitionName=main Nodes=n[1-{count}] Default=YES MaxTime=INFINITE State=UP
"""


def find(program: str) -> str | None:
    """Where a program of Slurm is; system programs are seldom on a user's PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}")


def missing_programs() -> list[str]:
    """What a real Slurm lacks here."""
    return [program for program in PROGRAMS if find(program) is None]


def wait_for(condition: Callable[[], object], what: str, patience_s: float = 60.0) -> None:
    """Wait until something holds; fail with what it was."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"waited {patience_s:g} s in vain for: {what}"
        time.sleep(0.1)


def environment_of(pid: int) -> dict[str, str]:
    """The environment a process was started with; empty when it is gone or not ours."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def parent_of(pid: int) -> int:
    """The parent of a process; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return int(status.rpartition(")")[2].split()[1])


def kill(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


class Cluster:
    """A running Slurm with nodes n1, n2, ... of one core each."""

    def __init__(self, folder: Path, nodes: int, max_array: int = 10_001) -> None:
        self.folder = folder
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self.conf = folder / "slurm.conf"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        for part in ("state", "spool"):
            (folder / part).mkdir(parents=True)
        folder.chmod(0o755)
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        self._configure(max_array)

    def _configure(self, max_array: int) -> None:
        host = socket.gethostname().split(".")[0]
        with ExitStack() as stack:  # all at once, so that no port is given twice
            sockets = [stack.enter_context(socket.socket()) for _ in range(len(self.nodes) + 1)]
            for each in sockets:
                each.bind(("127.0.0.1", 0))
            ports = [each.getsockname()[1] for each in sockets]
        lines = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            " CPUs=1 RealMemory=4000 State=UNKNOWN"
            for node, port in zip(self.nodes, ports[1:], strict=True)
        ]
        text = _CONF.format(
            host=host,
            ports=ports,
            user=getuser(),
            folder=self.folder,
            max_array=max_array,
            nodes="\n".join(lines),
            count=len(self.nodes),
        )
        self.conf.write_text(text)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of everything that belongs to this Slurm."""
        path = f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}"
        return {**os.environ, "SLURM_CONF": str(self.conf), "PATH": path}

    def start(self) -> None:
        """Start everything and wait until all nodes are idle."""
        folder = self.folder
        self._start(
            "munged",
            *["--foreground", "--force", "--num-threads=2", f"--socket={folder}/munge.sock"],
            *[f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid"],
            *[f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"],
        )
        wait_for((folder / "munge.sock").exists, "munged", 10)
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        wait_for(lambda: self.idle() == self.nodes, "all nodes idle", 30)

    def start_controller(self) -> None:
        """Start slurmctld; it goes on with the state it saved."""
        self._start("slurmctld", "-D", "-f", str(self.conf))

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node."""
        self._start("slurmd", "-D", "-N", node, "-f", str(self.conf), name=node)

    def _start(self, program: str, *arguments: str, name: str = "") -> None:
        path = find(program)
        assert path is not None
        with (self.folder / f"{name or program}.out").open("ab") as output:
            self._daemons[name or program] = subprocess.Popen(
                [path, *arguments],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def call(self, program: str, *arguments: str) -> str:
        """Run one of Slurm's programs and return what it printed; "" when it failed."""
        done = subprocess.run(
            [find(program) or program, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout if done.returncode == 0 else ""

    def idle(self) -> list[str]:
        """The nodes that are idle."""
        lines = self.call("sinfo", "-h", "-N", "-o", "%N %t").splitlines()
        return sorted(line.split()[0] for line in lines if line.endswith(" idle"))

    def has_saved_its_state(self) -> bool:
        """Whether slurmctld has written its jobs since the last one of them began."""
        text = self.call("squeue", "-h", "-t", "RUNNING", "-o", "%S")
        began = [time.mktime(time.strptime(line, "%Y-%m-%dT%H:%M:%S")) for line in text.split()]
        file = self.folder / "state" / "job_state"
        return file.exists() and file.stat().st_mtime > max(began, default=0.0) + 1

    def stop_controller(self) -> None:
        """End slurmctld at once, as a crash would."""
        self._end("slurmctld", signal.SIGKILL)

    def kill_daemon(self, node: str) -> None:
        """Kill the slurmd of a node; its jobs live on, as they do on a real node."""
        self._end(node, signal.SIGKILL)

    def kill_node(self, node: str) -> None:
        """Kill everything on a node at once, as a power cut would."""
        jobs = [
            pid
            for pid, environment in self.processes().items()
            if environment.get("SLURMD_NODENAME") == node
        ]
        steps = {parent_of(pid) for pid in jobs} - {0, 1, os.getpid()}
        self.kill_daemon(node)
        for pid in (*steps, *jobs):
            kill(pid, signal.SIGKILL)

    def _end(self, name: str, number: signal.Signals) -> None:
        daemon = self._daemons.pop(name, None)
        if daemon is None:
            return
        daemon.send_signal(number)
        try:
            daemon.wait(timeout=10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def processes(self) -> dict[int, Mapping[str, str]]:
        """The living processes that belong to this Slurm, with their environments."""
        found = {}
        for entry in os.listdir("/proc"):
            if entry.isdecimal() and int(entry) != os.getpid():
                environment = environment_of(int(entry))
                if environment.get("SLURM_CONF") == str(self.conf) and is_alive(int(entry)):
                    found[int(entry)] = environment
        return found

    def cancel_all(self) -> None:
        """Cancel all jobs and wait until they are gone."""
        self.call("scancel", f"--user={getuser()}")
        wait_for(lambda: not self.call("squeue", "-h").strip(), "an empty queue", 40)

    def stop(self) -> None:
        """Cancel all jobs, end all daemons, and make sure that nothing is left."""
        if "slurmctld" in self._daemons:
            with suppress(AssertionError, subprocess.TimeoutExpired):
                self.cancel_all()
        for name in [*self.nodes, "slurmctld", "munged"]:
            self._end(name, signal.SIGTERM)
        deadline = time.monotonic() + 5  # what a killed slurmd left behind ends late, or never
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid in self.processes():
            kill(pid, signal.SIGKILL)


@contextmanager
def running_cluster(folder: Path, nodes: int, max_array: int = 10_001) -> Iterator[Cluster]:
    """A Slurm for the time of a with statement; nothing of it is left afterwards."""
    cluster = Cluster(folder, nodes, max_array)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        wait_for(lambda: not cluster.processes(), "the end of all its processes", 10)
