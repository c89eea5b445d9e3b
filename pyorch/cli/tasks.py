"""The verbs of both programs, `invoke` in a checkout and `pyorch` anywhere.

They only declare the command line; their work is done in the other files of pyorch/cli.
"""

from __future__ import annotations

from typing import Annotated

from pyorch import cli
from pyorch.cli.verb import (
    Chosen,
    Count,
    Jobs,
    One,
    PositionalTask,
    Run,
    as_task,
    verb,
)

Submitted = Annotated[str, "experiment that was submitted"]


def listing() -> int:
    """List the experiments."""
    return cli.listing.list_all()


list_ = as_task(listing, "list")


@verb
def show(
    of: Chosen,
    *,
    picture: Annotated[
        bool,
        "also draw its network, where flows go, and their cyclic dependency, into network.svg of "
        "its results",
    ] = False,
    out: Annotated[str, "file of the picture, .svg, .png or .pdf"] = "",
    open_: Annotated[bool, "show the picture in a browser"] = False,
    details: Annotated[bool, "also all runs, their settings, and defaults"] = False,
) -> int:
    """Show what an experiment would run, the load of its links, its cost, and if it is ready."""
    drawn = out if picture or out or open_ else None
    return cli.show.show(of.name, of.overrides, of.seeds, drawn, open_, details)


def run_experiment(
    of: Chosen, *, jobs: Jobs = None, dry_run: Annotated[bool, "only show what would run"] = False
) -> int:
    """Run what is missing of an experiment, and write its report.

    Exit codes: 0 all well, 1 a run or an expectation failed, 2 bad input; 130, 143,
    129 interrupted (Ctrl-C, SIGTERM, SIGHUP).
    After an interruption or a failure the same command goes on with what is missing.
    """
    return cli.experiment.experiment(of.name, of.overrides, of.seeds, jobs, dry_run)


# `run`, as it is called outside a checkout
experiment = as_task(run_experiment, "experiment", ("run",))


@verb
def report(
    of: Chosen,
    *,
    paper: Annotated[bool, "each figure as PDF, too, and for one column and two"] = False,
) -> int:
    """Write the report of an experiment from the runs that are done."""
    return cli.experiment.report(of.name, of.overrides, of.seeds, paper)


@verb
def trace(
    of: One,
    run: Run,
    *,
    port: Annotated[
        list[str],
        "capture only this port (s0:h0: of s0 towards h0) or those of a node (s0); may be "
        "repeated; default all",
    ],
    until: Annotated[str, "stop the run at this time, such as 1ms; default its end"] = "",
    out: Annotated[str, "folder to write into; default results/NAME/traces/HASH"] = "",
    fcs: Annotated[bool, "frames end with their FCS"] = False,
    untagged: Annotated[bool, "routed frames without an 802.1Q tag"] = False,
    snap: Annotated[str, "maximum bytes stored per frame; default 65535"] = "",
    no_animation: Annotated[bool, "only pcap files"] = False,
) -> int:
    """Run one run again and write pcap files and a NetAnim animation of it.

    Exit codes: 0 all well, 1 the run failed or its results differ from the stored ones, 2 bad
    input; 130, 143, 129 interrupted.
    """
    from pyorch.trace.request import Words

    words = Words(tuple(port), until, out, snap, fcs, untagged, no_animation)
    return cli.trace.trace(of.name, run, words, of.overrides, of.seeds)


@verb
def explain(
    of: One,
    run: Annotated[str, "number, hash or title; default the first that deadlocked, else 1"] = "",
    *,
    out: Annotated[str, "folder to write into; default results/NAME/explain/pages/HASH"] = "",
    jobs: Jobs = None,
) -> int:
    """Say where the flows of a run lost time, or how it deadlocked and what cures would have done.

    Exit codes: 0 all well, 2 bad input; 130, 143, 129 interrupted. The same command goes on.
    """
    return cli.explain.explain_run(of.name, run, out, jobs, of.overrides, of.seeds)


Further = Annotated[str, "a further file"]


@verb
def import_(
    file: Annotated[str, "network, flows, sizes or configuration of another simulator or tool"],
    second: Further = "",
    third: Further = "",
    fourth: Further = "",
    fifth: Further = "",
    sixth: Further = "",
    *,
    out: Annotated[str, "experiment file to write"] = "",
    run: Annotated[bool, "also run it"] = False,
) -> int:
    """Write an experiment from files of other simulators and tools, and say what it assumes.

    Exit codes: 0 it can run, 2 bad input, or something is still to be changed; with --run also
    those of `run`.
    """
    code = cli.bring.bring((file, second, third, fourth, fifth, sixth), out)
    return cli.experiment.experiment(out) if run and not code else code


@verb
def export(
    of: One,
    run: Run,
    *,
    as_: Annotated[str, "format: hpcc, htsim, goal, graphml or csv"] = "",
    out: Annotated[str, "folder to write into; default this one"] = "",
) -> int:
    """Write network and flows of a run as other simulators read them, and say what is left out.

    Exit codes: 0 written, 2 bad input.
    """
    return cli.export.export(of.name, run, as_, out, of.overrides, of.seeds)


Result = (
    "name of an experiment with results, or a results folder; with @BUILD only the runs of a "
    "build, by the first digits of its fingerprint"
)


@verb
def compare(a: Annotated[str, Result], b: Annotated[str, "result to compare with"]) -> int:
    """Compare two results: which runs are the same bytes, which numbers differ by how much.

    Exit codes: 0 the same, 1 they differ, 2 bad input.
    """
    return cli.compare.compare_results(a, b)


@verb
def submit(
    of: One,
    *,
    partition: Annotated[
        str, "Slurm partition; by default from slurm.toml or the site, as for the next options"
    ] = "",
    account: Annotated[str, "Slurm account to charge"] = "",
    time: Annotated[str, "time limit of a job: 90s, 30min, 2h, 1d, or as sbatch reads it"] = "",
    mem: Annotated[str, "memory of a job, as sbatch reads it: 2G"] = "",
    max_running: Annotated[str, "maximum number of running jobs"] = "",
    runs_per_job: Annotated[
        Count,
        "runs that a job does one after the other; default so many that scheduling costs less "
        "than 10 %",
    ] = None,
    build_on_node: Annotated[
        bool, "compile the modules on every node instead of loading the shared ones"
    ] = False,
    dry_run: Annotated[bool, "only show what would be submitted"] = False,
) -> int:
    """Send what is missing of an experiment to Slurm, and return at once.

    Exit codes: 0 submitted or nothing to do, 2 bad input, refused by Slurm, or no answer of it.
    """
    options: dict[str, str | bool] = {
        "partition": partition,
        "account": account,
        "time": time,
        "mem": mem,
        "max_running": max_running,
        "build_on_node": build_on_node,
    }
    return cli.sweep.submit(of.name, of.overrides, of.seeds, options, runs_per_job, dry_run)


@verb
def status(
    name: Submitted,
    *,
    watch: Annotated[bool, "repeat every few seconds until nothing runs or waits"] = False,
) -> int:
    """Show how far a submitted experiment is, and why runs failed or were lost.

    Exit codes: 0 done or on its way, 1 runs failed or were lost, 2 it was never submitted.
    """
    return cli.sweep.status(name, watch)


@verb
def cancel(name: Submitted) -> int:
    """Cancel the jobs of a submitted experiment; what is done stays."""
    return cli.sweep.cancel(name)


@verb
def collect(
    name: Submitted,
    *,
    partial: Annotated[bool, "report on the finished runs although others are missing"] = False,
) -> int:
    """Write the tables and the report of a submitted experiment.

    Exit codes: 0 all well, 1 runs are missing, or an expectation or a figure failed, 2 bad input.
    """
    return cli.sweep.collect(name, partial)


@verb
def build(
    *,
    sanitize: Annotated[
        bool, "the C++ test program with address and undefined-behaviour sanitizers"
    ] = False,
    debug: Annotated[bool, "without optimisation, with debug information"] = False,
) -> int:
    """Compile the C++ modules (experiments do it by themselves)."""
    return cli.build.build(sanitize, debug)


@verb
def schemes(
    name: Annotated[str, "a scheme, topology or traffic kind; default all of them"] = "",
    *,
    json: Annotated[bool, "for programs"] = False,
) -> int:
    """Describe schemes, topologies, kinds of traffic and metrics: keys, defaults, source."""
    return cli.schemes.schemes(name, json)


@verb
def schema(name: Annotated[str, "experiment whose own kinds to include"] = "") -> int:
    """Print the JSON schema of experiment files, by which an editor completes and checks them."""
    return cli.schemes.schema(name)


@verb
def new_scheme(
    name: Annotated[str, "name of the scheme and its module, such as early-pause"],
    *,
    kind: Annotated[
        str,
        "flow-control (default), pause, congestion-control, int-congestion-control, "
        "buffer-policy, forwarding-policy, table",
    ] = "flow-control",
    folder: Annotated[str, "folder to create it in; default ns3-modules/"] = "",
) -> int:
    """Make a complete module for a scheme of your own: C++, tests, page, experiment."""
    return cli.new_scheme.new_scheme(name, kind, folder)


@verb
def trust(path: Annotated[str, "a project, another folder, or a file"]) -> int:
    """Let code run that another user may have written: Python, C++ and slurm.toml, as it is now."""
    return cli.trust.trust_path(path)


@verb
def size(
    name: Annotated[
        str, "experiment whose topology and buffer to use; otherwise given by options"
    ] = "",
    *,
    asic: Annotated[str, "chip: buffer, ports and rate; default tomahawk"] = "",
    ports: Annotated[str, "how many"] = "",
    rate: Annotated[str, "of every port"] = "",
    cable: Annotated[str, "length of every cable, such as 300m; default 100m"] = "",
    delay: Annotated[str, "one-way delay of every cable, instead of its length"] = "",
    buffer: Annotated[str, "size of the packet buffer"] = "",
    lossy_pool: Annotated[str, "part of the buffer for lossy classes; default 1MB"] = "",
    classes: Annotated[str, "lossless classes; default 1"] = "",
    mtu: Annotated[str, "largest frame; default 1500B"] = "",
    overhead: Annotated[str, "bytes on the wire in addition to a frame; default 20B"] = "",
    control_delay: Annotated[
        str, "time until a control frame takes effect, or 'ideal', 'tester' or '802.3', the default"
    ] = "",
    alpha: Annotated[str, "of dynamic thresholds; default 0.125"] = "",
    bm: Annotated[
        str, "queue length at which GFC's rate reaches 0; default what the buffer leaves"
    ] = "",
    b1: Annotated[
        str, "start of stage 1 of multi-stage GFC; default the largest inside the bound"
    ] = "",
    gfc: Annotated[bool, "GFC's parameters, too; without asking with bm, b1 or its file"] = False,
) -> int:
    """Size a switch: headroom, thresholds, lossless classes, GFC if asked for, and their TOML."""
    options = {"asic": asic, "ports": ports, "rate": rate, "cable": cable, "delay": delay}
    options |= {"buffer": buffer, "lossy_pool": lossy_pool, "classes": classes, "mtu": mtu}
    options |= {"overhead": overhead, "control_delay": control_delay, "alpha": alpha}
    options |= {"bm": bm, "b1": b1, "gfc": "yes" if gfc else ""}
    return cli.size.size(name, options)


VERBS = tuple(one for one in globals().values() if isinstance(one, PositionalTask))
"""Every verb of both programs, in the order of this file: declaring one here is enough."""
