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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from getpass import getuser
from pathlib import Path

from tests.inputs import called

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
# cancelled jobs count for MinJobAge
MaxJobCount=100000
{nodes}
PartitionName=main Nodes=n[1-{count}] Default=YES MaxTime=INFINITE State=UP
"""


def find(program: str) -> str | None:
    """Where a program of Slurm is; system programs are seldom on a user's PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}")


def missing_programs() -> list[str]:
    """What a real Slurm lacks here."""
    return [program for program in PROGRAMS if find(program) is None]


#: How long anything may take on a machine that has other things to do [s].
PATIENCE_S = 300.0


def wait_for(condition: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> None:
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


def can_hide_folders() -> bool:
    """Whether a process can be given a view of the files of its own."""
    unshare = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(unshare, capture_output=True, check=False).returncode == 0


class Cluster:
    """A running Slurm with nodes n1, n2, ... of one core each.

    later: how many of them, the last ones, are only known to Slurm until a test starts them.
    """

    def __init__(self, folder: Path, nodes: int, max_array: int = 10_001, later: int = 0) -> None:
        self.folder = folder
        known = [f"n{number}" for number in range(1, nodes + 1)]
        self.nodes, self.later = known[: nodes - later], known[nodes - later :]
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
        known = [*self.nodes, *self.later]
        with ExitStack() as stack:  # all at once, so that no port is given twice
            sockets = [stack.enter_context(socket.socket()) for _ in range(len(known) + 1)]
            for each in sockets:
                each.bind(("127.0.0.1", 0))
            ports = [each.getsockname()[1] for each in sockets]
        lines = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            " CPUs=1 RealMemory=4000 State=UNKNOWN"
            for node, port in zip(known, ports[1:], strict=True)
        ]
        text = _CONF.format(
            host=host,
            ports=ports,
            user=getuser(),
            folder=self.folder,
            max_array=max_array,
            nodes="\n".join(lines),
            count=len(known),
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
        wait_for(self.is_idle, "all nodes idle", 60)

    def start_controller(self) -> None:
        """Start slurmctld; it goes on with the state it saved."""
        self._start("slurmctld", "-D", "-f", str(self.conf))

    def start_node(self, node: str, hidden: Path | None = None) -> None:
        """Start the slurmd of a node; `hidden` is a folder that the node does not see."""
        before: list[str] = []
        if hidden is not None:
            hide = 'mount -t tmpfs none "$1" && shift && exec "$@"'
            before = ["unshare", "--mount", "sh", "-c", hide, "sh", str(hidden)]
        self._start("slurmd", "-D", "-N", node, "-f", str(self.conf), name=node, before=before)

    def _start(
        self, program: str, *arguments: str, name: str = "", before: Sequence[str] = ()
    ) -> None:
        path = find(program)
        assert path is not None
        with (self.folder / f"{name or program}.out").open("ab") as output:
            self._daemons[name or program] = subprocess.Popen(
                [*before, path, *arguments],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def call(self, program: str, *arguments: str) -> str:
        """Run one of Slurm's programs and return what it printed; "" when it failed."""
        done = called([find(program) or program, *arguments], env=self.environment, timeout=60)
        return done.stdout if done.returncode == 0 else ""

    def is_idle(self) -> bool:
        """Whether all nodes are idle that are there from the beginning."""
        states = self.states()
        return all(states.get(node) == "idle" for node in self.nodes)

    def states(self) -> dict[str, str]:
        """The state of every node in Slurm's words."""
        lines = self.call("sinfo", "-h", "-N", "-o", "%N %t").splitlines()
        return dict(sorted(line.split() for line in lines))

    def save_state(self) -> None:
        """Have slurmctld write its jobs to the disk; by itself it may take minutes for that."""
        file = self.folder / "state" / "job_state"

        def change_nothing() -> None:
            for job in self.call("squeue", "-h", "-t", "RUNNING", "-o", "%A").split():
                self.call("scontrol", "update", f"JobId={job}", "Requeue=1")

        def is_saved() -> bool:
            change_nothing()
            return file.exists() and file.stat().st_mtime > changed + 0.5

        change_nothing()
        changed = time.time()
        wait_for(is_saved, "the state of slurmctld on the disk")

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
        for name in [*self.nodes, *self.later, "slurmctld", "munged"]:
            self._end(name, signal.SIGTERM)
        deadline = time.monotonic() + 5  # what a killed slurmd left behind ends late, or never
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid in self.processes():
            kill(pid, signal.SIGKILL)


@contextmanager
def running_cluster(
    folder: Path, nodes: int, max_array: int = 10_001, later: int = 0
) -> Iterator[Cluster]:
    """A Slurm for the time of a with statement; nothing of it is left afterwards."""
    cluster = Cluster(folder, nodes, max_array, later)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        wait_for(lambda: not cluster.processes(), "the end of all its processes", 10)
