"""One traced run in a separate process: python -m pyorch.trace.traced REQUEST.json.

The request has the run, the build, the options and the folder; the answer is a line of JSON on
standard output. Exit codes as in `pyorch.run`: 0 done, 1 an error, 2 refused.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from pyorch.base.ends import no_core_files
from pyorch.base.errors import UserError
from pyorch.build.info import read_build
from pyorch.kinds import read_spec
from pyorch.run.ns3 import load_simulation
from pyorch.run.process import end_with_parent
from pyorch.run.simulate import RefusedError
from pyorch.trace.capture import Options, trace_run


def main(arguments: list[str]) -> int:
    """Process a request and print the answer."""
    # ns-3 gives Python no chance to run signal handlers, so signals must end the process at once
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    no_core_files()

    end_with_parent()
    request: dict[str, Any] = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    try:
        simulation_class = load_simulation(read_build(Path(request["build"])))
        traced = trace_run(
            read_spec(request["spec"]),
            simulation_class,
            Path(request["folder"]),
            Options.from_data(request["options"]),
        )
    except (RefusedError, UserError) as error:
        print(error.render(), file=sys.stderr)
        return 2
    except OSError as error:
        print(f"a trace cannot be written: {error}", file=sys.stderr)
        return 1
    answer = {
        "pcaps": [[str(pcap.path), pcap.frames, pcap.cut] for pcap in traced.pcaps],
        "animation": str(traced.animation or ""),
        "frames": traced.frames,
        "end_ps": traced.end_ps,
        "summary": traced.summary,
        "problems": traced.problems,
    }
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
