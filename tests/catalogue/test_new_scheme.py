"""`invoke new-scheme`: names, files, and modules that build, pass, run and join comparisons."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from pyorch.base.errors import UserError
from pyorch.base.fingerprint import short
from pyorch.base.paths import Paths
from pyorch.build import BuildInfo, ensure_built, load_schema
from pyorch.build.lists import updated
from pyorch.build.sources import MODULE_PATH_VARIABLE, Module, find_modules
from pyorch.catalogue import new_scheme
from pyorch.files.load import load_experiment
from tests.forms import form
from tests.inputs import ROOT, RUNS, called
from tests.projects import STAR
from tests.wireshark import tshark
from tools.cpptests import list_suites, run_suite

pytestmark = [
    pytest.mark.inputs(*RUNS, ".clang-format", "docs", "tools"),
    pytest.mark.xdist_group("schemes"),
]  # their modules are compiled once

PATHS = Paths(ROOT)
TUTORIAL, DESIGN = (
    (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for page in ("new-scheme", "open-fabric")
)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Early", "did you mean 'early'?"),
        ("x-1", "is not a valid module name"),
        ("a-b", "is not a valid module name"),
        ("", "is not a valid module name"),
        ("../up", "is not a valid module name"),
        ("a" * 33, "32 characters at most"),
        ("gfc", "the module in"),
        ("core", "a module of ns-3"),
        ("pfc", "the module in"),
        ("ecn-marking", "ns3::lossless::EcnMarking has the section"),
        ("topology", "experiment files have a section or key [topology]"),
        ("port", "experiment files have a section or key [port]"),
        ("switch", "has a meaning in C++"),
        ("const-expr", "has a meaning in C++"),
    ],
)
def test_names(tmp_path: Path, name: str, told: str) -> None:
    """A name must be valid and unused; otherwise nothing is created."""
    with pytest.raises(UserError) as caught:
        new_scheme.make_module(name, "flow-control", tmp_path, PATHS)
    assert told in caught.value.render()
    assert list(tmp_path.iterdir()) == []


def test_a_kind_must_be_one(tmp_path: Path) -> None:
    """A misspelt kind is answered with the nearest."""
    with pytest.raises(UserError, match="did you mean 'flow-control'"):
        new_scheme.make_module("mine", "flow_controll", tmp_path, PATHS)


def test_opcodes_differ() -> None:
    """No two schemes share a MAC control opcode, also where two names would have the same."""
    taken = new_scheme.taken_opcodes(find_modules(PATHS.modules))
    assert {0x0101, 0x0CBF, 0x0FC0, 0x0FD0} <= taken
    found = set(taken)
    for _ in range(100):
        opcode = new_scheme.free_opcode("mine", found)
        assert opcode not in found
        found.add(opcode)


def test_the_help_names_every_kind() -> None:
    """`invoke new-scheme --help` has a list of its own: importing the kinds takes time."""
    words = [sys.executable, "-m", "invoke", "new-scheme", "--help"]
    text = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    told = re.search(r"--kind=STRING +(.+?)\n *-", text, re.DOTALL)
    assert told is not None, text
    plain = re.sub(r"(?<=-)\s+", "", told[1]).replace(" (default)", "")
    listed = re.split(r",\s+", plain)
    assert listed == list(new_scheme.KINDS)


@pytest.mark.parametrize("kind", new_scheme.KINDS)
@pytest.mark.parametrize("name", ["x", "a-rather-long-name-of-a-scheme"])
def test_files_are_in_order(tmp_path: Path, kind: str, name: str) -> None:
    """Nothing is left to fill in, lists are complete, and lines break where ns-3 breaks them."""
    place = new_scheme.make_module(name, kind, tmp_path, PATHS)
    texts = {file: file.read_text() for file in place.rglob("*") if file.is_file()}
    assert len(texts) == (6 if kind == "table" else 7), "a table has no variants"
    assert [file for file, text in texts.items() if re.search(r"@\w+@", text)] == []
    assert updated(Module(name, place)) == texts[place / "CMakeLists.txt"]
    sources = [str(file) for file in texts if file.suffix in (".cc", ".h")]
    program = Path(sys.executable).parent / "clang-format"
    style = f"--style=file:{ROOT / '.clang-format'}"
    subprocess.run([program, style, "--dry-run", "-Werror", *sources], check=True)


@dataclass(frozen=True)
class Made:
    """Modules made by the command, and their build."""

    home: Path
    build: BuildInfo
    environment: dict[str, str]

    def invoke(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a task that knows the modules."""
        return invoke(self.environment, *words)


def invoke(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a task."""
    command = [sys.executable, "-m", "invoke", *words]
    return called(command, cwd=ROOT, env=environment)


def own_queues(module: Path) -> None:
    """Give a new flow control the 64 own queues and deficit round robin of the tutorial."""
    (code,) = re.findall(r"```cpp\n(    uint16_t GetOwnQueues.*?)```", DESIGN, re.DOTALL)
    header = module / "model" / f"{module.name}-flow-control.h"
    text = header.read_text()
    role = "public lossless::DeadlockModel"
    assert text.count(role) == 1
    text = text.replace(role, f"{role}, public lossless::QueueSelector")
    place = "    static TypeId GetTypeId();\n"
    assert text.count(place) == 1
    header.write_text(text.replace(place, f"{place}\n{code}"))


def leak(module: Path) -> None:
    """Let a new kind of pause send at a tenth of the rate, as the tutorial does."""
    (code,) = re.findall(r"```cpp\n(    void Hold.*?)```", DESIGN, re.DOTALL)
    header = module / "model" / f"{module.name}-pause.h"
    text = header.read_text()
    for old, new in (
        ("    void Hold(uint8_t cls, bool held) override;\n", code),
        (
            "public pfc::Pfc",
            "public pfc::Pfc, public lossless::Gate, public lossless::SentListener",
        ),
        (
            '#include "ns3/pfc.h"\n',
            "".join(
                f'#include "ns3/{name}.h"\n'
                for name in ("lossless-event", "lossless-port", "lossless-rate", "pfc")
            ),
        ),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    header.write_text(text)
    source = header.with_suffix(".cc")
    text = source.read_text()
    begin = text.index("void\nLeak::Hold")
    (module / "comparison.toml").unlink()  # it needs headroom of its own
    source.write_text(text[:begin] + text[text.index("void\nLeak::Report") :])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A module of each kind, and that of the tutorial, by its own commands and changes."""
    home, results = tmp_path_factory.mktemp("schemes"), tmp_path_factory.mktemp("results")
    environment = os.environ | {"PYORCH_RESULTS": str(results)}
    (command,) = re.findall(r"^pyorch (new-scheme .*)$", TUTORIAL, re.MULTILINE)
    for words in (
        [*command.split(), "--folder", str(home)],
        ["new-scheme", "early-pause", "--folder", str(home)],
        ["new-scheme", "round-trip", "--folder", str(home), "--kind", "congestion-control"],
        ["new-scheme", "side-step", "--folder", str(home), "--kind", "forwarding-policy"],
        ["new-scheme", "busy-hop", "--folder", str(home), "--kind", "int-congestion-control"],
        ["new-scheme", "fair-share", "--folder", str(home), "--kind", "buffer-policy"],
        ["new-scheme", "long-wait", "--folder", str(home), "--kind", "table"],
        ["new-scheme", "long-stop", "--folder", str(home), "--kind", "pause"],
        ["new-scheme", "leak", "--folder", str(home), "--kind", "pause"],
    ):
        done = invoke(environment, *words)
        assert done.returncode == 0, done.stderr
        assert f"export {MODULE_PATH_VARIABLE}={home}" in done.stdout
    own_queues(home / "early-pause")
    leak(home / "leak")
    (change,) = re.findall(r"```diff\n(.*?)```", TUTORIAL, re.DOTALL)
    subprocess.run(["git", "apply"], cwd=home / "link-pause", input=change, text=True, check=True)
    environment |= {MODULE_PATH_VARIABLE: str(home)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MODULE_PATH_VARIABLE, str(home))
        build = ensure_built(quiet=True, tests=True)
    return Made(home, build, environment)


@pytest.mark.cpp
def test_they_build_apart_without_warnings_and_pass(made: Made) -> None:
    """Only the new modules are compiled, and their suites pass."""
    folder = made.build.folder.parent
    names = [
        "busy-hop",
        "early-pause",
        "fair-share",
        "leak",
        "link-pause",
        "long-stop",
        "long-wait",
        "round-trip",
        "side-step",
    ]
    assert re.fullmatch("release-with-[0-9a-f]{16}", folder.name), "too many names for a folder's"
    assert sorted(made.build.modules[-9:]) == names
    log = (folder / "build.log").read_text()
    assert "warning:" not in log
    assert "pfc.cc" not in log, "the project's own modules are there already"
    suites = list_suites(made.build)
    assert sorted(suites) == [
        "busy-hop-int-congestion-control",
        "early-pause-flow-control",
        "fair-share-buffer-policy",
        "leak-pause",
        "link-pause-flow-control",
        "long-stop-pause",
        "long-wait-table",
        "round-trip-congestion-control",
        "side-step-forwarding-policy",
    ]
    del suites["leak-pause"]  # it does not pause as PFC any more
    for suite, runner in suites.items():
        result = run_suite(runner, suite)
        assert result.passed, result.output


@pytest.mark.cpp
def test_the_projects_build_stays_as_it_is(made: Made) -> None:
    """Without the variable, and so with other tests at the same time, nothing has changed."""
    own = ensure_built(quiet=True)
    for library in own.libraries:
        assert library.samefile(made.build.folder / "lib" / library.name), "linked, not copied"
    assert own.fingerprint != made.build.fingerprint
    assert "early-pause" not in own.modules


@pytest.mark.cpp
def test_they_are_listed_and_checked(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attributes appear with bounds, help and source; wrong values and keys are refused."""
    done = made.invoke("schemes", "early-pause")
    assert "early-pause (ns3::earlypause::EarlyPause)" in done.stdout
    assert 'xoff = "60KB"' in done.stdout
    assert "1B to 1TiB" in " ".join(done.stdout.split())
    assert "source: Own design" in done.stdout
    monkeypatch.setenv(MODULE_PATH_VARIABLE, str(made.home))
    schema = load_schema(made.build)
    for wrong, told in (
        ("early-pause.xoff=0B", "allowed: a size such as"),
        ("early-pause.xof=1KB", "did you mean 'xoff'"),
    ):
        with pytest.raises(UserError, match=told):
            load_experiment("gfc/two-to-one", [wrong], schema=schema, paths=PATHS)
    chosen = 'flow_control=["ns3::earlypause::EarlyPause"]'
    experiment = load_experiment("gfc/ratio", [chosen], schema=schema, paths=PATHS)
    assert form(experiment.points[0])["flow_control"] == ["ns3::earlypause::EarlyPause"]


@pytest.mark.cpp
def test_they_join_comparisons(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every study that compares has their variants; end-to-end schemes only where these compare."""
    schema = load_schema(made.build)
    plain = load_experiment("gfc/two-to-one", schema=schema, paths=PATHS)
    assert plain.variants == ("PFC", "GFC-conceptual")
    monkeypatch.setenv(MODULE_PATH_VARIABLE, str(made.home))
    found = load_experiment("gfc/two-to-one", schema=schema, paths=PATHS)
    assert found.variants == ("PFC", "GFC-conceptual", "EarlyPause", "LinkPause", "LongStop")
    end_to_end = load_experiment("sfc/incast", paths=PATHS)
    assert end_to_end.variants[-1] == "RoundTrip"
    assert "BusyHop" in end_to_end.variants
    assert "EarlyPause" not in end_to_end.variants
    buffers = load_experiment("dsh/burst", paths=PATHS)
    assert buffers.variants[-1] == "FairShare"
    assert load_experiment("gfc/theorem", paths=PATHS).variants[-1] == "tau = 50 us"


def test_comparisons_say_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A duplicate variant, and a file that is not one, are reported with their place."""
    module = new_scheme.make_module("mine", "flow-control", tmp_path, PATHS)
    monkeypatch.setenv(MODULE_PATH_VARIABLE, str(tmp_path))
    file = module / "comparison.toml"
    file.write_text('[variants.PFC]\nflow_control = ["mine"]\n')
    with pytest.raises(UserError, match=r"comparison\.toml: variants: 'PFC' is also a variant of"):
        load_experiment("gfc/two-to-one", paths=PATHS)
    for text in ("flow_control = [", "x = 1", "[variants]"):
        file.write_text(text)
        with pytest.raises(UserError, match=r"mine/comparison\.toml"):
            load_experiment("gfc/two-to-one", paths=PATHS)
    with pytest.raises(
        UserError, match="buffer_policy, flow_control, forwarding, congestion_control"
    ):
        load_experiment("gfc/two-to-one", ["variants.modules=flow-controls"], paths=PATHS)


@pytest.mark.cpp
def test_they_run_in_two_to_one(made: Made) -> None:
    """They run with PFC and GFC without changes to other files, and their own study agrees."""
    in_step = ("--set", "run.simulator=ns3::eventloop::EventLoop")  # as the closed form has them
    done = made.invoke("experiment", "gfc/two-to-one", "--jobs", "1", *in_step)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differs" not in done.stdout
    report = re.search(r"^report: (.*)/index.html$", done.stdout, re.MULTILINE)
    assert report
    figure = Path(report[1], "queue-and-rate.csv").read_text()
    assert "EarlyPause" in figure
    assert "LinkPause" in figure
    runs = pd.read_parquet(Path(report[1]).parent / "runs.parquet").set_index("variant")
    # C tau is 31.3 KB, half of which comes or goes after XON and XOFF were passed.
    assert runs.loc["LinkPause", "queue_low"] == pytest.approx(16_000, abs=1500)
    assert runs.loc["LinkPause", "queue_high"] == pytest.approx(50_000, abs=1500)
    own = made.invoke("experiment", "early-pause/two-to-one", "--jobs", "1")
    assert own.returncode == 0, own.stdout + own.stderr
    assert "round-trip/two-to-one" in made.invoke("list").stdout


@pytest.mark.cpp
def test_kinds_of_pause_run_beside_pfc(made: Made) -> None:
    """As PFC does, or with what the tutorial lets through: a tenth of 10 Gb/s for each sender."""
    own = made.invoke("experiment", "long-stop/two-to-one", "--jobs", "1")
    assert own.returncode == 0, own.stdout + own.stderr
    assert "differs" not in own.stdout
    words = ("buffer.xoff=80KB", "buffer.headroom=8MB", "buffer.size=64MB", "leak.long=1us")
    sets = [word for one in words for word in ("--set", one)]
    done = made.invoke("experiment", "leak/two-to-one", "--jobs", "1", *sets)
    assert done.returncode == 0, done.stdout + done.stderr
    report = re.search(r"^report: (.*)/index.html$", done.stdout, re.MULTILINE)
    assert report
    runs = pd.read_parquet(Path(report[1]).parent / "runs.parquet").set_index("variant")
    assert runs.loc["Leak", "delivered"] == pytest.approx(runs.loc["PFC", "delivered"], rel=0.01)
    # A share p of the time at a tenth of the rate, to send half of it: 1 - p + p / 10 = 1 / 2.
    paused = runs["pause_time"].to_dict()
    assert paused["Leak"] / paused["PFC"] == pytest.approx((5 / 9) / (1 / 2), rel=0.05)


@pytest.mark.cpp
def test_a_buffer_policy_runs(made: Made) -> None:
    """Without changes to other files its study agrees, and it joins others in a comparison."""
    own = made.invoke("experiment", "fair-share/two-to-one", "--jobs", "1")
    assert own.returncode == 0, own.stdout + own.stderr
    assert "differs" not in own.stdout
    words = ("dsh/collateral", "--jobs", "1", "--set", "fair-share.share=0.01")
    beside = made.invoke("experiment", *words)
    assert beside.returncode == 0, beside.stdout + beside.stderr
    report = re.search(r"^report: (.*)/index.html$", beside.stdout, re.MULTILINE)
    assert report
    runs = pd.read_parquet(Path(report[1]).parent / "runs.parquet").set_index("variant")
    # 1 % of the shared buffer is less than what T leaves under static headroom
    assert runs.loc["FairShare", "victim"] < runs.loc["DSH", "victim"] / 1.2
    misspelt = made.invoke("experiment", "dsh/burst", "--set", "buffer_policy=fair-shar")
    assert "did you mean 'fair-share'" in misspelt.stdout + misspelt.stderr


@pytest.mark.cpp
def test_telemetry_counts_and_can_be_captured(made: Made) -> None:
    """A study of the INT-based one agrees; its frames are longer, and tshark can read them."""
    own = made.invoke("experiment", "busy-hop/two-to-one", "--jobs", "1")
    assert own.returncode == 0, own.stdout + own.stderr
    assert "differs" not in own.stdout
    traced = made.invoke("trace", "busy-hop/two-to-one", "1", "--until", "100us")
    assert traced.returncode == 0, traced.stdout + traced.stderr
    (pcap,) = Path(made.environment["PYORCH_RESULTS"]).rglob("h2-s0.pcap")
    fields = ("frame.cap_len", "_ws.malformed", "infiniband.bth.opcode")
    words = [tshark(), "-n", "-r", str(pcap), "-T", "fields"]
    words += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = {tuple(line.split("\t")) for line in done.stdout.splitlines()}
    # 1000 B of payload and 48 of headers, an ACK of 64 B, 42 B more each, and no FCS
    assert {row[0] for row in rows if row[2] == "7"} == {"1086"}
    assert {row[0] for row in rows if row[2] == "17"} == {"102"}
    assert {row[1] for row in rows} == {""}


@pytest.mark.cpp
def test_a_table_of_ones_own_is_one_of_the_projects(made: Made, tmp_path: Path) -> None:
    """Its name, attribute and period are checked, its rows are results, and metrics read them."""
    study = made.home / "long-wait" / "experiments" / "two-to-one.toml"
    for old, new, told in (
        ('"long_wait"', '"long_wat"', "did you mean 'long_wait'?"),
        ('table = "long_wait"', 'table = "long_wait"\nperiod = "1us"', "event by event"),
        ("least =", "leas =", "did you mean 'least'?"),
    ):
        wrong = tmp_path / "wrong.toml"
        wrong.write_text(study.read_text().replace(old, new), encoding="utf-8")
        assert told in made.invoke("show", str(wrong)).stderr
    done = made.invoke("experiment", "long-wait/two-to-one", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    results = Path(made.environment["PYORCH_RESULTS"]) / "long-wait" / "two-to-one"
    (file,) = results.rglob("long_wait.parquet")
    rows = pd.read_parquet(file)
    assert list(rows) == ["time_ps", "node", "peer", "class", "flow", "waited_ps"]
    assert len(rows) > 100
    assert rows["waited_ps"].min() >= 20_000_000
    assert set(rows["flow"]) == {0, 1}


STUDY = (
    """
title = "Keeps its build"
flow_control = ["early-pause"]

"""
    + STAR
    + """class = 3

[[metric]]
name = "goodput"
kind = "goodput"

[run]
duration = "20ms"
"""
)


SHARES = """
title = "Flows take turns"
flow_control = ["early-pause"]

[run]
duration = "20ms"

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"
class = 3

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"
class = 3

[[traffic]]
kind = "greedy"
src = "h0"
dst = "h2"
class = 3

[[traffic]]
kind = "greedy"
src = "h1"
dst = "h2"
class = 3

[[metric]]
name = "least"
kind = "goodput"
of = "min"

[[metric]]
name = "most"
kind = "goodput"
of = "max"
"""


@pytest.mark.cpp
def test_own_queues_take_turns(made: Made, tmp_path: Path) -> None:
    """Three flows of one host and one of another get a quarter each; first come, a half for one."""
    file = tmp_path / "shares.toml"
    file.write_text(SHARES, encoding="utf-8")
    least, most = {}, {}
    for scheme in ("early-pause", "pfc"):
        done = made.invoke("experiment", str(file), "--set", f'flow_control=["{scheme}"]')
        assert done.returncode == 0, done.stdout + done.stderr
        report = re.search(r"^report: (.*)/index.html$", done.stdout, re.MULTILINE)
        assert report, done.stdout
        runs = pd.read_parquet(Path(report[1]).parent / "runs.parquet")
        least[scheme], most[scheme] = runs["least"].item(), runs["most"].item()
        assert "deadlocked" in runs, "it answers for what it holds back"
    assert most["pfc"] > 2.5 * least["pfc"], "the port's queue is shared by hosts"
    assert least["early-pause"] > 2.2e9
    assert most["early-pause"] < 1.02 * least["early-pause"]


def results_of(folder: Path) -> dict[str, bytes]:
    """Every file of all runs but the logs."""
    files = [file for file in folder.rglob("runs/*/*") if file.name != "log.txt"]
    return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in files}


@pytest.mark.cpp
@pytest.mark.slow
def test_a_study_keeps_its_build(made: Made, tmp_path: Path) -> None:
    """While it runs, its source is edited and built: it ends with the code that it began with."""
    file = tmp_path / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    during, alone = tmp_path / "during", tmp_path / "alone"
    command = [sys.executable, "-m", "invoke", "experiment", str(file), "--jobs", "1"]
    study = subprocess.Popen(
        [*command, "--seeds", "6"],
        cwd=ROOT,
        env=made.environment | {"PYORCH_RESULTS": str(during)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while len(list(during.rglob("runs/*/summary.json"))) < 2:
        assert study.poll() is None, study.communicate()
        time.sleep(0.02)
    study.send_signal(signal.SIGSTOP)  # so that the next runs begin when the build is made
    (source,) = (made.home / "early-pause" / "model").glob("*.cc")
    before = source.read_text()
    try:
        assert before.count("60'000") == 1
        source.write_text(before.replace("60'000", "30'000"))
        built = made.invoke("build")
        newer = re.search(r"^release: .* in (.*)$", built.stdout, re.MULTILINE)
        assert newer, built.stderr
        assert newer[1] != str(made.build.folder)
        assert len(list(during.rglob("runs/*/summary.json"))) <= 3
    finally:
        source.write_text(before)
        study.send_signal(signal.SIGCONT)
    output, _ = study.communicate()
    assert study.returncode == 0, output
    assert not re.search("fail|refused|warn|error|miss", output.replace(str(tmp_path), ""))
    logs = [log.read_text() for log in during.rglob("runs/*/log.txt")]
    assert len(logs) == 6
    assert all(f"# fingerprint: {short(made.build.fingerprint)}" in log for log in logs)

    made.environment["PYORCH_RESULTS"], kept = str(alone), made.environment["PYORCH_RESULTS"]
    again = made.invoke(*command[3:], "--seeds", "6")
    made.environment["PYORCH_RESULTS"] = kept
    assert again.returncode == 0, again.stdout
    assert "build:" not in again.stderr, "the edit was undone: its build is there"
    assert results_of(during) == results_of(alone)


def test_the_tutorial_is_short_and_its_studies_exist() -> None:
    """Five hundred words, half of them code; its commands name what is there or made by it."""
    assert len(TUTORIAL.split()) <= 550
    named = re.findall(r"^pyorch (?:run|schemes) (\S+)", TUTORIAL, re.MULTILINE)
    assert named == ["link-pause", "link-pause/two-to-one", "gfc/two-to-one"]


@pytest.mark.cpp
def test_a_forwarding_policy_joins_and_runs(made: Made) -> None:
    """It is chosen, checked and listed like any other, and its study agrees."""
    listed = made.invoke("schemes", "side-step")
    assert 'used by: forwarding = "side-step"' in listed.stdout
    assert 'limit = "10KB"' in listed.stdout
    wrong = made.invoke("experiment", "side-step/two-to-one", "--set", "forwarding=side-stepp")
    assert "did you mean 'side-step'" in wrong.stderr
    own = made.invoke("experiment", "side-step/two-to-one", "--jobs", "1")
    assert own.returncode == 0, own.stdout + own.stderr
    assert "differs" not in own.stdout
