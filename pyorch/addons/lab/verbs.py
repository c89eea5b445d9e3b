"""The verbs that the laboratory adds to both programs: `minimise`, `prevent`, `search`."""

from __future__ import annotations

from typing import Annotated

from pyorch.cli.verb import Count, Jobs, One, Run, verb

CONDITION = (
    "deadlocked (default), lossy, starved, or a comparison such as 'peak > 100KB' of metrics and "
    "numbers of the summary"
)
NetworkRun = Annotated[
    str, "run whose network to use, as listed by `invoke show NAME`; default the first"
]


@verb
def minimise(
    of: One,
    run: Run,
    *,
    while_: Annotated[str, f"condition to keep: {CONDITION}"] = "",
    out: Annotated[
        str, "experiment file to write, with .png and .steps.csv; default minimal.toml"
    ] = "",
    jobs: Jobs = None,
) -> int:
    """Reduce a run to the smallest case that still deadlocks: network, flows, settings, numbers.

    Exit codes: 0 all well, 2 bad input; 130, 143, 129 interrupted. The same command goes on.
    """
    from pyorch.addons.lab.commands import minimise as module

    return module.minimise_run(of.name, run, while_, out, jobs, of.overrides, of.seeds)


@verb
def prevent(
    of: One,
    run: NetworkRun = "",
    *,
    root: Annotated[
        str, "highest switch of up-down routing; default by the tiers of the network"
    ] = "",
    out: Annotated[
        str,
        "file for the routes of up-down routing, [[route]] entries that a file can include",
    ] = "",
    avoid: Annotated[
        str, "file for [[route]] entries that avoid the fewest turns, if there are any"
    ] = "",
    tags: Annotated[
        str, "file for more lossless classes, and the rules by which frames change class"
    ] = "",
) -> int:
    """Say which cyclic dependencies a network has, what breaks them, and at what price."""
    from pyorch.addons.lab.commands import prevent as module

    files = (root, out, avoid, tags)
    return module.prevent_deadlocks(of.name, run, *files, of.overrides, of.seeds)


@verb
def search(
    of: One,
    run: NetworkRun = "",
    *,
    vary: Annotated[
        list[str],
        "KEY=LOW..HIGH (append :log for a logarithmic range) or KEY=A,B,C: vary this in addition "
        "to the traffic; repeatable",
    ],
    for_: Annotated[str, f"condition to search for: {CONDITION}"] = "",
    by: Annotated[
        str,
        "how to propose flows: routes (default: along dependency cycles), draws (as many at "
        "random), permutation (from each host to another)",
    ] = "",
    trials: Annotated[Count, "maximum number of trials; default 64"] = None,
    out: Annotated[
        str,
        "experiment file to write, with .png and .trials.csv; default found.toml. With --map a "
        "table, with .points.csv, .png and .pdf; default border.csv",
    ] = "",
    jobs: Jobs = None,
    map_: Annotated[
        bool,
        "map the border of the region in which the condition holds for the study's own run, over "
        "two or three --vary KEY=LOW..HIGH, with the seeds of the run's setting",
    ] = False,
    cells: Annotated[
        Count, "final number of cells along each axis of a map: 4, 8, 16 (default), 32, ..."
    ] = None,
) -> int:
    """Find traffic and settings that deadlock a network, or the border of the region that does.

    Exit codes: 0 found, 1 not found, 2 bad input; 130, 143, 129 interrupted. The same command
    goes on.
    """
    from pyorch.addons.lab.commands import search as module

    if map_:
        return module.map_run(of, run, vary, for_, cells, out, jobs, by=by, trials=trials)
    return module.search_run(of, run, vary, for_, by, trials, out, jobs, cells=cells)
