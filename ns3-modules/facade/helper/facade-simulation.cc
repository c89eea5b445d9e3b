/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "facade-simulation.h"

#include "facade-memory.h"

#include "ns3/deadlock-dependency.h"
#include "ns3/deadlock-monitor.h"
#include "ns3/global-value.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-refusal.h"
#include "ns3/lossless-switch.h"
#include "ns3/object-factory.h"
#include "ns3/observe-pcap-helper.h"
#include "ns3/observe-probe.h"
#include "ns3/rdma-host.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <unordered_map>

namespace ns3
{
namespace rdma
{

using lossless::Fabric;
using lossless::NEVER;
using lossless::NowPs;
using lossless::Refuse;
using lossless::RefuseNow;
using lossless::Summary;

namespace
{

/// Packets of a message that their 32-bit sequence numbers tell apart.
constexpr uint64_t MOST_PACKETS = 0xffff'ffff;

/// What this class has chosen in this process; all else was chosen by somebody else.
struct Chosen
{
    uint64_t run{1};     //!< RngRun; 1 is ns-3's default
    uint32_t running{0}; //!< objects built and not finished
};

Chosen g_chosen; //!< of this process

/**
 * @brief A sum of times, both from 0 on, that stops at the end of time.
 *
 * @param a ps.
 * @param b ps.
 * @return ps.
 */
int64_t
Later(int64_t a, int64_t b)
{
    return b > NEVER - a ? NEVER : a + b;
}

/**
 * @brief Refuse a time before the start.
 *
 * @param what whose time.
 * @param time ps.
 */
void
RequireTime(const std::string& what, int64_t time)
{
    if (time < 0)
    {
        Refuse(what, " cannot be at ", time, " ps: a run begins at 0 ps");
    }
}

/**
 * @brief Write a text as a JSON string.
 *
 * @param text the text.
 * @return with quotes.
 */
std::string
Json(const std::string& text)
{
    std::ostringstream out;
    out << '"';
    for (const char c : text)
    {
        switch (c)
        {
        case '"':
            out << "\\\"";
            break;
        case '\\':
            out << "\\\\";
            break;
        case '\n':
            out << "\\n";
            break;
        default:
            out << (static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
        }
    }
    out << '"';
    return out.str();
}

/**
 * @brief What a congestion control needs of the network.
 *
 * @param tid any type.
 * @return members of a JSON object; empty, or false, if it is no congestion control.
 */
std::string
DescribeNeeds(TypeId tid)
{
    Ptr<CongestionControl> control;
    if (tid.HasConstructor() && tid.IsChildOf(CongestionControl::GetTypeId()))
    {
        ObjectFactory factory;
        factory.SetTypeId(tid);
        control = factory.Create<CongestionControl>();
    }
    return "\"signaller\":" + Json(control ? control->GetSignaller() : "") +
           ",\"telemetry\":" + (control && control->WantsTelemetry() ? "true" : "false");
}

/**
 * @brief Describe one type.
 *
 * @param tid the type.
 * @return a JSON object.
 */
std::string
DescribeType(TypeId tid)
{
    std::ostringstream out;
    out << "{\"name\":" << Json(tid.GetName()) << ",\"parent\":" << Json(tid.GetParent().GetName())
        << ",\"group\":" << Json(tid.GetGroupName()) << ",\"help\":\"\""
        << ",\"abstract\":" << (tid.HasConstructor() ? "false" : "true") << ","
        << DescribeNeeds(tid) << ",\"attributes\":[";
    bool first = true;
    for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
    {
        const auto info = tid.GetAttribute(i);
        if (!(info.flags & TypeId::ATTR_SET))
        {
            continue; // a way to other objects, for paths of ns3::Config
        }
        // ns-3 spells an enumeration's type as a template; what it is an enumeration of is in
        // `allowed`.
        const std::string type = info.checker->GetValueTypeName();
        out << (std::exchange(first, false) ? "" : ",") << "{\"name\":" << Json(info.name)
            << ",\"help\":" << Json(info.help)
            << ",\"type\":" << Json(type.substr(0, type.find('<')))
            << ",\"default\":" << Json(info.initialValue->SerializeToString(info.checker))
            << ",\"allowed\":"
            << Json(info.checker->HasUnderlyingTypeInformation()
                        ? info.checker->GetUnderlyingTypeInformation()
                        : "")
            << "}";
    }
    out << "],\"traces\":[";
    for (std::size_t i = 0; i < tid.GetTraceSourceN(); ++i)
    {
        const auto info = tid.GetTraceSource(i);
        out << (i ? "," : "") << "{\"name\":" << Json(info.name) << ",\"help\":" << Json(info.help)
            << ",\"callback\":" << Json(info.callback) << "}";
    }
    out << "]}";
    return out.str();
}

} // namespace

/// Everything that needs ns-3's headers.
class Simulation::Impl
{
  public:
    using Hops = std::vector<lossless::DependencyGraph::Egress>; //!< of a flow's frames

    Impl();
    ~Impl();
    bool IsDone() const;
    void StartFlows();
    void StartFlow(uint32_t flow);
    void NotifyFinished(uint32_t flow);
    std::string CheckDependencies() const;
    void FillFlowTable();
    void ForEachPort(const uint32_t* nodes,
                     const int64_t* peers,
                     uint32_t n,
                     const std::function<void(lossless::Port&)>& visit) const;
    void RequireOpen(const char* what) const;
    void RequireBuilt(const char* what) const;
    void RequireClass(uint8_t cls) const;
    void ChooseSimulator() const;
    void CheckSimulator() const;
    QueuePair& GetFlow(uint32_t flow) const;
    Host& GetHost(uint32_t node, const char* what) const;
    int64_t IdealTime(const QueuePair& queuePair, const Hops& hops) const;
    int64_t AnswerTime(const QueuePair& queuePair) const;
    int64_t BaseRtt(const QueuePair& queuePair, const Hops& hops) const;
    int64_t TimeOf(uint32_t bytes, const Hops& hops) const;
    uint32_t GetLargestFrame() const;
    void RouteAnswers(uint32_t flow, const Hops& hops);
    bool CheckPath(uint32_t flow, const uint32_t* nodes, uint32_t n, bool answers);
    std::string DescribeCycle() const;

    /// What keeps a flow from starting.
    struct Waiting
    {
        uint32_t left{0};    //!< flows that must finish before
        int64_t earliest{0}; //!< the latest time that those finished so far allow (ps)
    };

    /// A flow that waits for another.
    struct Follower
    {
        uint32_t flow; //!< its number
        int64_t delay; //!< from the end of the other (ps)
    };

    /// How answers go.
    enum class AckRouting : uint8_t
    {
        ECMP,    ///< by a hash of their own
        REVERSE, ///< as the data frames, backwards
    };

    Ptr<Fabric> fabric;                              //!< the network
    lossless::DeadlockMonitor* deadlocks{nullptr};   //!< of the network
    lossless::Recorder* recorder{nullptr};           //!< tables of the network
    std::string simulator;                           //!< TypeId name of the event loop
    std::vector<Ptr<QueuePair>> queuePairs;          //!< by flow
    std::vector<QueuePair::Demand> demands;          //!< by flow
    std::vector<std::pair<uint32_t, uint32_t>> ends; //!< source and destination by flow
    std::vector<int64_t> idealTimes;  //!< by flow (ps), in the network as it was built; -1: none
    std::vector<int64_t> answerTimes; //!< by flow (ps), of an ACK alone; -1: none
    std::unordered_map<uint32_t, AckRouting> ackRouting; //!< by flow, where it was asked for
    std::vector<bool> answersPinned;     //!< by flow: answers have a path of their own; empty: none
    Progress progress;                   //!< of the hosts
    double finiteBytes{0};               //!< payload of all flows with an end (bytes)
    std::string congestionControl;       //!< TypeId name; empty: none
    std::vector<uint32_t> byStart;       //!< flows in the order of their starts
    std::size_t nextStart{0};            //!< next of them
    lossless::ReusableEvent<Impl> start; //!< starts it
    std::vector<Waiting> waiting;        //!< by flow; empty: no flow waits for another
    std::vector<std::vector<Follower>> followers; //!< by flow; empty: none
    Hops cycle;                      //!< of the flows' buffer dependencies; empty: none
    std::ostringstream pathProblems; //!< of SetPath
    lossless::Table flows{"flow"};   //!< result of every flow
    std::unique_ptr<lossless::FabricPcapHelper> pcaps; //!< captures, or null
    bool finished{false};                              //!< Finish was called
    std::string problems;                              //!< what it found
};

Simulation::Impl::Impl()
    : start(this, &Impl::StartFlows)
{
}

Simulation::Impl::~Impl()
{
    pcaps.reset();
    queuePairs.clear();
    Simulator::Destroy();
    fabric->Dispose();
}

void
Simulation::Impl::RequireOpen(const char* what) const
{
    if (fabric->IsBuilt())
    {
        RefuseNow(what, " came after Build: a network that is built cannot be changed");
    }
}

void
Simulation::Impl::RequireBuilt(const char* what) const
{
    if (!fabric->IsBuilt())
    {
        RefuseNow(what, " came before Build: call Build first, once everything is added");
    }
}

void
Simulation::Impl::RequireClass(uint8_t cls) const
{
    if (cls >= lossless::N_CLASSES)
    {
        Refuse("class ", +cls, " is not in 0..7");
    }
}

void
Simulation::Impl::ChooseSimulator() const
{
    const bool idle = Simulator::IsFinished() && Simulator::GetEventCount() == 0;
    if (idle && Simulator::GetImplementation()->GetInstanceTypeId().GetName() != simulator)
    {
        ObjectFactory factory(simulator);
        Simulator::Destroy(); // an idle one, which the question made
        Simulator::SetImplementation(factory.Create<SimulatorImpl>());
        // Of ns-3's schedulers the fastest; eventloop::EventLoop has its own.
        Simulator::SetScheduler(ObjectFactory("ns3::PriorityQueueScheduler"));
    }
}

void
Simulation::Impl::CheckSimulator() const
{
    if (g_chosen.running > 0)
    {
        RefuseNow(
            "another rdma::Simulation is running, and ns-3 has one clock: call its Finish, or "
            "delete it, before Build");
    }
    ChooseSimulator();
    const std::string used = Simulator::GetImplementation()->GetInstanceTypeId().GetName();
    if (used != simulator)
    {
        RefuseNow(
            "ns-3 runs ",
            used,
            " already, not ",
            simulator,
            ": something was scheduled, or a node was made, before; make the rdma::Simulation "
            "first, or choose that event loop by SetSimulator");
    }
}

QueuePair&
Simulation::Impl::GetFlow(uint32_t flow) const
{
    if (flow >= queuePairs.size())
    {
        Refuse("there is no flow ", flow, "; there are ", queuePairs.size(), ", counted from 0");
    }
    return *queuePairs[flow];
}

Host&
Simulation::Impl::GetHost(uint32_t node, const char* what) const
{
    if (node >= fabric->GetNNodes())
    {
        Refuse(what,
               " cannot be node ",
               node,
               ": there are ",
               fabric->GetNNodes(),
               ", counted from 0");
    }
    if (fabric->GetRoutes().IsSwitch(node))
    {
        Refuse(what,
               " must be a host, but node ",
               node,
               " (",
               fabric->GetNode(node).GetName(),
               ") is a switch");
    }
    return dynamic_cast<Host&>(fabric->GetNode(node));
}

bool
Simulation::Impl::IsDone() const
{
    return deadlocks->IsStopped() || progress.IsDone();
}

void
Simulation::Impl::StartFlows()
{
    const int64_t now = NowPs();
    while (nextStart < byStart.size() && demands[byStart[nextStart]].start <= now)
    {
        queuePairs[byStart[nextStart++]]->Start();
    }
    if (nextStart < byStart.size())
    {
        start.Schedule(demands[byStart[nextStart]].start - now);
    }
}

void
Simulation::Impl::StartFlow(uint32_t flow)
{
    queuePairs[flow]->Start();
}

void
Simulation::Impl::NotifyFinished(uint32_t flow)
{
    const int64_t now = NowPs();
    for (const auto& [follower, delay] : followers[flow])
    {
        Waiting& wait = waiting[follower];
        wait.earliest = std::max(wait.earliest, Later(now, delay));
        if (--wait.left == 0)
        {
            const int64_t begin = std::max(wait.earliest, demands[follower].start);
            // as an event of its own, for the receiver is still at work on the last packet
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(begin - now)),
                                &Impl::StartFlow,
                                this,
                                follower);
        }
    }
}

std::string
Simulation::Impl::CheckDependencies() const
{
    std::vector<uint32_t> left;
    std::vector<uint32_t> free;
    for (uint32_t flow = 0; flow < waiting.size(); ++flow)
    {
        left.push_back(waiting[flow].left);
        if (left.back() == 0)
        {
            free.push_back(flow);
        }
    }
    std::size_t startable = 0;
    for (; startable < free.size(); ++startable)
    {
        for (const Follower& follower : followers[free[startable]])
        {
            if (--left[follower.flow] == 0)
            {
                free.push_back(follower.flow);
            }
        }
    }
    if (startable == waiting.size())
    {
        return {};
    }
    const auto first = std::find_if(left.begin(), left.end(), [](uint32_t n) { return n > 0; });
    return "flow " + std::to_string(first - left.begin()) + " and " +
           std::to_string(waiting.size() - startable - 1) +
           " more can never start: they wait for each other in a circle\n";
}

int64_t
Simulation::Impl::IdealTime(const QueuePair& queuePair, const Hops& hops) const
{
    if (queuePair.GetDemand().bytes == 0 || hops.empty())
    {
        return -1;
    }
    // The last packet leaves hop i when it has arrived there and its predecessor, which the slowest
    // link so far spaces, has left; all packets but the last are full.
    const uint64_t packets = queuePair.GetPackets();
    const int64_t full = packets > 1 ? queuePair.GetFrameBytes(0) : 0;
    const int64_t last = queuePair.GetFrameBytes(packets - 1);
    int64_t firstFull = 0; // first packet has left this hop
    int64_t slowest = 0;   // longest transmission of a full packet so far
    int64_t time = 0;      // last packet has left this hop
    int64_t delays = 0;
    for (const auto& [node, index] : hops)
    {
        const lossless::Port& port = fabric->GetNode(node).GetPort(index);
        const int64_t overhead = port.GetOverhead();
        const int64_t latency = fabric->GetNode(node).GetPipelineLatency();
        firstFull = Later(firstFull, delays + latency);
        time = Later(time, delays + latency);
        if (packets > 1)
        {
            const int64_t full1 = lossless::TransmissionTime(full + overhead, port.GetRate());
            slowest = std::max(slowest, full1);
            firstFull = Later(firstFull, full1);
            const auto train = static_cast<lossless::Int128>(packets - 2) * slowest;
            time = std::max(time,
                            train > NEVER ? NEVER : Later(firstFull, static_cast<int64_t>(train)));
        }
        time = Later(time, lossless::TransmissionTime(last + overhead, port.GetRate()));
        delays = port.GetDelay();
    }
    return Later(time, delays + queuePair.GetDestination()->GetLatency());
}

int64_t
Simulation::Impl::AnswerTime(const QueuePair& queuePair) const
{
    const lossless::Frame ack = queuePair.GetAnswerHeader();
    const QueuePairOwner& receiver = *queuePair.GetDestination();
    const auto hops = fabric->GetRoutes().Trace(receiver.GetId(), ack);
    if (hops.empty())
    {
        return -1;
    }
    return Later(TimeOf(ack.bytes, hops),
                 receiver.GetLatency() + queuePair.GetSource()->GetLatency());
}

int64_t
Simulation::Impl::TimeOf(uint32_t bytes, const Hops& hops) const
{
    int64_t time = 0;
    for (const auto& [node, index] : hops)
    {
        const lossless::Port& port = fabric->GetNode(node).GetPort(index);
        const int64_t wire = bytes + static_cast<int64_t>(port.GetOverhead());
        time = Later(time,
                     fabric->GetNode(node).GetPipelineLatency() + port.GetDelay() +
                         lossless::TransmissionTime(wire, port.GetRate()));
    }
    return time;
}

int64_t
Simulation::Impl::BaseRtt(const QueuePair& queuePair, const Hops& hops) const
{
    const int64_t back = answerTimes[queuePair.GetFlow()];
    if (hops.empty() || back < 0)
    {
        return 0;
    }
    const int64_t there = TimeOf(queuePair.GetFrameBytes(0), hops);
    return Later(Later(there, queuePair.GetDestination()->GetLatency()), back);
}

uint32_t
Simulation::Impl::GetLargestFrame() const
{
    const bool collects = !congestionControl.empty() &&
                          fabric->Make<CongestionControl>(congestionControl)->WantsTelemetry();
    return fabric->Make<QueuePair>("ns3::rdma::QueuePair")->GetLargestFrame(collects);
}

void
Simulation::Impl::RouteAnswers(uint32_t flow, const Hops& hops)
{
    lossless::Routes& routes = fabric->GetRoutes();
    const auto routing = ackRouting.find(flow);
    const bool own = flow < answersPinned.size() && answersPinned[flow];
    if (!own && routing != ackRouting.end())
    {
        routes.FreeAnswers(flow);
        if (routing->second == AckRouting::REVERSE && !hops.empty())
        {
            std::vector<uint32_t> path{ends[flow].second};
            for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop)
            {
                path.push_back(hop->first);
            }
            pathProblems << routes.PinAnswers(flow, path);
        }
    }
    queuePairs[flow]->SetAnswersPinned(routes.AreAnswersPinned(flow));
}

std::string
Simulation::Impl::DescribeCycle() const
{
    if (cycle.empty())
    {
        return {};
    }
    std::ostringstream text;
    text << "cyclic buffer dependency of the flows:";
    for (const auto& [node, port] : cycle)
    {
        text << " " << fabric->GetPortName(node, port);
    }
    text << "\n";
    return text.str();
}

Simulation::Simulation(uint64_t seed)
{
    if (seed == 0)
    {
        Refuse("the seed of a run cannot be 0; seeds are from 1");
    }
    const uint64_t run = RngSeedManager::GetRun();
    if (RngSeedManager::GetSeed() != 1 || (run != g_chosen.run && run != seed))
    {
        RefuseNow("somebody else chose RngSeed ",
                  RngSeedManager::GetSeed(),
                  " and RngRun ",
                  run,
                  " before rdma::Simulation(",
                  seed,
                  "); leave RngSeed 1 and pass RngSeedManager::GetRun() as the seed");
    }
    lossless::UsePicoseconds();
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    g_chosen.run = seed;
    m_impl = std::make_unique<Impl>();
    m_impl->fabric = CreateObject<Fabric>();
    m_impl->deadlocks =
        &m_impl->fabric->AddObserver(std::make_unique<lossless::DeadlockMonitor>(*m_impl->fabric));
    m_impl->recorder =
        &m_impl->fabric->AddObserver(std::make_unique<lossless::Recorder>(*m_impl->fabric));
    StringValue chosen;
    GlobalValue::GetValueByName("SimulatorImplementationType", chosen);
    const bool byDefault = chosen.Get() == "ns3::DefaultSimulatorImpl";
    m_impl->simulator = byDefault ? "ns3::eventloop::EventLoop" : chosen.Get();
    if (byDefault)
    {
        m_impl->ChooseSimulator();
    }
}

Simulation::~Simulation()
{
    g_chosen.running -= m_impl->fabric->IsBuilt() && !m_impl->finished;
}

void
Simulation::SetSimulator(const std::string& typeId)
{
    m_impl->RequireOpen("SetSimulator");
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(typeId, &tid) ||
        !tid.IsChildOf(TypeId::LookupByName("ns3::SimulatorImpl")))
    {
        Refuse("there is no event loop '", typeId, "'");
    }
    m_impl->simulator = typeId;
    m_impl->ChooseSimulator();
}

std::string
Simulation::Describe(const std::string& groups)
{
    std::vector<std::string> wanted;
    std::istringstream list(groups);
    for (std::string group; std::getline(list, group, ',');)
    {
        wanted.push_back(group);
    }
    // By name, so that the text does not depend on the order in which libraries were loaded.
    std::vector<std::pair<std::string, TypeId>> types;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        if (std::find(wanted.begin(), wanted.end(), tid.GetGroupName()) != wanted.end())
        {
            types.emplace_back(tid.GetName(), tid);
        }
    }
    std::sort(types.begin(), types.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    std::string out = "[";
    for (const auto& [name, tid] : types)
    {
        if (out.size() > 1)
        {
            out.push_back(',');
        }
        out += DescribeType(tid);
    }
    out.push_back(']');
    return out;
}

void
Simulation::SetAttribute(const std::string& typeId,
                         const std::string& name,
                         const std::string& value)
{
    m_impl->fabric->SetAttribute(typeId, name, value);
}

void
Simulation::AddFlowControl(const std::string& typeId)
{
    m_impl->fabric->AddFlowControl(typeId);
}

void
Simulation::AddAgent(const std::string& typeId)
{
    m_impl->fabric->AddAgent(typeId);
}

void
Simulation::AddHostAgent(const std::string& typeId)
{
    m_impl->fabric->AddHostAgent(typeId);
}

void
Simulation::SetBufferPolicy(const std::string& typeId)
{
    m_impl->fabric->SetBufferPolicy(typeId);
}

void
Simulation::SetCongestionControl(const std::string& typeId)
{
    m_impl->RequireOpen("SetCongestionControl");
    TypeId tid;
    if (!typeId.empty() &&
        (!TypeId::LookupByNameFailSafe(typeId, &tid) ||
         !tid.IsChildOf(CongestionControl::GetTypeId()) || !tid.HasConstructor()))
    {
        Refuse("'", typeId, "' is not a congestion control of a module that is loaded");
    }
    m_impl->congestionControl = typeId;
}

void
Simulation::SetForwarding(const std::string& typeId)
{
    m_impl->fabric->SetForwarding(typeId);
}

void
Simulation::SetAllowLoss(bool allow)
{
    m_impl->fabric->SetAllowLoss(allow);
}

void
Simulation::SetDeadlockTest(int64_t period, bool stop)
{
    m_impl->deadlocks->SetTest(PicoSeconds(period), stop);
}

void
Simulation::SetStopWhenDone(bool stop, bool acknowledged)
{
    m_impl->progress.stopWhenDone = stop;
    m_impl->progress.untilAcked = acknowledged;
}

void
Simulation::AddNodes(const uint8_t* kinds, const std::string& names, uint32_t n)
{
    m_impl->RequireOpen("AddNodes");
    if (n > 0 && static_cast<uint64_t>(std::count(names.begin(), names.end(), '\n')) + 1 < n)
    {
        Refuse("AddNodes was given ",
               std::count(names.begin(), names.end(), '\n') + 1,
               " names for ",
               n,
               " nodes; names are joined by newlines");
    }
    std::istringstream list(names);
    for (uint32_t i = 0; i < n; ++i)
    {
        std::string name;
        std::getline(list, name);
        if (kinds[i] > 1)
        {
            Refuse("node ",
                   name,
                   " cannot be of the kind ",
                   +kinds[i],
                   "; 0 is a host, 1 a switch");
        }
        if (kinds[i] == 1)
        {
            m_impl->fabric->AddSwitch(name);
            continue;
        }
        auto host = m_impl->fabric->Make<Host>("ns3::rdma::Host");
        host->SetShared(&m_impl->queuePairs, &m_impl->progress);
        m_impl->fabric->AddHost(name, host);
    }
}

void
Simulation::AddLinks(const uint32_t* a,
                     const uint32_t* b,
                     const uint64_t* rates,
                     const int64_t* delays,
                     uint32_t n)
{
    constexpr std::size_t BYTES_A_PORT = 8192; // with its share of the node and the frames
    lossless::PreferLargePages(2 * BYTES_A_PORT * n);
    for (uint32_t i = 0; i < n; ++i)
    {
        m_impl->fabric->AddLink(a[i],
                                b[i],
                                DataRate(rates[i]),
                                TimeStep(static_cast<uint64_t>(delays[i])));
    }
}

void
Simulation::SetNodeAttribute(uint32_t node,
                             const std::string& typeId,
                             const std::string& name,
                             const std::string& value)
{
    m_impl->fabric->SetNodeAttribute(node, typeId, name, value);
}

void
Simulation::FailLink(uint32_t link, int64_t down, int64_t up)
{
    m_impl->fabric->FailLink(link, Time::From(down, Time::PS), Time::From(up, Time::PS));
}

void
Simulation::DivertRoute(uint32_t node, uint32_t dst, uint32_t neighbour, int64_t at, int64_t until)
{
    m_impl->fabric->DivertRoute(node,
                                dst,
                                neighbour,
                                Time::From(at, Time::PS),
                                Time::From(until, Time::PS));
}

uint32_t
Simulation::AddFlows(const uint32_t* src,
                     const uint32_t* dst,
                     const uint64_t* sizes,
                     const int64_t* starts,
                     const int64_t* stops,
                     const uint8_t* classes,
                     const uint64_t* rates,
                     const uint64_t* windows,
                     uint32_t n)
{
    m_impl->RequireOpen("AddFlows");
    const auto first = static_cast<uint32_t>(m_impl->demands.size());
    for (uint32_t i = 0; i < n; ++i)
    {
        m_impl->GetHost(src[i], "the source of a flow");
        m_impl->GetHost(dst[i], "the destination of a flow");
        if (src[i] == dst[i])
        {
            Refuse("flow ", first + i, " has the same source and destination");
        }
        m_impl->RequireClass(classes[i]);
        RequireTime("the start of flow " + std::to_string(first + i), starts[i]);
        QueuePair::Demand demand;
        demand.bytes = sizes[i];
        demand.start = starts[i];
        demand.stop = stops[i] < 0 ? NEVER : stops[i];
        demand.rate = rates[i];
        demand.window = windows[i];
        demand.cls = classes[i];
        m_impl->demands.push_back(demand);
        m_impl->ends.emplace_back(src[i], dst[i]);
        m_impl->queuePairs.push_back(m_impl->fabric->Make<QueuePair>("ns3::rdma::QueuePair"));
        m_impl->progress.finite += sizes[i] > 0;
        m_impl->finiteBytes += static_cast<double>(sizes[i]);
    }
    return first;
}

uint32_t
Simulation::AddFlow(uint32_t src, uint32_t dst, uint8_t cls)
{
    const uint64_t none = 0;
    const int64_t start = 0;
    const int64_t never = -1;
    return AddFlows(&src, &dst, &none, &start, &never, &cls, &none, &none, 1);
}

void
Simulation::AddDependencies(const uint32_t* flows,
                            const uint32_t* after,
                            const int64_t* delays,
                            uint32_t n)
{
    m_impl->RequireOpen("AddDependencies");
    m_impl->waiting.resize(m_impl->demands.size());
    m_impl->followers.resize(m_impl->demands.size());
    m_impl->progress.whenFinished = MakeCallback(&Impl::NotifyFinished, m_impl.get());
    for (uint32_t i = 0; i < n; ++i)
    {
        m_impl->GetFlow(flows[i]);
        m_impl->GetFlow(after[i]);
        if (m_impl->demands[after[i]].bytes == 0)
        {
            Refuse("flow ", flows[i], " waits for flow ", after[i], ", which has no end");
        }
        if (delays[i] < 0)
        {
            Refuse("flow ",
                   flows[i],
                   " cannot start ",
                   delays[i],
                   " ps after flow ",
                   after[i],
                   " ends");
        }
        ++m_impl->waiting[flows[i]].left;
        m_impl->followers[after[i]].push_back({flows[i], delays[i]});
    }
}

void
Simulation::SetOnOff(uint32_t flow, int64_t on, int64_t off)
{
    m_impl->RequireOpen("SetOnOff");
    m_impl->GetFlow(flow);
    if (on < 0 || off < 0)
    {
        Refuse("flow ",
               flow,
               " cannot send for ",
               on,
               " ps and be silent for ",
               off,
               " ps; both are from 0 ps, and 0 ps of sending means always");
    }
    m_impl->demands[flow].on = on;
    m_impl->demands[flow].off = std::min(off, NEVER - on);
}

void
Simulation::SetPath(uint32_t flow, const uint32_t* nodes, uint32_t n)
{
    SetPaths(&flow, &n, nodes, 1);
}

void
Simulation::SetPaths(const uint32_t* flows,
                     const uint32_t* lengths,
                     const uint32_t* nodes,
                     uint32_t n)
{
    m_impl->RequireOpen("SetPaths");
    for (uint32_t i = 0; i < n; nodes += lengths[i], ++i)
    {
        if (m_impl->CheckPath(flows[i], nodes, lengths[i], false))
        {
            m_impl->pathProblems << m_impl->fabric->GetRoutes().Pin(flows[i],
                                                                    {nodes, nodes + lengths[i]});
        }
    }
}

void
Simulation::SetAckPaths(const uint32_t* flows,
                        const uint32_t* lengths,
                        const uint32_t* nodes,
                        uint32_t n)
{
    m_impl->RequireOpen("SetAckPaths");
    m_impl->answersPinned.resize(m_impl->ends.size());
    for (uint32_t i = 0; i < n; nodes += lengths[i], ++i)
    {
        if (m_impl->CheckPath(flows[i], nodes, lengths[i], true))
        {
            m_impl->answersPinned[flows[i]] = true;
            m_impl->pathProblems << m_impl->fabric->GetRoutes().PinAnswers(
                flows[i],
                {nodes, nodes + lengths[i]});
        }
    }
}

bool
Simulation::Impl::CheckPath(uint32_t flow, const uint32_t* nodes, uint32_t n, bool answers)
{
    GetFlow(flow);
    const auto stray = std::find_if(nodes, nodes + n, [this](uint32_t node) {
        return node >= fabric->GetNNodes();
    });
    if (stray != nodes + n)
    {
        Refuse("the path of flow ",
               flow,
               " names node ",
               *stray,
               "; there are ",
               fabric->GetNNodes(),
               ", counted from 0");
    }
    const auto [src, dst] = ends[flow];
    const bool leads =
        n >= 3 && nodes[0] == (answers ? dst : src) && nodes[n - 1] == (answers ? src : dst);
    if (!leads)
    {
        pathProblems << "path of flow " << flow
                     << ": it must lead from its source to its destination"
                     << (answers ? ", and that of its ACKs back\n" : "\n");
    }
    return leads;
}

void
Simulation::SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n)
{
    m_impl->RequireOpen("SetAckRouting");
    for (uint32_t i = 0; i < n; ++i)
    {
        m_impl->GetFlow(flows[i]);
        m_impl->ackRouting[flows[i]] =
            reverse[i] ? Impl::AckRouting::REVERSE : Impl::AckRouting::ECMP;
    }
}

void
Simulation::SetReceiveRate(uint32_t host, uint64_t rate, int64_t start)
{
    m_impl->RequireOpen("SetReceiveRate");
    Host& node = m_impl->GetHost(host, "a slow receiver");
    RequireTime("the start of a slow receiver", start);
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(start)), &Host::SetReceiveRate, &node, rate);
}

void
Simulation::AddPauseStorm(uint32_t host, uint8_t cls, int64_t start, int64_t stop)
{
    Host& node = m_impl->GetHost(host, "the source of a pause storm");
    m_impl->RequireOpen("AddPauseStorm");
    m_impl->RequireClass(cls);
    RequireTime("the start of a pause storm", start);
    if (stop >= 0 && stop <= start)
    {
        Refuse("a pause storm must stop after its start; it would stop at ",
               stop,
               " ps and start at ",
               start,
               " ps");
    }
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(start)),
                        &Host::SetPauseStorm,
                        &node,
                        cls,
                        true,
                        stop < 0);
    if (stop >= 0)
    {
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(stop)),
                            &Host::SetPauseStorm,
                            &node,
                            cls,
                            false,
                            false);
    }
}

Fabric&
Simulation::GetFabric() const
{
    return *m_impl->fabric;
}

void
Simulation::Build()
{
    m_impl->RequireOpen("Build");
    m_impl->CheckSimulator();
    const uint32_t largest = m_impl->GetLargestFrame();
    for (uint32_t node = 0; node < m_impl->fabric->GetNNodes(); ++node)
    {
        if (!m_impl->fabric->GetRoutes().IsSwitch(node))
        {
            m_impl->GetHost(node, "host").SetLargestFrame(largest);
        }
    }
    m_impl->fabric->Build();
    ++g_chosen.running;
    if (!m_impl->waiting.empty())
    {
        m_impl->waiting.resize(m_impl->demands.size());
        m_impl->followers.resize(m_impl->demands.size());
    }
    lossless::DependencyGraph dependencies;
    std::set<std::pair<uint32_t, uint32_t>> pairs; // whose ways are all in it
    for (uint32_t flow = 0; flow < m_impl->queuePairs.size(); ++flow)
    {
        const auto [src, dst] = m_impl->ends[flow];
        Ptr<CongestionControl> control;
        if (!m_impl->congestionControl.empty())
        {
            control = m_impl->fabric->Make<CongestionControl>(m_impl->congestionControl);
        }
        m_impl->queuePairs[flow]->Connect(flow,
                                          &m_impl->GetHost(src, "source"),
                                          &m_impl->GetHost(dst, "destination"),
                                          m_impl->demands[flow],
                                          control,
                                          m_impl->fabric->GetRoutes().IsPinned(flow));
        const QueuePair& queuePair = *m_impl->queuePairs[flow];
        const auto hops = m_impl->fabric->GetRoutes().Trace(src, queuePair.GetHeader());
        if (m_impl->fabric->IsHashed() || m_impl->fabric->GetRoutes().IsPinned(flow))
        {
            dependencies.Add(hops);
        }
        else if (!hops.empty() && pairs.emplace(src, dst).second)
        {
            dependencies.Add(m_impl->fabric->GetRoutes(), src, queuePair.GetHeader());
        }
        m_impl->idealTimes.push_back(m_impl->IdealTime(queuePair, hops));
        m_impl->RouteAnswers(flow, hops);
        m_impl->answerTimes.push_back(m_impl->AnswerTime(queuePair));
        if (control)
        {
            m_impl->queuePairs[flow]->SetPath(m_impl->BaseRtt(queuePair, hops),
                                              static_cast<uint32_t>(hops.size()) - !hops.empty());
        }
        if (m_impl->waiting.empty() || !m_impl->waiting[flow].left)
        {
            m_impl->byStart.push_back(flow);
        }
    }
    m_impl->cycle = dependencies.FindCycle();
    std::stable_sort(m_impl->byStart.begin(),
                     m_impl->byStart.end(),
                     [this](uint32_t a, uint32_t b) {
                         return m_impl->demands[a].start < m_impl->demands[b].start;
                     });
    for (uint32_t node = 0; node < m_impl->fabric->GetNNodes(); ++node)
    {
        if (!m_impl->fabric->GetRoutes().IsSwitch(node))
        {
            m_impl->GetHost(node, "host").ConnectSource();
        }
    }
    if (!m_impl->byStart.empty())
    {
        m_impl->start.Schedule(m_impl->demands[m_impl->byStart.front()].start);
    }
}

std::string
Simulation::Check() const
{
    m_impl->RequireBuilt("Check");
    std::string problems = m_impl->pathProblems.str() + m_impl->CheckDependencies();
    problems += m_impl->fabric->Check();
    for (const auto& queuePair : m_impl->queuePairs)
    {
        const uint64_t bytes = queuePair->GetDemand().bytes;
        if (bytes > 0 && queuePair->GetPackets() > MOST_PACKETS)
        {
            problems += "flow " + std::to_string(queuePair->GetFlow()) + ": " +
                        std::to_string(bytes) + " B are " +
                        std::to_string(queuePair->GetPackets()) + " packets; allowed: up to " +
                        std::to_string(MOST_PACKETS) +
                        ", as their sequence numbers have 32 bits; send less, raise PayloadSize, "
                        "or say 0 B: without end\n";
        }
        if (queuePair->GetTelemetryHops() && queuePair->GetHops() > queuePair->GetTelemetryHops())
        {
            problems += "flow " + std::to_string(queuePair->GetFlow()) + ": its path has " +
                        std::to_string(queuePair->GetHops()) +
                        " switches, but its frames have room for the telemetry of " +
                        std::to_string(queuePair->GetTelemetryHops()) +
                        "; raise TelemetryHops of ns3::rdma::QueuePair, at most " +
                        std::to_string(lossless::MOST_TELEMETRY_HOPS) + ", or shorten the path\n";
        }
        const auto& routes = m_impl->fabric->GetRoutes();
        // a route that was made to lead astray may be meant to lead in a loop
        if (!routes.IsDiverted(queuePair->GetDestination()->GetId()) &&
            routes.Trace(queuePair->GetSource()->GetId(), queuePair->GetHeader()).empty())
        {
            problems += "flow " + std::to_string(queuePair->GetFlow()) + ": no way leads from " +
                        queuePair->GetSource()->GetName() + " to " +
                        queuePair->GetDestination()->GetName() + "\n";
        }
        else if (routes.AreAnswersPinned(queuePair->GetFlow()) &&
                 m_impl->answerTimes[queuePair->GetFlow()] < 0)
        {
            problems += "flow " + std::to_string(queuePair->GetFlow()) +
                        ": the path of its ACKs leads into a link that is down\n";
        }
    }
    if (!m_impl->queuePairs.empty() && m_impl->queuePairs.front()->GetCongestionControl())
    {
        problems += m_impl->queuePairs.front()->GetCongestionControl()->Check();
    }
    return problems;
}

std::string
Simulation::Warnings() const
{
    m_impl->RequireBuilt("Warnings");
    std::string warnings = m_impl->fabric->Warn();
    const auto& queuePairs = m_impl->queuePairs;
    for (uint32_t node = 0; node < m_impl->fabric->GetNNodes(); ++node)
    {
        if (!queuePairs.empty() && queuePairs.front()->GetCongestionControl() &&
            m_impl->fabric->GetRoutes().IsSwitch(node))
        {
            warnings += queuePairs.front()->GetCongestionControl()->Warn(
                m_impl->fabric->GetNode(node).GetAgents());
            break; // all switches have the same agents
        }
    }
    return warnings;
}

void
Simulation::Trace(const std::string& table,
                  const uint32_t* nodes,
                  const int64_t* peers,
                  uint32_t n,
                  uint32_t classMask,
                  int64_t period)
{
    if (period < 0)
    {
        Refuse("table '", table, "' cannot have a period of ", period, " ps; 0: on every change");
    }
    if (m_impl->finished)
    {
        RefuseNow("Trace came after Finish: the results are complete");
    }
    m_impl->ForEachPort(nodes, peers, n, [&](lossless::Port& port) {
        m_impl->recorder->Trace(table, port, classMask, PicoSeconds(period));
    });
}

void
Simulation::Impl::ForEachPort(const uint32_t* nodes,
                              const int64_t* peers,
                              uint32_t n,
                              const std::function<void(lossless::Port&)>& visit) const
{
    const auto visitNode = [&](uint32_t node) {
        for (uint16_t port = 0; port < fabric->GetNode(node).GetNPorts(); ++port)
        {
            visit(fabric->GetNode(node).GetPort(port));
        }
    };
    for (uint32_t i = 0; i < n; ++i)
    {
        if (peers[i] < 0)
        {
            visitNode(nodes[i]);
            continue;
        }
        lossless::Port* port = nodes[i] < fabric->GetNNodes()
                                   ? fabric->FindPort(nodes[i], static_cast<uint32_t>(peers[i]))
                                   : nullptr;
        if (!port)
        {
            Refuse("no link joins nodes ", nodes[i], " and ", peers[i]);
        }
        visit(*port);
    }
    for (uint32_t node = 0; n == 0 && node < fabric->GetNNodes(); ++node)
    {
        visitNode(node);
    }
}

std::string
Simulation::TracePcap(const uint32_t* nodes,
                      const int64_t* peers,
                      uint32_t n,
                      const std::string& folder)
{
    m_impl->RequireBuilt("TracePcap");
    if (!m_impl->pcaps)
    {
        m_impl->pcaps = std::make_unique<lossless::FabricPcapHelper>(*m_impl->fabric);
    }
    std::string problems;
    m_impl->ForEachPort(nodes, peers, n, [&](lossless::Port& port) {
        if (!m_impl->pcaps->EnablePcap(folder + "/", port))
        {
            problems += m_impl->pcaps->GetTaps().back()->GetFile() + ": cannot be written\n";
        }
    });
    return problems;
}

std::string
Simulation::GetPcaps() const
{
    std::ostringstream text;
    if (m_impl->pcaps)
    {
        for (const auto& tap : m_impl->pcaps->GetTaps())
        {
            text << tap->GetFile() << "\t" << tap->GetFrames() << "\t" << tap->GetCutFrames()
                 << "\n";
        }
    }
    return text.str();
}

std::string
Simulation::Notes() const
{
    m_impl->RequireBuilt("Notes");
    return m_impl->DescribeCycle() + m_impl->deadlocks->Describe();
}

bool
Simulation::Run(int64_t until)
{
    m_impl->RequireBuilt("Run");
    if (m_impl->finished)
    {
        RefuseNow("Run came after Finish: the results are complete");
    }
    RequireTime("the end of a run", until);
    const int64_t now = NowPs();
    if (!m_impl->IsDone() && until > now)
    {
        Simulator::Stop(TimeStep(static_cast<uint64_t>(until - now)));
        Simulator::Run();
    }
    return !m_impl->IsDone();
}

int64_t
Simulation::Now() const
{
    return NowPs();
}

uint64_t
Simulation::GetEventCount() const
{
    return Simulator::GetEventCount();
}

uint64_t
Simulation::GetFinishedFlows() const
{
    return m_impl->progress.finished;
}

double
Simulation::GetDeliveredShare() const
{
    const auto delivered = static_cast<double>(m_impl->progress.delivered);
    return m_impl->finiteBytes > 0 ? delivered / m_impl->finiteBytes : 1.0;
}

void
Simulation::Impl::FillFlowTable()
{
    auto* number = flows.Add<uint32_t>("flow");
    auto* src = flows.Add<uint32_t>("src");
    auto* dst = flows.Add<uint32_t>("dst");
    auto* cls = flows.Add<uint8_t>("class");
    auto* size = flows.Add<int64_t>("size_bytes");
    auto* begin = flows.Add<int64_t>("start_ps");
    auto* finish = flows.Add<int64_t>("finish_ps");
    auto* ideal = flows.Add<int64_t>("ideal_ps");
    auto* delivered = flows.Add<int64_t>("delivered_bytes");
    auto* sent = flows.Add<int64_t>("sent_bytes");
    auto* retransmitted = flows.Add<int64_t>("retransmitted_bytes");
    auto* acked = flows.Add<int64_t>("acked_ps");
    auto* idealAcked = flows.Add<int64_t>("ideal_acked_ps");
    auto* reordered = flows.Add<int64_t>("reordered");
    auto* distance = flows.Add<int64_t>("reorder_distance");
    for (const auto& queuePair : queuePairs)
    {
        const auto& demand = queuePair->GetDemand();
        const auto& outcome = queuePair->GetOutcome();
        number->push_back(queuePair->GetFlow());
        src->push_back(queuePair->GetSource()->GetId());
        dst->push_back(queuePair->GetDestination()->GetId());
        cls->push_back(demand.cls);
        size->push_back(static_cast<int64_t>(demand.bytes));
        begin->push_back(queuePair->IsStarted() ? demand.start : -1);
        finish->push_back(outcome.finish);
        ideal->push_back(idealTimes[queuePair->GetFlow()]);
        delivered->push_back(static_cast<int64_t>(outcome.delivered));
        sent->push_back(static_cast<int64_t>(outcome.sent));
        retransmitted->push_back(static_cast<int64_t>(outcome.retransmitted));
        acked->push_back(outcome.acked);
        const int64_t there = ideal->back();
        const int64_t back = answerTimes[queuePair->GetFlow()];
        reordered->push_back(static_cast<int64_t>(outcome.reordered));
        distance->push_back(static_cast<int64_t>(outcome.reorderDistance));
        idealAcked->push_back(there < 0 || back < 0 ? -1 : Later(there, back));
    }
}

std::string
Simulation::Finish()
{
    m_impl->RequireBuilt("Finish");
    if (!m_impl->finished)
    {
        m_impl->finished = true;
        --g_chosen.running;
        m_impl->FillFlowTable();
        m_impl->problems = m_impl->fabric->Finish();
        if (m_impl->pcaps)
        {
            m_impl->problems += m_impl->pcaps->Close();
        }
    }
    return m_impl->problems;
}

std::vector<std::pair<std::string, double>>
Simulation::GetSummary() const
{
    m_impl->RequireBuilt("GetSummary");
    Summary summary;
    m_impl->fabric->Report(summary);
    const auto& progress = m_impl->progress;
    summary["flow_cycle_egresses"] = static_cast<double>(m_impl->cycle.size());
    summary["flows_total"] = static_cast<double>(m_impl->queuePairs.size());
    summary["flows_finite"] = static_cast<double>(progress.finite);
    summary["flows_finished"] = static_cast<double>(progress.finished);
    summary["flows_unfinished"] = static_cast<double>(progress.finite - progress.finished);
    summary["last_delivery_ps"] = static_cast<double>(progress.lastDelivery);
    summary["end_ps"] = static_cast<double>(NowPs());
    summary["events"] = static_cast<double>(Simulator::GetEventCount());
    for (const auto& queuePair : m_impl->queuePairs)
    {
        const auto& outcome = queuePair->GetOutcome();
        summary["delivered_bytes"] += static_cast<double>(outcome.delivered);
        summary["sent_bytes"] += static_cast<double>(outcome.sent);
        summary["retransmitted_bytes"] += static_cast<double>(outcome.retransmitted);
        summary["timeouts"] += static_cast<double>(outcome.timeouts);
        summary["nacks"] += static_cast<double>(outcome.nacks);
        summary["cnps_sent"] += static_cast<double>(outcome.cnpsSent);
        summary["cnps_received"] += static_cast<double>(outcome.cnps);
        summary["reordered_frames"] += static_cast<double>(outcome.reordered);
        double& distance = summary["reorder_distance"];
        distance = std::max(distance, static_cast<double>(outcome.reorderDistance));
        if (queuePair->GetCongestionControl())
        {
            queuePair->GetCongestionControl()->Report(summary);
        }
    }
    return {summary.begin(), summary.end()};
}

double
Simulation::GetNumber(const std::string& name) const
{
    for (const auto& [known, value] : GetSummary())
    {
        if (known == name)
        {
            return value;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

uint64_t
Simulation::GetDeliveredBytes(uint32_t flow) const
{
    return m_impl->GetFlow(flow).GetOutcome().delivered;
}

uint32_t
Simulation::GetNTables() const
{
    return static_cast<uint32_t>(m_impl->recorder->GetTables().size() + 1);
}

namespace
{

/**
 * @brief A table by number; 0 is the flows.
 *
 * @param flows table 0.
 * @param recorder holds the others.
 * @param table number.
 * @return it.
 */
const lossless::Table&
TableAt(const lossless::Table& flows, const lossless::Recorder& recorder, uint32_t table)
{
    const auto& others = recorder.GetTables();
    if (table > others.size())
    {
        Refuse("there is no table ", table, "; there are ", others.size() + 1, ", counted from 0");
    }
    return table == 0 ? flows : *others[table - 1];
}

/**
 * @brief A column by number.
 *
 * @param table of which.
 * @param column number.
 * @return it.
 */
const lossless::Table::AnyColumn&
ColumnAt(const lossless::Table& table, uint32_t column)
{
    const auto& columns = table.GetColumns();
    if (column >= columns.size())
    {
        Refuse("table '",
               table.GetName(),
               "' has no column ",
               column,
               "; it has ",
               columns.size(),
               ", counted from 0");
    }
    return *columns[column];
}

} // namespace

std::string
Simulation::GetTableName(uint32_t table) const
{
    return TableAt(m_impl->flows, *m_impl->recorder, table).GetName();
}

uint32_t
Simulation::GetNColumns(uint32_t table) const
{
    return static_cast<uint32_t>(
        TableAt(m_impl->flows, *m_impl->recorder, table).GetColumns().size());
}

std::string
Simulation::GetColumnName(uint32_t table, uint32_t column) const
{
    return ColumnAt(TableAt(m_impl->flows, *m_impl->recorder, table), column).m_name;
}

std::string
Simulation::GetColumnType(uint32_t table, uint32_t column) const
{
    return ColumnAt(TableAt(m_impl->flows, *m_impl->recorder, table), column).m_type;
}

uintptr_t
Simulation::GetColumnData(uint32_t table, uint32_t column) const
{
    return reinterpret_cast<uintptr_t>(
        ColumnAt(TableAt(m_impl->flows, *m_impl->recorder, table), column).GetData());
}

uint64_t
Simulation::GetNRows(uint32_t table) const
{
    return TableAt(m_impl->flows, *m_impl->recorder, table).GetRows();
}

} // namespace rdma
} // namespace ns3
