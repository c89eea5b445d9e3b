/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-fabric.h"

#include "lossless-fabric-audit.h"

#include "ns3/config.h"
#include "ns3/eventloop-cell-threads.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-refusal.h"
#include "ns3/names.h"
#include "ns3/object-vector.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace lossless
{

NS_LOG_COMPONENT_DEFINE("LosslessFabric");

NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

/// All fabrics, as the root of ns3::Config paths. It owns none of them.
class FabricList : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::lossless::FabricList")
                .SetParent<Object>()
                .AddAttribute("FabricList",
                              "All fabrics.",
                              TypeId::ATTR_GET,
                              ObjectVectorValue(),
                              MakeObjectVectorAccessor(&FabricList::Get, &FabricList::GetN),
                              MakeObjectVectorChecker<Fabric>());
        return tid;
    }

    /// The singleton. @return fabrics, oldest first.
    static std::vector<Fabric*>& All()
    {
        static auto* all = [] {
            Config::RegisterRootNamespaceObject(CreateObject<FabricList>());
            return new std::vector<Fabric*>; // never destroyed: outlives other static objects
        }();
        return *all;
    }

  private:
    Ptr<Fabric> Get(std::size_t index) const
    {
        return Ptr<Fabric>(All()[index]);
    }

    std::size_t GetN() const
    {
        return All().size();
    }
};

/// The objects of a port that have attributes.
/// @param port the port. @return it and its flow controls.
std::vector<Object*>
ObjectsOf(Port& port)
{
    std::vector<Object*> objects{&port};
    for (const auto& flowControl : port.GetChain().GetMembers())
    {
        objects.push_back(PeekPointer(flowControl));
    }
    return objects;
}

/// The name of a type.
/// @param type its name, or an old one that ns-3 still takes. @return its name.
std::string
NameOf(const std::string& type)
{
    return TypeId::LookupByName(type).GetName();
}

/// Set an attribute of those objects that are of a type, or refuse.
/// @param objects of a node or a port. @param owner its name. @param type TypeId name.
/// @param name attribute. @param value in ns-3's syntax.
void
SetAttributeOf(const std::vector<Object*>& objects,
               const std::string& owner,
               const std::string& type,
               const std::string& name,
               const std::string& value)
{
    const std::string problem = CheckAttribute(type, name, value);
    if (!problem.empty())
    {
        Refuse(owner, ": ", problem);
    }
    bool found = false;
    const TypeId wanted = TypeId::LookupByName(type);
    for (Object* object : objects)
    {
        if (object->GetInstanceTypeId() == wanted)
        {
            object->SetAttribute(name, StringValue(value));
            found = true;
        }
    }
    if (!found)
    {
        Refuse(owner, " has no object of the type ", type);
    }
}

/// ns-3 random stream of the ECMP salts; a fixed number, so that other streams do not affect it.
constexpr int64_t SALT_STREAM = 1;
/// ns-3 random stream of the clocks of nodes; given numbers begin in the middle, as ns-3 counts.
constexpr uint64_t CLOCK_STREAM = (1ULL << 63) + 2;
/// First of the streams of forwarding policies.
constexpr int64_t FORWARDING_STREAM = 1LL << 32;
/// First of the streams of errors on links: one for each port, in the order of nodes and ports.
constexpr int64_t ERROR_STREAM = 1LL << 33;

} // namespace

TypeId
Fabric::GetTypeId()
{
    static TypeId tid = TypeId("ns3::lossless::Fabric")
                            .SetParent<Object>()
                            .SetGroupName("lossless")
                            .AddConstructor<Fabric>()
                            .AddAttribute("NodeList",
                                          "All nodes, for paths of ns3::Config.",
                                          TypeId::ATTR_GET,
                                          ObjectVectorValue(),
                                          MakeObjectVectorAccessor(&Fabric::m_nodes),
                                          MakeObjectVectorChecker<FabricNode>())
                            .AddTraceSource("Routes",
                                            "Switches have changed their routes to a host, or to "
                                            "any.",
                                            MakeTraceSourceAccessor(&Fabric::m_routesTrace),
                                            "ns3::lossless::Fabric::RoutesCallback");
    return tid;
}

Fabric::Fabric()
{
    UsePicoseconds();
    FramePool::Open();
    FabricList::All().push_back(this);
}

Fabric::~Fabric()
{
    std::erase(FabricList::All(), this);
}

void
Fabric::DoDispose()
{
    for (const auto& node : m_nodes)
    {
        node->Dispose();
    }
    m_observers.clear();
    m_switches.clear();
    m_nodes.clear();
    FramePool::Close();
    Object::DoDispose();
}

void
Fabric::SetAttribute(const std::string& type, const std::string& name, const std::string& value)
{
    RequireOpen("SetAttribute");
    m_types.SetAttribute(type, name, value);
}

bool
Fabric::IsBuilt() const
{
    return m_built;
}

void
Fabric::RequireOpen(const char* what) const
{
    if (IsBuilt())
    {
        RefuseNow(what, " was called after Build: a network cannot be changed once it is built");
    }
}

void
Fabric::RequireBuilt(const char* what) const
{
    if (!IsBuilt())
    {
        RefuseNow(what, " was called before Build: call Build first, once everything is added");
    }
}

void
Fabric::AddFlowControl(const std::string& type)
{
    RequireOpen("AddFlowControl");
    TypeSettings::Require<FlowControl>(type, "a flow control");
    m_flowControls.push_back(NameOf(type));
}

void
Fabric::AddAgent(const std::string& type)
{
    RequireOpen("AddAgent");
    TypeSettings::Require<SwitchAgent>(type, "an agent of a switch or host");
    m_agents.push_back(NameOf(type));
}

void
Fabric::AddHostAgent(const std::string& type)
{
    RequireOpen("AddHostAgent");
    TypeSettings::Require<SwitchAgent>(type, "an agent of a switch or host");
    m_hostAgents.push_back(NameOf(type));
}

void
Fabric::SetForwarding(const std::string& type)
{
    RequireOpen("SetForwarding");
    TypeSettings::Require<ForwardingPolicy>(type, "a forwarding policy");
    if (!m_switches.empty())
    {
        RefuseNow("SetForwarding was called after AddSwitch: set the policy before adding "
                  "switches");
    }
    m_forwarding = NameOf(type);
}

bool
Fabric::IsHashed() const
{
    return m_forwarding == Ecmp::GetTypeId().GetName();
}

void
Fabric::SetBufferPolicy(const std::string& type)
{
    RequireOpen("SetBufferPolicy");
    TypeSettings::Require<BufferPolicy>(type, "a buffer policy");
    if (!m_nodes.empty())
    {
        RefuseNow("SetBufferPolicy was called after a node was added: set the policy before adding "
                  "nodes");
    }
    m_bufferPolicy = NameOf(type);
}

void
Fabric::SetAllowLoss(bool allow)
{
    m_allowLoss = allow;
}

void
Fabric::AddNode(const std::string& name, Ptr<FabricNode> node, bool isSwitch)
{
    RequireOpen("AddHost or AddSwitch");
    node->SetIdentity(static_cast<uint32_t>(m_nodes.size()), name);
    node->SetBuffer(m_types.Make<BufferPolicy>(m_bufferPolicy));
    node->SetRoutes(&m_routes);
    m_nodes.push_back(node);
    m_routes.AddNode(isSwitch);
}

uint32_t
Fabric::AddSwitch(const std::string& name)
{
    auto node = m_types.Make<Switch>("ns3::lossless::Switch");
    node->SetNumber(static_cast<uint32_t>(m_switches.size()));
    node->SetForwarding(m_types.Make<ForwardingPolicy>(m_forwarding));
    m_switches.push_back(PeekPointer(node));
    AddNode(name, node, true);
    for (const std::string& agent : m_agents)
    {
        node->AddAgent(m_types.Make<SwitchAgent>(agent));
    }
    return static_cast<uint32_t>(m_nodes.size() - 1);
}

uint32_t
Fabric::AddHost(const std::string& name, Ptr<FabricNode> host)
{
    AddNode(name, host, false);
    for (const std::string& agent : m_hostAgents)
    {
        host->AddAgent(m_types.Make<SwitchAgent>(agent));
    }
    return static_cast<uint32_t>(m_nodes.size() - 1);
}

Ptr<Port>
Fabric::MakePort()
{
    auto port = m_types.Make<Port>("ns3::lossless::Port");
    for (const std::string& type : m_flowControls)
    {
        port->AddFlowControl(m_types.Make<FlowControl>(type));
    }
    return port;
}

uint32_t
Fabric::AddLink(uint32_t a, uint32_t b, DataRate rate, Time delay)
{
    RequireOpen("AddLink");
    if (a >= m_nodes.size() || b >= m_nodes.size() || a == b)
    {
        Refuse("link ",
               m_links.size(),
               " connects nodes ",
               a,
               " and ",
               b,
               "; there are ",
               m_nodes.size(),
               " nodes, counted from 0, and a link needs two different ones");
    }
    for (const uint32_t node : {a, b})
    {
        if (!m_routes.IsSwitch(node) && m_nodes[node]->GetNPorts() > 0)
        {
            Refuse("host ",
                   m_nodes[node]->GetName(),
                   " has more than one link; a host has exactly one");
        }
    }
    const uint64_t bits = rate.GetBitRate();
    if (bits < SLOWEST_LINK || bits > HIGHEST_RATE)
    {
        Refuse("link ",
               m_links.size(),
               " cannot have a rate of ",
               bits,
               " bit/s; allowed: ",
               SLOWEST_LINK,
               " to ",
               HIGHEST_RATE,
               " bit/s");
    }
    if (delay.GetTimeStep() < 0 || delay.GetTimeStep() > LONGEST_TIME)
    {
        Refuse("link ",
               m_links.size(),
               " cannot have a delay of ",
               delay.GetTimeStep(),
               " ps; allowed: 0 to ",
               LONGEST_TIME,
               " ps");
    }
    auto portA = MakePort();
    auto portB = MakePort();
    const uint16_t indexA = m_nodes[a]->AddPort(portA);
    const uint16_t indexB = m_nodes[b]->AddPort(portB);
    portA->Attach(PeekPointer(m_nodes[a]),
                  indexA,
                  PeekPointer(portB),
                  rate.GetBitRate(),
                  delay.GetTimeStep());
    portB->Attach(PeekPointer(m_nodes[b]),
                  indexB,
                  PeekPointer(portA),
                  rate.GetBitRate(),
                  delay.GetTimeStep());
    m_routes.AddLink(a, indexA, b, indexB);
    m_links.push_back(Link{a, indexA, b, indexB});
    return static_cast<uint32_t>(m_links.size() - 1);
}

void
Fabric::FailLink(uint32_t link, Time down, Time up)
{
    if (link >= m_links.size())
    {
        Refuse("there is no link ", link, "; there are ", m_links.size(), ", counted from 0");
    }
    if (down.IsStrictlyNegative() || (!up.IsStrictlyNegative() && up <= down))
    {
        Refuse("link ",
               link,
               " cannot fail at ",
               down.GetTimeStep(),
               " ps and come back at ",
               up.GetTimeStep(),
               " ps; it may fail at 0 ps or later, and recover after that or never (-1)");
    }
    if (down.IsZero())
    {
        RequireOpen("FailLink at 0 ps");
        m_downAtStart.push_back(link);
    }
    else
    {
        m_changes = true;
        Simulator::Schedule(down, &Fabric::SetLink, this, link, false);
    }
    if (!up.IsStrictlyNegative())
    {
        m_changes = true;
        Simulator::Schedule(up, &Fabric::SetLink, this, link, true);
    }
}

void
Fabric::SetLink(uint32_t link, bool up)
{
    const Link& ends = m_links[link];
    NS_LOG_INFO("link " << m_nodes[ends.a]->GetName() << " - " << m_nodes[ends.b]->GetName()
                        << (up ? " recovers" : " fails"));
    // Routes first: what a port that comes up, or an agent, sends now takes the new ones.
    m_routes.SetLink(ends.a, ends.portA, up);
    UpdateRoutes();
    Port& a = m_nodes[ends.a]->GetPort(ends.portA);
    Port& b = m_nodes[ends.b]->GetPort(ends.portB);
    a.SetUp(up);
    b.SetUp(up);
    m_nodes[ends.a]->NotifyLink(a, up);
    m_nodes[ends.b]->NotifyLink(b, up);
    m_routesTrace(ALL_NODES); // after flows have moved away from a host
}

void
Fabric::UpdateRoutes()
{
    // Found now, adopted later: a switch does not know of what fails meanwhile before that is due.
    Routes::Tables tables = m_routes.Find();
    for (const Switch* node : m_switches)
    {
        Routes::Table& table = tables[node->GetId()];
        const int64_t delay = node->GetRouteDelay();
        if (delay == 0)
        {
            m_routes.Adopt(node->GetId(), std::move(table));
            continue;
        }
        ++m_adoptions[NowPs() + delay];
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)),
                            &Fabric::Adopt,
                            this,
                            node->GetId(),
                            table);
    }
}

void
Fabric::Adopt(uint32_t node, const Routes::Table& table)
{
    m_routes.Adopt(node, table);
    const auto due = m_adoptions.find(NowPs());
    if (--due->second == 0)
    {
        m_adoptions.erase(due);
        m_routesTrace(ALL_NODES);
    }
}

void
Fabric::Divert(uint32_t node, uint32_t dst, uint16_t port)
{
    m_routes.Divert(node, dst, port);
    m_routesTrace(dst);
}

void
Fabric::Restore(uint32_t node, uint32_t dst)
{
    m_routes.Restore(node, dst);
    m_routesTrace(dst);
}

void
Fabric::DivertRoute(uint32_t node, uint32_t dst, uint32_t neighbour, Time at, Time until)
{
    if (node >= m_nodes.size() || dst >= m_nodes.size() || !m_routes.IsSwitch(node) ||
        m_routes.IsSwitch(dst))
    {
        Refuse("a route leads from a switch to a host, not from node ", node, " to node ", dst);
    }
    const Port* port = FindPort(node, neighbour);
    if (!port)
    {
        Refuse("there is no link from ", m_nodes[node]->GetName(), " to node ", neighbour);
    }
    if (at.IsStrictlyNegative() || (!until.IsStrictlyNegative() && until <= at))
    {
        Refuse("a route cannot be diverted at ",
               at.GetTimeStep(),
               " ps until ",
               until.GetTimeStep(),
               " ps; a diversion starts at 0 ps or later, and ends after that or never (-1)");
    }
    if (at.IsZero())
    {
        m_changes = m_changes || m_built;
        m_routes.Divert(node, dst, port->GetIndex());
    }
    else
    {
        m_changes = true;
        Simulator::Schedule(at, &Fabric::Divert, this, node, dst, port->GetIndex());
    }
    if (!until.IsStrictlyNegative())
    {
        m_changes = true;
        Simulator::Schedule(until, &Fabric::Restore, this, node, dst);
    }
}

void
Fabric::SetNodeAttribute(uint32_t node,
                         const std::string& type,
                         const std::string& name,
                         const std::string& value)
{
    RequireOpen("SetNodeAttribute");
    FabricNode& owner = GetNode(node);
    std::vector<Object*> objects{&owner, &owner.GetBuffer()};
    for (const auto& agent : owner.GetAgents())
    {
        objects.push_back(PeekPointer(agent));
    }
    for (uint16_t index = 0; index < owner.GetNPorts(); ++index)
    {
        const auto ofPort = ObjectsOf(owner.GetPort(index));
        objects.insert(objects.end(), ofPort.begin(), ofPort.end());
    }
    if (const auto* owning = dynamic_cast<Switch*>(&owner))
    {
        objects.push_back(&owning->GetForwarding());
    }
    SetAttributeOf(objects, owner.GetName(), type, name, value);
}

void
Fabric::SetPortAttribute(uint32_t node,
                         uint32_t neighbour,
                         const std::string& type,
                         const std::string& name,
                         const std::string& value)
{
    RequireOpen("SetPortAttribute");
    Port* port = FindPort(node, neighbour);
    if (!port)
    {
        Refuse("node ", node, " has no port to node ", neighbour);
    }
    SetAttributeOf(ObjectsOf(*port), GetPortName(node, port->GetIndex()), type, name, value);
}

void
Fabric::CheckSimulator() const
{
    const std::string type = Simulator::GetImplementation()->GetInstanceTypeId().GetName();
    if (type == "ns3::DistributedSimulatorImpl" || type == "ns3::NullMessageSimulatorImpl")
    {
        RefuseNow(
            "a fabric cannot be distributed over MPI ranks: frames between them would be lost; "
            "choose a SimulatorImplementationType other than ",
            type,
            ", such as ns3::eventloop::EventLoop, and run one process");
    }
}

void
Fabric::NameParallelLinks()
{
    for (uint32_t node = 0; node < m_nodes.size(); ++node)
    {
        std::map<uint32_t, uint32_t> links; // by neighbour
        for (const Routes::Edge& edge : m_routes.GetEdges(node))
        {
            ++links[edge.peer];
        }
        for (const Routes::Edge& edge : m_routes.GetEdges(node))
        {
            if (links[edge.peer] > 1)
            {
                m_nodes[node]->GetPort(edge.port).SetNeighbour(GetNNodes() + edge.farEnd);
            }
        }
    }
}

void
Fabric::Build()
{
    RequireOpen("Build");
    CheckSimulator();
    NameParallelLinks(); // before anything refuses a port by its name
    for (const uint32_t link : m_downAtStart)
    {
        m_routes.SetLink(m_links[link].a, m_links[link].portA, false);
    }
    // Every node has a salt and a clock, every port a stream of errors, whether used or not: they
    // are the same under each setting.
    auto salts = CreateObject<UniformRandomVariable>();
    salts->SetStream(SALT_STREAM);
    uint32_t largest = 0;
    for (uint32_t node = 0; node < m_nodes.size(); ++node)
    {
        if (m_nodes[node]->GetNPorts() == 0)
        {
            Refuse("node ", m_nodes[node]->GetName(), " has no link; every node needs one");
        }
        m_routes.SetSalt(node, salts->GetInteger(0, std::numeric_limits<uint32_t>::max() - 1));
        largest = std::max(largest, m_nodes[node]->GetLargestFrame());
        if (const PacketReceiver* receiver = m_nodes[node]->GetPacketReceiver())
        {
            largest = std::max(largest, receiver->GetLargestFrame());
        }
    }
    m_routes.Compute();
    // Not a RandomVariableStream, which would take a number that those without one get in turn.
    RngStream clocks(RngSeedManager::GetSeed(), CLOCK_STREAM, RngSeedManager::GetRun());
    int64_t errors = ERROR_STREAM;
    for (const auto& node : m_nodes)
    {
        const double clock = 2 * clocks.RandU01() - 1;
        for (uint16_t port = 0; port < node->GetNPorts(); ++port)
        {
            node->GetPort(port).SetLargestFrame(largest); // before Start: headroom depends on it
            node->GetPort(port).SetClock(clock);
            node->GetPort(port).SetErrorStream(errors++);
        }
    }
    if (eventloop::CellLoop::Peek())
    {
        m_cells = AssignCells(m_nodes); // before Start, which schedules
    }
    int64_t stream = FORWARDING_STREAM;
    for (const auto& node : m_nodes)
    {
        node->Start();
    }
    for (const Switch* node : m_switches)
    {
        stream += node->GetForwarding().AssignStreams(stream);
        node->GetForwarding().Start();
    }
    for (const uint32_t link : m_downAtStart)
    {
        m_nodes[m_links[link].a]->GetPort(m_links[link].portA).SetUp(false);
        m_nodes[m_links[link].b]->GetPort(m_links[link].portB).SetUp(false);
    }
    m_built = true; // observers may ask for anything
    for (const auto& observer : m_observers)
    {
        observer->NotifyBuilt();
    }
    NS_LOG_INFO("built: " << m_nodes.size() << " nodes, " << m_links.size()
                          << " links, frames of up to " << largest << " B");
}

void
Fabric::AddNames() const
{
    for (const auto& node : m_nodes)
    {
        if (Names::Find<Object>("/Names", node->GetName()))
        {
            Refuse("ns3::Names has a ", node->GetName(), " already; rename one of the two");
        }
        Names::Add("/Names", node->GetName(), node);
    }
}

std::string
Fabric::GetPortName(uint32_t node, uint16_t port) const
{
    return m_nodes[node]->GetName() + ":" + m_nodes[node]->GetPort(port).GetNeighbourName();
}

FabricNode&
Fabric::GetNode(uint32_t node) const
{
    if (node >= m_nodes.size()) [[unlikely]]
    {
        Refuse("there is no node ", node, "; there are ", m_nodes.size(), ", counted from 0");
    }
    return *m_nodes[node];
}

uint32_t
Fabric::GetNNodes() const
{
    return static_cast<uint32_t>(m_nodes.size());
}

Port*
Fabric::FindPort(uint32_t node, uint32_t neighbour) const
{
    const Routes::Edge* edge = node < m_nodes.size() ? m_routes.FindEdge(node, neighbour) : nullptr;
    return edge ? &m_nodes[node]->GetPort(edge->port) : nullptr;
}

Routes&
Fabric::GetRoutes()
{
    return m_routes;
}

std::string
Fabric::RunInCells(std::string obstacle, std::function<bool()> isQuiet)
{
    RequireBuilt("RunInCells");
    eventloop::CellLoop* loop = eventloop::CellLoop::Peek();
    if (!loop)
    {
        return {};
    }
    if (obstacle.empty())
    {
        obstacle = FindObstacle();
    }
    // What watches needs all cells at one time, and a message within a cell takes no less.
    const int64_t window = isQuiet ? m_cells.shortest : m_cells.window;
    const bool alternates = m_cells.alternates && !isQuiet;
    loop->SetWatch(std::move(isQuiet));
    loop->SetWindow(obstacle.empty() ? window : 0, alternates);
    return obstacle;
}

std::string
Fabric::FindObstacle() const
{
    std::string obstacle = FindCellObstacle(m_nodes);
    for (auto observer = m_observers.begin(); obstacle.empty() && observer != m_observers.end();
         ++observer)
    {
        obstacle = (*observer)->GetCellObstacle();
    }
    return obstacle;
}

std::string
Fabric::FindThreadObstacle(bool watched) const
{
    if (std::string obstacle = FindObstacle(); !obstacle.empty())
    {
        return obstacle;
    }
    if (!eventloop::CellLoop::Peek())
    {
        return "the event loop is none with cells";
    }
    if (m_cells.window == 0)
    {
        return "the network is a single cell, a switch and its hosts";
    }
    return watched && m_cells.shortest == 0 ? "deadlocks are judged, and a link has no delay" : "";
}

void
Fabric::RunInThreads(uint16_t threads)
{
    // A first guess of the load of a cell: its ports. CellThreads counts events from then on.
    std::vector<uint64_t> loads(1);
    for (const auto& node : m_nodes)
    {
        loads.resize(std::max<std::size_t>(loads.size(), node->GetCell() + std::size_t{1}));
        loads[node->GetCell()] += node->GetNPorts();
    }
    const auto tellPorts = [this](const std::vector<uint16_t>& threadOf) {
        for (const auto& node : m_nodes)
        {
            const uint16_t mine = threadOf[node->GetCell()];
            for (uint16_t index = 0; index < node->GetNPorts(); ++index)
            {
                Port& port = node->GetPort(index);
                port.SetApart(threadOf[m_nodes[port.GetPeer().GetNodeId()]->GetCell()] != mine);
            }
        }
    };
    eventloop::CellLoop* loop = eventloop::CellLoop::Peek();
    loop->SetThreads(
        std::make_unique<eventloop::CellThreads>(*loop, threads, std::move(loads), tellPorts));
}

bool
Fabric::Changes() const
{
    return m_changes;
}

std::string
Fabric::Check() const
{
    RequireBuilt("Check");
    return FabricAudit(m_nodes).Check(m_allowLoss);
}

std::string
Fabric::Warn() const
{
    RequireBuilt("Warn");
    return FabricAudit(m_nodes).Warn();
}

std::string
Fabric::Finish()
{
    RequireBuilt("Finish");
    for (const auto& observer : m_observers)
    {
        observer->NotifyFinish();
    }
    return FabricAudit(m_nodes).CheckEnd(m_allowLoss);
}

void
Fabric::Report(Summary& summary) const
{
    RequireBuilt("Report");
    for (const auto& observer : m_observers)
    {
        observer->Report(summary);
    }
    FabricAudit(m_nodes).Report(summary);
}

} // namespace lossless
} // namespace ns3
