"""Communication with Slurm: sbatch, squeue, scancel and scontrol, called as on a command line.

Nothing here needs accounting (slurmdbd): many sites have none.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyorch.base.errors import refusal

#: How long an answer may take [s]; Slurm's own clients give up after some 10 to 100 seconds.
PATIENCE_S = 60.0

#: What Slurm's clients print if slurmctld does not answer; anything else is a refusal.
_AWAY = re.compile(
    r"unable to contact slurm controller|connect failure|connection refused|socket timed out"
    r"|transport endpoint|zero bytes were transmitted|backup controller",
    re.IGNORECASE,
)
#: Linux gives one argument of a program 128 KiB.
NAMES_A_CALL = 250
#: The last line of `sbatch --parsable`: a number, and the cluster's name if it has one.
_SUBMITTED = re.compile(r"^(\d+)(?:;.*)?\Z", re.MULTILINE)
_FORMAT = "%j|%F|%K|%T|%r|%N"

#: States of squeue in which a job computes, or is about to end.
RUNNING_STATES = frozenset({"RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "STOPPED"})


class AwayError(Exception):
    """Slurm does not answer; the text is its client's message."""


@dataclass(frozen=True)
class QueuedJob:
    """One element of a job array that Slurm still holds.

    name: of its array; array_id: Slurm's; index: in the array; state and reason: in Slurm's words;
    node: where it runs, or "".
    """

    name: str
    array_id: int
    index: int
    state: str
    reason: str = ""
    node: str = ""

    @property
    def runs(self) -> bool:
        """Whether it is running; otherwise it waits."""
        return self.state in RUNNING_STATES


class Slurm:
    """The Slurm of which this machine is a client."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s

    def submit(self, options: Sequence[str], script: Path, *arguments: str) -> int:
        """Submit a batch script and return the number of its job.

        Raises UserError if Slurm rejects it, AwayError if it is unknown whether it was accepted.
        """
        done = self._call("sbatch", "--parsable", *options, str(script), *arguments)
        if done.returncode != 0:
            raise refusal("sbatch", _last_words(done), hint=_hint(done.stderr))
        match = _SUBMITTED.search(done.stdout.strip())
        if match is None:
            raise AwayError(f"sbatch gave no job number but {done.stdout.strip()!r}")
        return int(match[1])

    def queue(self, names: Collection[str]) -> list[QueuedJob]:
        """The jobs with these names that are waiting or running. Raises AwayError."""
        return self._squeue(names)

    def ended(self, names: Collection[str]) -> list[QueuedJob]:
        """The jobs with these names that Slurm still knows, including ended ones. Raises AwayError.

        Slurm forgets a job minutes after its end (MinJobAge of slurm.conf).
        """
        return self._squeue(names, "--states=all")

    def _squeue(self, names: Collection[str], *options: str) -> list[QueuedJob]:
        wanted = set(names)
        ordered, found = sorted(wanted), []
        for start in range(0, len(ordered), NAMES_A_CALL):
            some = ordered[start : start + NAMES_A_CALL]
            fixed = ["--noheader", "--array", f"--format={_FORMAT}", f"--name={','.join(some)}"]
            done = self._call("squeue", *fixed, *options)
            if done.returncode != 0:
                raise AwayError(_last_words(done))
            found += [job for job in parse_queue(done.stdout) if job.name in wanted]
        return found

    def cancel(self, array_ids: Collection[int]) -> None:
        """Cancel jobs; it is not an error if they have ended meanwhile.

        Raises AwayError or UserError.
        """
        if not array_ids:
            return
        done = self._call("scancel", *(str(number) for number in sorted(array_ids)))
        if done.returncode != 0 and "Invalid job id" not in done.stderr:
            denied = "permission denied" in done.stderr.lower()
            hint = "only the submitter of a job can cancel it" if denied else None
            raise refusal("scancel", _last_words(done), hint=hint)

    def max_array_size(self) -> int:
        """Maximum number of elements of an array, MaxArraySize of slurm.conf. Raises AwayError."""
        done = self._call("scontrol", "show", "config")
        match = re.search(r"^MaxArraySize\s*=\s*(\d+)", done.stdout, re.MULTILINE)
        if done.returncode != 0 or match is None:
            raise AwayError(_last_words(done) or "scontrol show config names no MaxArraySize")
        return max(1, int(match[1]))

    def _call(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        if shutil.which(program) is None:
            what = f"Slurm's {program} was not found on PATH"
            hint = "log in to the cluster's login node; elsewhere use `invoke experiment`"
            raise refusal("Slurm", what, hint=hint)
        try:
            done = subprocess.run(
                [program, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=self._patience_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            # if Slurm is full, sbatch keeps trying; only its output says so
            said = _said(error.stderr.decode(errors="replace")) if error.stderr else ""
            what = f"{program} gave no answer for {self._patience_s:g} s"
            raise AwayError(f"{what}; it said: {said}" if said else what) from error
        except OSError as error:
            raise refusal(program, f"cannot be started: {error.strerror}") from error
        if done.returncode != 0 and _AWAY.search(done.stderr):
            raise AwayError(_last_words(done))
        return done


def parse_queue(text: str) -> list[QueuedJob]:
    """Parse the output of squeue; lines that are not array elements are skipped."""
    jobs = []
    for line in text.splitlines():
        fields = line.strip().rsplit("|", 5)
        if len(fields) != 6 or not (fields[1].isdecimal() and fields[2].isdecimal()):
            continue
        name, array_id, index, state, reason, node = fields
        known = "" if reason == "None" else reason
        jobs.append(QueuedJob(name, int(array_id), int(index), state, known, node))
    return jobs


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of a client's output, or its exit code."""
    return _said(done.stderr or "") or f"exit code {done.returncode}"


def _said(stderr: str) -> str:
    """A client's output, each line once and without the client's name."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return "; ".join(dict.fromkeys(re.sub(r"^\w+: (?:error|fatal): ", "", line) for line in lines))


def _hint(stderr: str) -> str:
    said = stderr.lower()
    if "partition" in said:
        return "`sinfo` lists the partitions; --partition, or `partition` in slurm.toml"
    if "account" in said:
        return "`sacctmgr show associations user=$USER` lists yours; --account"
    if "memory" in said or "node configuration" in said:
        return "`sinfo -N -l` lists the memory of nodes; --mem, or `mem` in slurm.toml"
    if "time limit" in said:
        return "`sinfo` lists the limits of the partitions; --time"
    return "earlier submissions remain; `invoke status` shows them"
