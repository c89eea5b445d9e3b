# SPDX-License-Identifier: GPL-2.0-only
"""TCP from four hosts to one, in a class that PFC keeps lossless and in a lossy one.

Run it as a program, or cell by cell (`# %%`) in an editor that knows cells.
"""

# %% ns-3, the modules of this project, and three more of ns-3
from pyorch.build import ensure_built
from pyorch.run.ns3 import load_all

ns = load_all(ensure_built(), ("internet", "applications", "flow-monitor"))

# %% What is tried
SENDERS = 4
RATE = "10Gbps"
DURATION_MS = 20
BUFFER_B = 100_000  # of the lossy classes


# %% One run
def run(dscp: int) -> dict[str, float]:
    """Send with a code point; return the goodput in Gb/s and what was paused and lost."""
    ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
    ns.Config.SetDefault("ns3::TcpSocketBase::MinRto", ns.TimeValue(ns.MilliSeconds(2)))
    fabric = ns.CreateObject["ns3::lossless::Fabric"]()
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", str(BUFFER_B))
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static")
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "100000")
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "97000")
    fabric.AddFlowControl("ns3::pfc::Pfc")

    # A node with a device on every host, and a switch
    nodes = ns.NodeContainer(SENDERS + 1)
    devices = ns.fabricdevice.FabricNetDeviceHelper().Install(fabric, nodes)
    switch = fabric.AddSwitch("s")
    for host in range(SENDERS + 1):
        fabric.AddLink(host, switch, ns.DataRate(RATE), ns.MicroSeconds(1))
    fabric.Build()

    # The stack, and no broadcasts
    ns.InternetStackHelper().Install(nodes)
    addresses = ns.Ipv4AddressHelper(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.0.0"))
    interfaces = addresses.Assign(devices)
    ns.NeighborCacheHelper().PopulateNeighborCache(devices)

    # Host 0 listens, the others send
    here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 9).ConvertTo()
    sinks = ns.PacketSinkHelper("ns3::TcpSocketFactory", here).Install(nodes.Get(0))
    there = ns.InetSocketAddress(interfaces.GetAddress(0), 9).ConvertTo()
    senders = ns.BulkSendHelper("ns3::TcpSocketFactory", there)
    senders.SetAttribute("Tos", ns.UintegerValue(dscp << 2))
    for host in range(1, SENDERS + 1):
        senders.Install(nodes.Get(host))
    helper = ns.FlowMonitorHelper()
    monitor = helper.Install(nodes)

    ns.Simulator.Stop(ns.MilliSeconds(DURATION_MS))
    ns.Simulator.Run()
    monitor.CheckForLostPackets(ns.MilliSeconds(5))  # younger ones may be on their way
    node = fabric.GetNode(switch)
    result = {
        "goodput_gbps": sinks.Get(0).GetObject["ns3::PacketSink"]().GetTotalRx()
        * 8e-6
        / DURATION_MS,
        "pauses": sum(
            node.GetPort(port).GetCounters().pausesSent for port in range(node.GetNPorts())
        ),
        "dropped_frames": node.GetCounters().dropped,
        "lost_packets": sum(flow.second.lostPackets for flow in monitor.GetFlowStats()),
    }
    problems = str(fabric.Finish())
    ns.Simulator.Destroy()
    fabric.Dispose()
    if problems:
        raise SystemExit(problems)
    return result


# %% DSCP 26 goes in class 3, which is lossless; DSCP 0 in class 0, which is not
for dscp in (26, 0):
    numbers = "  ".join(f"{name} {value:g}" for name, value in run(dscp).items())
    print(f"dscp {dscp:2}  {numbers}")
