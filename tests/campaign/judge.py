"""What a case must answer: 0, 1 or 2 in time, and a sentence that names the cause."""

from __future__ import annotations

import re
import signal

from tests.campaign.cases import Case
from tests.campaign.odd_runs import INSANE, REFUSED, WRONG, OddRun
from tests.campaign.sandbox import CPU_S, UNCAUGHT, Outcome

LONGEST_LINE = 2_000
"""Characters of a line above which nobody reads it."""
LONGEST_MESSAGE = 64_000
"""Characters of a whole message above which nobody reads it."""
_OF_INVOKE = "No idea what"
"""How invoke itself refuses what no task takes: it repeats all of it."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def verdict(case: Case, outcome: Outcome) -> str:
    """Return what is wrong with an outcome, in a few words; "" when nothing is."""
    if outcome.timed_out:
        return "hangs"
    if outcome.code < 0:
        killed = signal.Signals(-outcome.code)
        return f"over {CPU_S} s" if killed == signal.SIGXCPU else f"killed by {killed.name}"
    if "MemoryError" in outcome.stderr or "Unable to allocate" in outcome.stderr:
        return "out of memory"
    if outcome.code == UNCAUGHT or "Traceback" in outcome.stderr:
        last = outcome.stderr.strip().splitlines()[-1:]
        return f"traceback: {(last or ['?'])[0].partition(':')[0][:60]}"
    if outcome.code not in (0, 1, 2):
        return f"exit code {outcome.code}"
    return _of_message(case, outcome) if outcome.code else ""


def of_run(run: OddRun, outcome: Outcome) -> str:
    """Return what is wrong with how a real run ended; "" when nothing is.

    It may be done, with a result that can be, or say in words what it cannot do.
    """
    told = outcome.stderr.replace("_", "").lower()
    named = any(name in told for name in (*run.names, "link ", "flow ", "port ", "headroom"))
    if outcome.code == -signal.SIGABRT and 'msg="' in outcome.stderr and not outcome.timed_out:
        return "" if named else "aborts with a message that does not name the cause"
    if outcome.code in (0, REFUSED, WRONG):
        return "" if outcome.code == 0 or outcome.stderr.strip() else "no message"
    if outcome.code == INSANE:
        return "a result that cannot be"
    return verdict(Case("real runs", run.about, names=("",)), outcome)


def _of_message(case: Case, outcome: Outcome) -> str:
    message = outcome.stderr
    if not message.strip():
        return "no message"
    if message.startswith(_OF_INVOKE):
        return ""
    if len(message) > LONGEST_MESSAGE or max(map(len, message.splitlines())) > LONGEST_LINE:
        return "a message too long to read"
    if _CONTROL.search(message):
        return "control characters in the message"
    if not any(name in message for name in case.names):
        return "a message that does not name the cause"
    return ""
