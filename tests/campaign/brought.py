"""Files of other simulators and tools, damaged, for `import`: a small one in every format."""

from __future__ import annotations

import io
import json
import re
import struct
from typing import Any

from tests.campaign import mutate
from tests.campaign.cases import Case, kind
from tests.campaign.project import SPECIAL, Project

FOLDER = "brought"
_OUT = f"{FOLDER}/my.toml"
_NETWORK = "4 1 3\n3\n" + "".join(f"{host} 3 100Gbps 0.001ms 0.01\n" for host in range(3))
_GPUS = "7 2 2 1 8 H100\n4 5\n6\n" + "".join(
    f"{gpu} {switch} {rate}Gbps 0.0005ms 0\n"
    for gpu in range(4)
    for switch, rate in ((4 + gpu // 2, 2880), (6, 400))
)
_CONFIG = """ENABLE_QCN 1
CC_MODE 1
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
PACKET_PAYLOAD_SIZE 1000
SIMULATOR_STOP_TIME 4.00
RATE_AI 50Mb/s
EWMA_GAIN 0.0625
ALPHA_RESUME_INTERVAL 1
RP_TIMER 900
FAST_RECOVERY_TIMES 1
MIN_RATE 100Mb/s
L2_ACK_INTERVAL 1
HAS_WIN 1
ENABLE_PFC 1
ENABLE_IRN 0
LB_MODE 9
LINK_DOWN 7 0 3
ERROR_RATE_PER_LINK 0.001
BUFFER_SIZE 16
KMIN_MAP 2 25000000000 100 100000000000 400
KMAX_MAP 2 25000000000 400 100000000000 1600
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
"""
_SWITCH: dict[str, Any] = {
    "PORT": {f"Ethernet{n}": {"speed": "100000", "lanes": f"{n},9"} for n in range(3)}
    | {"Ethernet3": {"alias": "fortyGigE0/3", "lanes": "3"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
    "BUFFER_POOL": {"ingress_lossless_pool": {"size": "20000000", "xoff": "100000"}},
    "BUFFER_PROFILE": {
        "pg_lossless_100000_40m_profile": {
            "pool": "[BUFFER_POOL|ingress_lossless_pool]",
            "xon_offset": "2496",
            "xoff": "110592",
            "dynamic_th": "-3",
        }
    },
    "PORT_QOS_MAP": {
        "Ethernet0": {
            "pfc_enable": "3,4",
            **{f"{key}_map": "A" for key in ("dscp_to_tc", "tc_to_pg", "tc_to_queue")},
            "pfc_to_queue_map": "A",
        }
    },
    "DSCP_TO_TC_MAP": {"A": {"3": "3", "4": "4", "24": "1"}},
    "TC_TO_PRIORITY_GROUP_MAP": {"A": {"3": "3", "1": "0"}},
    "TC_TO_QUEUE_MAP": {"A": {"3": "3", "1": "2"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"A": {"3": "3"}},
    "WRED_PROFILE": {
        "A": {"ecn": "ecn_all", "green_min_threshold": "9", "green_max_threshold": "99"}
    },
}
_NIC = """        CLAMP_TGT_RATE_P1         False(0)
        RPG_TIME_RESET_P1         300
        RPG_AI_RATE_P1            5
        RPG_MIN_DEC_FAC_P1        50
        INITIAL_ALPHA_VALUE_P1    1023
        DCE_TCP_G_P1              1019
        MIN_TIME_BETWEEN_CNPS_P1  4
"""
_KEY = '<key id="r" for="edge" attr.name="dist" attr.type="double"/>'
_GRAPHML = (
    f'<graphml>{_KEY}<graph edgedefault="undirected"><node id="0"/><node id="1"/>'
    '<edge source="0" target="1"><data key="r">9.5</data></edge></graph></graphml>'
)
_LAB = """topology:
  defaults: {kind: linux}
  kinds: {linux: {role: host}}
  groups: {spine: {kind: srl}}
  nodes: {a: {kind: linux}, b: , s: {group: spine}}
  links:
    - endpoints: ["a:1", "s:1"]
    - endpoints: [{node: b, interface: e1}, "s:2"]
      labels: {rate: 10Gbps}
"""
_TRIGGERS = """Nodes 4
Connections 3
Triggers 2
0->2 id 1 start 5 size 9 send_done_trigger 7
1->3 id 2 trigger 7 size 9 prio 5 recv_done_trigger 8
3->1 trigger 8 size 7
trigger id 7 oneshot
trigger id 8 barrier count 1
"""
_MODEL = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
    "all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n2\n"
    "grads -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 4000 100\n"
    "block -1 250 ALLREDUCE 6000 300 ALLREDUCE 6000 1 NONE 0 100\n"
)
_SCHEDULE = (
    "num_ranks 2\nrank 0 {\na: send 9b to 1 tag 7\n}\nrank 1 {\nb: recv 9b from 0 tag 7\n}\n"
)


def _binary() -> bytes:
    """The schedule above in GOAL's binary form: one operation a rank, without dependencies."""
    ranks = [
        struct.pack("<III", 1, 1, 0) + struct.pack("<IbIQIBBIIII", 0, *one, 7, 0, 0, 0, 0, 0, 0)
        for one in ((1, 1, 9), (2, 0, 9))
    ]
    length = len(ranks[0])
    table = b"".join(struct.pack("<QQ", 38 + n * length, 38 + (n + 1) * length) for n in range(2))
    return struct.pack("<QIBB", 4223, 2, 0, 0) + table + b"".join(ranks)


def _parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    columns = {"src": ["0", "1"], "dst": ["1", "2"], "size": [5, 6], "start_us": [1, 2]}
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _traces() -> dict[str, bytes]:
    from pyorch.addons.jobs.chakra import Node, write

    one = {"comm_type": 0, "comm_size": 1000, "pg_name": "0"}
    trace = write([Node(1, "COMP_NODE", (), 5), Node(2, "COMM_COLL_NODE", (1,), 0, one)])
    return {f"t.{rank}.et": trace for rank in range(2)}


def files() -> dict[str, bytes]:
    """Return every file by its path in the project."""
    texts = {
        "config.txt": _CONFIG,
        "topology.txt": _NETWORK,
        "gpus.txt": _GPUS,
        "model.txt": _MODEL,
        "flow.txt": "1\n0 1 3 100 1000 0.000001\n",
        "sizes.txt": "100\n10 25\n1000 100\n",
        "config_db.json": json.dumps(_SWITCH),
        "bare_db.json": json.dumps({"PORT": _SWITCH["PORT"]}),
        "pg_profile_lookup.ini": "# speed cable\n100000 40m 18432 18432 40000 0 2496\n",
        "nic.txt": _NIC,
        "zoo.gml": "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] edge [ source 0 target 1 ] ]",
        "network.graphml": _GRAPHML,
        "lab.clab.yml": _LAB,
        "hub.json": '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}',
        "links.csv": "a,b,rate\n0,3,1Gbps\n1,3,1Gbps\n2,3,1Gbps\n",
        "m.csv": "src,dst,size,start_us\n0,1,5,1.5\n1,2,6,2\n",
        "w.csv": "src,dst,size,start,id,after,delay\n0,1,5KB,1us,a,,\n1,2,6,,b,a,2us\n",
        "flow.cm": _TRIGGERS,
        "network.topo": "Nodes 4\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\n"
        "Radix_Up 2\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n",
        "schedule.goal": _SCHEDULE,
        "groups.json": '{"0": [0, 1]}',
    }
    found = {name: text.encode() for name, text in texts.items()}
    found |= {"schedule.bin": _binary(), "m.parquet": _parquet(), **_traces()}
    return {f"{FOLDER}/{name}": content for name, content in found.items()}


TOGETHER = (
    ("config.txt", "topology.txt", "flow.txt"),
    ("topology.txt", "sizes.txt"),
    ("config_db.json", "nic.txt"),
    ("bare_db.json", "pg_profile_lookup.ini"),
    ("zoo.gml",),
    ("network.graphml",),
    ("lab.clab.yml",),
    ("hub.json",),
    ("links.csv",),
    ("gpus.txt", "model.txt"),
    ("topology.txt", "m.csv"),
    ("topology.txt", "w.csv"),
    ("topology.txt", "m.parquet"),
    ("network.topo", "flow.cm"),
    ("schedule.goal",),
    ("schedule.bin",),
    ("t.0.et", "groups.json"),
)
"""What is given to one `import`, of which one file is damaged."""


def _register(name: str, given: tuple[str, ...]) -> None:
    """Register the damages of one file, so that each reader has a row of its own."""

    @kind(f"import {name}", 1)
    def _import(rng: Any, project: Project) -> Case:
        """By structure, words, lines or bytes, or something else than a file."""
        path = f"{FOLDER}/{name}"
        content, about = _damaged(rng, name, project.content[path])
        words = ("import", *(str(project.root / FOLDER / one) for one in given))
        words = (*words, "--out", str(project.root / _OUT))
        names = (*(one.removesuffix(".0.et") for one in given), "my.toml")
        files = {path: content, _OUT: "missing"}
        return Case(f"import {name}", f"{path}: {about}", files, words, None, names)


for _given in reversed(TOGETHER):
    for _name in _given:
        _register(_name, _given)


def _damaged(rng: Any, name: str, content: bytes) -> tuple[bytes | str, str]:
    if rng.random() < 0.05:
        what = str(rng.choice(SPECIAL))
        return what, what
    if name.endswith(".json") and rng.random() < 0.5:
        changed, about = mutate.change_document(rng, json.loads(content))
        try:
            return json.dumps(changed, default=str).encode("utf-8", errors="replace"), about
        except ValueError:  # a number of thousands of digits
            return b'{"PORT": ' + b"9" * 5000 + b"}", "a long number"
    if rng.random() < 0.3 or name.endswith((".bin", ".parquet", ".et")):
        return mutate.change_bytes(rng, content)
    if rng.random() < 0.4:
        text, about = mutate.change_text(rng, content.decode())
        return text.encode("utf-8", errors="surrogatepass"), about
    words = re.split(r"([\s,]+)", content.decode())
    spot = rng.randrange(0, len(words), 2)
    pool = [mutate.odd_value(rng, words[spot]), *mutate.NUMBERS, "x" * 200_000, "9" * 5000]
    words[spot] = str(rng.choice(pool))
    return "".join(words).encode("utf-8", errors="replace"), f"word {spot // 2 + 1}"
