"""Cases about what is around an experiment: includes, networks, traces, results, owners, folders.

Like those of `cases` they only plan, or look at results; nothing is simulated.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.campaign import mutate
from tests.campaign.cases import Case, kind
from tests.campaign.project import OWN, SEALED, Project, link_to, to_toml

_PARTS = "experiments/campaign/parts"
_TREE = "experiments/campaign/tree.toml"
_SMALL = {
    "title": "tree",
    "flow_control": ["pfc"],
    "run": {"duration": "10us"},
    "topology": {"kind": "star", "hosts": 2, "rate": "10Gbps", "delay": "1us"},
    "traffic": [{"kind": "greedy", "src": "h0", "dst": "h1"}],
}


@kind("trees of includes and links", 10)
def _includes(rng: Any, project: Project) -> Case:
    count = rng.choice([2, 5, 12, 40, 40, 250, 1500])
    files: dict[str, bytes | str] = {}
    pieces = [{key: one} for key, one in _SMALL.items()]
    pieces += [{"set": {"big": rng.choice([["run.seeds=2"], [{"a": 1}], [[1]], [], 3])}}]
    pieces += [{"metric": [{"name": "m", "kind": "fct"}]}, {"sweep": {"buffer.alpha": [1, 2]}}]
    down = rng.random() < 0.6  # parts include later ones only, else whichever
    for number in range(count):
        low = number + 1 if down else 0
        reach = range(low, min(count, low + rng.choice([1, 2, 5, count])))
        names = [
            f"p{rng.choice(reach)}.toml" for _ in range(rng.choice([0, 1, 2, 3]) if reach else 0)
        ]
        if names and rng.random() < 0.3:
            names *= rng.choice([2, 2, 50])
        names = [rng.choice([name, f"./{name}", f"../parts/{name}"]) for name in names]
        way, path = rng.random(), f"{_PARTS}/p{number}.toml"
        if way < 0.1:
            files[path] = link_to(f"p{rng.randrange(count)}.toml")
        elif way < 0.12:
            files[path] = rng.choice(["folder", "fifo", "loop", "dangling", "device"])
        else:
            content = {"include": rng.choice([names] * 9 + [names[:1] or "", [1], {"a": names}])}
            content |= rng.choice([{}, {}, rng.choice(pieces)])
            files[path] = to_toml(content).encode()
    files[_TREE] = to_toml({"include": ["parts/p0.toml", "parts/p0.toml"], **_SMALL}).encode()
    about = f"{count} parts, {'a tree' if down else 'any graph'}"
    return Case(
        "trees of includes and links", about, files, ("show", "campaign/tree"), None, (".toml",)
    )


def _yaml_of(rng: Any) -> str:
    """Lines of anchors that later ones name, merge or repeat, above a small network."""
    lines, count = [], rng.choice([3, 30, 300])
    scalars = [
        "1",
        "x",
        "2024-01-01",
        "1:30",
        "yes",
        ".inf",
        "0b",
        "9" * 5000,
        "!!python/name:os.system x",
    ]
    for number in range(count):
        old = [
            f"*a{max(0, number - rng.choice([1, 1, 2, 9]))}" for _ in range(rng.choice([1, 2, 9]))
        ]
        old = old if number else ["1"]
        ways = [f"{{<<: [{', '.join(old)}], k{number}: 1}}", f"[{', '.join(old)}]"]
        ways += [f"{{<<: {old[0]}, k: {rng.choice(scalars)}}}", rng.choice(scalars)]
        way = rng.choice(ways[:3] if rng.random() < 0.9 else ways)
        itself = rng.random() < 0.01
        lines.append(f"a{number}: &a{number} " + (f"[*a{number}]" if itself else way))
    last = rng.choice([f"*a{count - 1}", "{}", "{kind: host}"])
    lines += ["topology:", f"  nodes: {{h0: {last}, h1: {{kind: {last}}}, s0: }}", "  links:"]
    lines += [
        f'    - {{endpoints: ["h{n}:1", "s0:{n}"], labels: {{rate: {last}}}}}' for n in (0, 1)
    ]
    return "\n".join(lines) + "\n"


@kind("YAML of aliases and merges", 6)
def _merges(rng: Any, project: Project) -> Case:
    path = f"{OWN}/network.yml"
    names = ("network.yml", "network-yml.toml")
    text = _yaml_of(rng)
    if rng.random() < 0.2:
        text, _ = mutate.change_text(rng, text)
    files: dict[str, bytes | str] = {path: text.encode(errors="surrogatepass")}
    words = ("show", "campaign/network-yml")
    return Case("YAML of aliases and merges", text[:200], files, words, None, names)


@kind("networks and traces from files", 16)
def _graphs(rng: Any, project: Project) -> Case:
    suffix = rng.choice(["graphml", "json", "csv", "yml", "goal", "et"])
    name = f"job/job.{rng.randrange(2)}.et" if suffix == "et" else f"network.{suffix}"
    path, content = f"{OWN}/{name}", project.content[f"{OWN}/{name}"]
    way = rng.random()
    if way < 0.3 or suffix == "et":
        changed, about = mutate.change_bytes(rng, content)
    elif suffix == "json" and way < 0.7:
        document, about = mutate.change_document(rng, json.loads(content))
        changed = json.dumps(document, default=str).encode()
    else:
        text, about = mutate.change_text(rng, content.decode())
        changed = text.encode(errors="surrogatepass")
    words = ["show", f"campaign/network-{suffix}"]
    if rng.random() < 0.3:
        keys = ("hosts", "add_hosts", "name_attribute", "rate_unit", "rate_attribute", "format")
        value = mutate.odd_value(rng)
        try:
            odd = to_toml({"x": value})[6:-1]
        except ValueError:
            odd = "1" * 5000
        words += ["--set", f"topology.{rng.choice(keys)}={odd}".replace("\0", "")[:120_000]]
    names = (name.rpartition("/")[2], "job", f"network-{suffix}.toml", "--set")
    return Case(
        "networks and traces from files",
        f"{name}: {about}",
        {path: changed},
        tuple(words),
        None,
        names,
    )


@kind("forged results", 10)
def _forged(rng: Any, project: Project) -> Case:
    """A run whose files were changed, and whose checksums may have been made to fit again."""
    run = {path: content for path, content in project.content.items() if path.startswith(SEALED)}
    sums = next(path for path in run if path.endswith("SHA256SUMS"))
    folder = sums.rpartition("/")[0]
    others = [path for path in run if path != sums]
    about = []
    if rng.random() < 0.6:
        path = rng.choice(others)
        if path.endswith(".json") and rng.random() < 0.6:
            document, told = mutate.change_document(rng, json.loads(run[path]))
            run[path] = json.dumps(document, default=str, skipkeys=True).encode(errors="replace")
        else:
            run[path], told = mutate.change_bytes(rng, run[path])
        about.append(f"{path.rpartition('/')[2]}: {told}")
    text = run[sums].decode().rpartition("# sha256 of")[0]
    head, *lines = text.splitlines()
    if rng.random() < 0.8:  # checksums that fit
        seal = json.loads(head.removeprefix("# pyorch "))
        seal["bytes"] = {path.rpartition("/")[2]: len(run[path]) for path in others}
        lines = [
            f"{hashlib.sha256(run[path]).hexdigest()}  {path.rpartition('/')[2]}" for path in others
        ]
        head = f"# pyorch {json.dumps(seal)}"
    if rng.random() < 0.6:
        if rng.random() < 0.5:
            seal, told = mutate.change_document(rng, json.loads(head.removeprefix("# pyorch ")))
            head = f"# pyorch {json.dumps(seal, default=str)}"
        else:
            whole, told = mutate.change_text(rng, "\n".join([head, *lines]) + "\n")
            head, *lines = whole.splitlines() or [""]
        about.append(f"SHA256SUMS: {told}")
    body = ("\n".join([head, *lines]) + "\n").encode(errors="replace")
    run[sums] = body + f"# sha256 of the lines above: {hashlib.sha256(body).hexdigest()}\n".encode()
    files: dict[str, bytes | str] = {**run, f"{folder.rpartition('/runs')[0]}/damaged": "missing"}
    for path in others:
        if rng.random() < 0.05:
            files[path] = rng.choice(["folder", "missing", "loop", "fifo", "device"])
    words = [rng.choice(["show", "show", "report"]), "campaign/sealed"]
    words = rng.choice(
        [words] * 4
        + [["collect", "campaign/sealed"], ["compare", "campaign/sealed", "campaign/sealed"]]
    )
    return Case("forged results", "; ".join(about), files, tuple(words), None, ("",))


@kind("files of others", 6)
def _others(rng: Any, project: Project) -> Case:
    """Another user owns a file, may write it, or may not read it; the user is not root."""
    own = [path for path in project.content if path.startswith((OWN, "slurm.toml"))]
    files: dict[str, bytes | str] = {
        path: rng.choice(["foreign", "open to all", "secret"])
        for path in rng.sample(own, rng.choice([1, 1, 2, 5]))
    }
    names = ["full", "own", "network-csv", "network-et", "sealed"]
    words = rng.choice(
        [["show", f"campaign/{rng.choice(names)}"]] * 6
        + [["list"], ["submit", "campaign/full", "--dry-run"]]
    )
    about = f"{' '.join(words)}: {files}"
    return Case(
        "files of others", about, files, tuple(words), None, ("",), nobody=rng.random() < 0.7
    )


@kind("folders that vanish", 3)
def _vanished(rng: Any, project: Project) -> Case:
    """The current folder is gone, or a folder of the project, or something else is in its place."""
    files: dict[str, bytes | str] = {}
    if rng.random() < 0.5:
        special = rng.choice(["missing", "loop", "dangling", "fifo"])
        files = {f"{OWN}/schemes": special} if rng.random() < 0.5 else {f"{_PARTS}": special}
    name = rng.choice(["campaign/full", "gfc/two-to-one", "campaign/sealed", "x.toml", "../x.toml"])
    verbs = ("show", "status", "report", "collect")
    commands = [*([verb, name] for verb in verbs), ["submit", name, "--dry-run"]]
    words = rng.choice([*commands, ["list"], ["size", "gfc/ring"], ["schemes", "pfc"]])
    gone = not files or rng.random() < 0.5
    return Case(
        "folders that vanish",
        f"{' '.join(words)}: {files}",
        files,
        tuple(words),
        None,
        ("",),
        gone=gone,
    )
