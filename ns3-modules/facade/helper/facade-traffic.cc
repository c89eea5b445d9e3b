/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-traffic.h"

#include "facade-arguments.h"
#include "facade-frame-limits.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"
#include "ns3/string.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace ns3
{
namespace facade
{

using rdma::CongestionControl;
using rdma::Host;
using rdma::QueuePair;

using lossless::NEVER;
using lossless::Refuse;
using lossless::Summary;

namespace
{

/// Maximum number of packets of a message: their sequence numbers have 32 bits.
constexpr uint64_t MOST_PACKETS = 0xffff'ffff;

/// Buffer dependencies of the paths that frames may take.
class PathDependencies
{
  public:
    /// Constructor.
    /// @param fabric the network; outlives this.
    explicit PathDependencies(lossless::Fabric& fabric)
        : m_fabric(fabric)
    {
    }

    /// Add the paths of a flow or of its answers.
    /// @param from source. @param to destination. @param header of its frames.
    /// @param hops path of such a frame; empty: there is none.
    void Add(uint32_t from, uint32_t to, const lossless::Frame& header, const PathTimes::Hops& hops)
    {
        if (m_fabric.IsHashed() || header.pinned)
        {
            m_graph.Add(hops);
        }
        else if (!hops.empty() && m_pairs.emplace(from, to).second)
        {
            m_graph.Add(m_fabric.GetRoutes(), from, header);
        }
    }

    /// @return a shortest cycle; empty: there is none.
    PathTimes::Hops FindCycle() const
    {
        return m_graph.FindCycle();
    }

  private:
    lossless::Fabric& m_fabric;                      //!< the network
    deadlock::DependencyGraph m_graph;               //!< the dependencies
    std::set<std::pair<uint32_t, uint32_t>> m_pairs; //!< whose paths are all included
};

} // namespace

Traffic::Traffic(lossless::Fabric& fabric)
    : m_fabric(fabric),
      m_machines(fabric),
      m_schedule(m_queuePairs),
      m_paths(fabric, m_ends)
{
}

void
Traffic::SetCongestionControl(const std::string& typeId)
{
    TypeId tid;
    if (!typeId.empty() &&
        (!TypeId::LookupByNameFailSafe(typeId, &tid) ||
         !tid.IsChildOf(CongestionControl::GetTypeId()) || !tid.HasConstructor()))
    {
        Refuse("'", typeId, "' is not a congestion control of a module that is loaded");
    }
    m_congestionControl = typeId;
}

void
Traffic::SetStopWhenDone(bool stop, bool acknowledged)
{
    m_progress.stopWhenDone = stop;
    m_progress.untilAcked = acknowledged;
}

Ptr<Host>
Traffic::MakeHost()
{
    auto host = m_fabric.Make<Host>("ns3::rdma::Host");
    host->SetShared(&m_queuePairs, &m_progress);
    return host;
}

uint32_t
Traffic::AddFlows(const uint32_t* src,
                  const uint32_t* dst,
                  const uint64_t* sizes,
                  const int64_t* starts,
                  const int64_t* stops,
                  const uint8_t* classes,
                  const uint64_t* rates,
                  const uint64_t* windows,
                  uint32_t n)
{
    const auto first = static_cast<uint32_t>(m_demands.size());
    for (uint32_t i = 0; i < n; ++i)
    {
        RequireHost(m_fabric, src[i], "the source of a flow");
        RequireHost(m_fabric, dst[i], "the destination of a flow");
        if (src[i] == dst[i])
        {
            Refuse("flow ", first + i, " has the same source and destination");
        }
        RequireClass(classes[i]);
        RequireTime("the start of flow " + std::to_string(first + i), starts[i]);
        QueuePair::Demand demand;
        demand.bytes = sizes[i];
        demand.start = starts[i];
        demand.stop = stops[i] < 0 ? NEVER : stops[i];
        demand.rate = rates[i];
        demand.window = windows[i];
        demand.cls = classes[i];
        m_demands.push_back(demand);
        m_ends.emplace_back(src[i], dst[i]);
        m_queuePairs.push_back(m_fabric.Make<QueuePair>("ns3::rdma::QueuePair"));
        m_progress.finite += sizes[i] > 0;
        m_finiteBytes += static_cast<double>(sizes[i]);
    }
    return first;
}

void
Traffic::AddDependencies(const uint32_t* flows,
                         const uint32_t* after,
                         const int64_t* delays,
                         uint32_t n)
{
    m_progress.whenFinished = MakeCallback(&FlowSchedule::NotifyFinished, &m_schedule);
    const uint64_t most = FlowSchedule::POINT + m_schedule.CountPoints() + 2ULL * n;
    for (uint32_t i = 0; i < n; ++i)
    {
        for (const uint32_t number : {flows[i], after[i]})
        {
            if (!(number & FlowSchedule::POINT))
            {
                GetFlow(number);
            }
            else if (number >= most)
            {
                Refuse("point ", number, " leaves a gap: n waits have at most 2 n new points");
            }
        }
        if (!(after[i] & FlowSchedule::POINT) && m_demands[after[i]].bytes == 0)
        {
            Refuse("flow ", flows[i], " waits for flow ", after[i], ", which is endless");
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
        m_schedule.Wait(flows[i], after[i], delays[i]);
    }
}

void
Traffic::SetNics(const uint32_t* flows, const uint32_t* out, const uint32_t* in, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
    {
        GetFlow(flows[i]);
        auto& ends = m_ends[flows[i]];
        const auto asked = m_asked.emplace(flows[i], ends).first->second;
        for (const auto& [end, nic] : {std::pair{asked.first, out[i]}, {asked.second, in[i]}})
        {
            RequireHost(m_fabric, nic, "the NIC of a flow");
            if (!m_machines.AreTogether(nic, end))
            {
                Refuse("flow ",
                       flows[i],
                       " has an end at node ",
                       end,
                       "; node ",
                       nic,
                       " is not of the same server");
            }
        }
        if (m_machines.HostOf(in[i]) != m_machines.HostOf(asked.second) &&
            m_machines.FindScaleUp(asked.second))
        {
            Refuse("flow ",
                   flows[i],
                   " cannot be forwarded over a scale-up domain after its arrival");
        }
        if (out[i] == in[i])
        {
            Refuse("flow ", flows[i], " cannot leave and arrive by the same host");
        }
        ends = {out[i], in[i]};
    }
}

void
Traffic::SetOnOff(uint32_t flow, int64_t on, int64_t off)
{
    GetFlow(flow);
    if (on < 0 || off < 0)
    {
        Refuse("flow ",
               flow,
               " cannot send for ",
               on,
               " ps and be silent for ",
               off,
               " ps; neither may be negative, and 0 ps of sending means always");
    }
    m_demands[flow].on = on;
    m_demands[flow].off = std::min(off, NEVER - on); // so that on + off, the period, has a time
}

void
Traffic::SetFlowAttribute(const uint32_t* flows,
                          uint32_t n,
                          const std::string& name,
                          const std::string& value)
{
    const std::string problem = lossless::CheckAttribute("ns3::rdma::QueuePair", name, value);
    if (!problem.empty())
    {
        Refuse(problem);
    }
    for (uint32_t i = 0; i < n; ++i)
    {
        GetFlow(flows[i]).SetAttribute(name, StringValue(value));
        m_own[flows[i]][name] = value;
    }
}

void
Traffic::SetConnections(const uint32_t* flows, const uint32_t* connections, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
    {
        GetFlow(flows[i]);
        GetFlow(connections[i]);
        if (flows[i] == connections[i] || m_connections.contains(connections[i]) ||
            m_shared.contains(flows[i]))
        {
            Refuse("flow ",
                   flows[i],
                   " cannot use the connection of flow ",
                   connections[i],
                   "; name, for all flows of a connection, the same flow, which has none named");
        }
        m_connections[flows[i]] = connections[i];
        m_shared.insert(connections[i]);
    }
}

void
Traffic::SetSourcePorts(const uint32_t* flows, const uint16_t* ports, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
    {
        if (ports[i] == 0)
        {
            Refuse("flow ", flows[i], " cannot have source port 0");
        }
        GetFlow(flows[i]).SetSourcePort(ports[i]);
    }
}

uint32_t
Traffic::AddShares(const uint32_t* messages, const uint64_t* sizes, uint32_t n)
{
    // Shares are flows, numbered after all others so far, but no messages: m_progress.finite and
    // m_finiteBytes stay.
    const auto first = static_cast<uint32_t>(m_demands.size());
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint32_t message = messages[i];
        QueuePair& whole = GetFlow(message);
        const QueuePair::Demand demand = m_demands[message];
        if (sizes[i] == 0 || sizes[i] >= demand.bytes || whole.IsShare())
        {
            Refuse("flow ",
                   message,
                   " cannot give away ",
                   sizes[i],
                   " B as a share; a message keeps at least a byte, and a share has no shares");
        }
        m_demands[message].bytes -= sizes[i];
        m_demands.push_back(demand);
        m_demands.back().bytes = sizes[i];
        m_ends.emplace_back(m_ends[message]);
        m_queuePairs.push_back(m_fabric.Make<QueuePair>("ns3::rdma::QueuePair"));
        if (const auto own = m_own.find(message); own != m_own.end())
        {
            for (const auto& [name, value] : own->second)
            {
                m_queuePairs.back()->SetAttribute(name, StringValue(value));
            }
        }
        whole.AddShare(*m_queuePairs.back());
        m_messageOf[first + i] = message;
    }
    return first;
}

void
Traffic::SetPaths(const uint32_t* flows,
                  const uint32_t* lengths,
                  const uint32_t* nodes,
                  uint32_t n,
                  bool answers)
{
    for (uint32_t i = 0; i < n; nodes += lengths[i], ++i)
    {
        GetFlow(flows[i]);
        m_paths.Pin(flows[i], nodes, lengths[i], answers);
    }
}

void
Traffic::SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
    {
        GetFlow(flows[i]);
        m_paths.SetAnswerRouting(flows[i], reverse[i] != 0);
    }
}

uint32_t
Traffic::GetLargestFrame() const
{
    // All hosts get it, as buffers reserve for the largest frame of the network.
    const bool collects = !m_congestionControl.empty() &&
                          m_fabric.Make<CongestionControl>(m_congestionControl)->WantsTelemetry();
    uint32_t largest = m_fabric.Make<QueuePair>("ns3::rdma::QueuePair")->GetLargestFrame(collects);
    for (const auto& [flow, attributes] : m_own)
    {
        largest = std::max(largest, m_queuePairs[flow]->GetLargestFrame(collects));
    }
    return largest;
}

void
Traffic::Prepare()
{
    const uint32_t largest = GetLargestFrame();
    ForEachHost([largest](Host& host) { host.SetLargestFrame(largest); });
}

void
Traffic::ForEachHost(const std::function<void(Host&)>& visit) const
{
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        if (!m_fabric.GetRoutes().IsSwitch(node))
        {
            visit(RequireHost(m_fabric, node, "host"));
        }
    }
}

int64_t
Traffic::Carry(uint32_t flow, QueuePair& queuePair)
{
    // The domain carries a message the whole way within a server, or from the host that has the
    // data to the one whose NIC was chosen; else it leaves by a NIC of its own host.
    const auto [src, dst] = m_ends[flow];
    rdma::ScaleUp* domain = m_machines.FindScaleUp(src);
    const auto asked = m_asked.find(flow);
    const uint32_t origin = asked == m_asked.end() ? src : asked->second.first;
    const bool inside = m_machines.AreInOneServer(src, dst);
    const uint32_t host = m_machines.HostOf(src);
    if (!domain || (!inside && m_machines.HostOf(origin) == host))
    {
        return 0;
    }
    queuePair.SetCarrier(domain, origin, inside ? dst : host);
    return domain->GetTime(queuePair.GetMessageBytes());
}

void
Traffic::Connect()
{
    const PathTimes times(m_fabric);
    lossless::Routes& routes = m_fabric.GetRoutes();
    PathDependencies dependencies(m_fabric);
    std::vector<uint32_t> origins;
    for (uint32_t flow = 0; flow < m_queuePairs.size(); ++flow)
    {
        const auto [src, dst] = m_ends[flow];
        QueuePair& queuePair = *m_queuePairs[flow];
        Ptr<CongestionControl> control;
        if (!m_congestionControl.empty() && !m_connections.contains(flow))
        {
            control = m_fabric.Make<CongestionControl>(m_congestionControl);
        }
        queuePair.Connect(flow,
                          &RequireHost(m_fabric, src, "source"),
                          &RequireHost(m_fabric, dst, "destination"),
                          m_demands[flow],
                          control,
                          routes.IsPinned(flow));
    }
    // When all are connected, and before any path is followed: who joins has the header of the
    // connection, and so its path.
    for (const auto& [flow, other] : m_connections)
    {
        m_queuePairs[flow]->Join(*m_queuePairs[other]);
    }
    for (uint32_t flow = 0; flow < m_queuePairs.size(); ++flow)
    {
        const auto [src, dst] = m_ends[flow];
        QueuePair& queuePair = *m_queuePairs[flow];
        const auto asked = m_asked.find(flow);
        const uint32_t host = asked == m_asked.end() ? src : asked->second.first;
        origins.push_back(m_machines.HostOf(host) == m_machines.HostOf(src) ? src : host);
        const int64_t before = queuePair.IsShare() ? 0 : Carry(flow, queuePair);
        if (queuePair.IsInside())
        {
            m_idealTimes.push_back(before);
            m_answerTimes.push_back(0);
            m_finiteBytes -= static_cast<double>(queuePair.GetMessageBytes());
            continue;
        }
        const auto hops = routes.Trace(src, queuePair.GetHeader());
        dependencies.Add(src, dst, queuePair.GetHeader(), hops);
        const int64_t ideal = times.IdealTime(queuePair, hops);
        m_idealTimes.push_back(ideal < 0 ? ideal : Later(ideal, before));
        queuePair.SetAnswersPinned(m_paths.RouteAnswers(flow, hops));
        m_answerTimes.push_back(times.AnswerTime(queuePair));
        // The first hop is the host's: the others are switches.
        queuePair.SetPath(times.BaseRtt(queuePair, hops, m_answerTimes[flow]),
                          static_cast<uint32_t>(hops.size()) - !hops.empty());
        m_longestRtt = std::max(m_longestRtt, queuePair.GetBaseRtt().GetTimeStep());
    }
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->SetLongestRtt(m_longestRtt);
    }
    m_fabric.TraceConnectWithoutContext("Routes", MakeCallback(&Traffic::FollowRoutes, this));
    m_cycle = dependencies.FindCycle();
    ForEachHost([](Host& host) { host.ConnectSource(); });
    m_schedule.Begin(origins);
    if (eventloop::CellLoop* loop = eventloop::CellLoop::Peek())
    {
        for (uint32_t flow = 0; flow < m_demands.size(); ++flow)
        {
            if (m_demands[flow].bytes > 0 && !m_queuePairs[flow]->IsShare())
            {
                m_open.push_back(flow);
            }
        }
        m_farthest = m_open.empty() ? 0 : m_open.front(); // no endless one
        loop->SetHorizon(
            [this]() { return std::min(GetEarliestEnd(), m_schedule.GetEarliestRelease()); });
    }
}

/// @return when the last message may have arrived or, if the run lasts so long, may be acknowledged
/// at the earliest (ps).
int64_t
Traffic::GetEarliestEnd()
{
    if (!m_progress.stopWhenDone || m_progress.finite == 0)
    {
        return NEVER;
    }
    // No message has arrived before that which is farthest from its end: look for that one only
    // when the last one found is near its own.
    const int64_t now = lossless::NowPs();
    if (m_open.empty())
    {
        return now; // all have arrived, and the next acknowledgement may be the last
    }
    const int64_t window = eventloop::CellLoop::Peek()->GetWindow();
    int64_t end = m_queuePairs[m_farthest]->GetEarliestFinish();
    if (end - now > window || now < m_nextLook)
    {
        return end;
    }
    m_nextLook = now + window / 4; // near the end, four looks a window suffice (it affects speed)
    std::erase_if(m_open,
                  [this](uint32_t flow) { return m_queuePairs[flow]->GetOutcome().finish >= 0; });
    end = now;
    for (const uint32_t flow : m_open)
    {
        if (const int64_t own = m_queuePairs[flow]->GetEarliestFinish(); own > end)
        {
            end = own;
            m_farthest = flow;
        }
    }
    return end;
}

bool
Traffic::RulesOutCycles()
{
    if (m_fabric.Changes())
    {
        return false;
    }
    if (!m_rulesOut)
    {
        m_rulesOut = FollowsNoCycle();
    }
    return *m_rulesOut;
}

/// Follow all paths, of flows and answers.
/// @return true: all arrive, and they have no cyclic dependency.
bool
Traffic::FollowsNoCycle() const
{
    PathDependencies dependencies(m_fabric);
    const auto follow = [&](uint32_t from, uint32_t to, const lossless::Frame& header) {
        const auto hops = m_fabric.GetRoutes().Trace(from, header);
        dependencies.Add(from, to, header, hops);
        return !hops.empty(); // else it does not arrive, perhaps as routes form a loop
    };
    for (const auto& queuePair : m_queuePairs)
    {
        const uint32_t src = queuePair->GetSource()->GetId();
        const uint32_t dst = queuePair->GetDestination()->GetId();
        const bool arrives = follow(src, dst, queuePair->GetHeader()) &&
                             follow(dst, src, queuePair->GetAnswerHeader());
        if (!arrives && !queuePair->IsInside())
        {
            return false;
        }
    }
    return dependencies.FindCycle().empty();
}

/// Routes have changed: tell the flows that are not yet acknowledged about their new paths.
/// @param host to which; ALL_NODES: to any.
void
Traffic::FollowRoutes(uint32_t host)
{
    const PathTimes times(m_fabric);
    int64_t longest = m_longestRtt; // never less than at set-up, when paths get shorter
    for (const auto& queuePair : m_queuePairs)
    {
        if (!queuePair->UsesPath() || queuePair->IsDone() || queuePair->IsInside())
        {
            continue;
        }
        const uint32_t src = queuePair->GetSource()->GetId();
        if (host == lossless::ALL_NODES || host == src ||
            host == queuePair->GetDestination()->GetId())
        {
            const auto hops = m_fabric.GetRoutes().Trace(src, queuePair->GetHeader());
            const int64_t back = times.AnswerTime(*queuePair);
            if (const int64_t baseRtt = times.BaseRtt(*queuePair, hops, back); baseRtt > 0)
            {
                queuePair->SetPath(baseRtt, static_cast<uint32_t>(hops.size()) - 1);
            }
        }
        longest = std::max(longest, queuePair->GetBaseRtt().GetTimeStep());
    }
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->SetLongestRtt(longest);
    }
}

std::string
Traffic::CheckWays() const
{
    return m_paths.GetProblems() + m_schedule.Check();
}

std::string
Traffic::Check() const
{
    std::string problems;
    const FrameLimits limits(m_fabric);
    for (const auto& queuePair : m_queuePairs)
    {
        const uint64_t bytes = queuePair->GetDemand().bytes;
        if (bytes > 0 && queuePair->GetPackets() > MOST_PACKETS)
        {
            problems += "flow " + std::to_string(queuePair->GetNumber()) + ": " +
                        std::to_string(bytes) + " B are " +
                        std::to_string(queuePair->GetPackets()) + " packets; at most " +
                        std::to_string(MOST_PACKETS) +
                        " are allowed, as sequence numbers have 32 bits; send less, raise "
                        "PayloadSize of ns3::rdma::QueuePair, or use 0 B for an endless flow\n";
        }
        if (queuePair->GetTelemetryHops() && queuePair->GetHops() > queuePair->GetTelemetryHops())
        {
            problems += "flow " + std::to_string(queuePair->GetNumber()) + ": its path has " +
                        std::to_string(queuePair->GetHops()) +
                        " switches, but its frames have room for the telemetry of " +
                        std::to_string(queuePair->GetTelemetryHops()) +
                        "; raise TelemetryHops of ns3::rdma::QueuePair, at most " +
                        std::to_string(lossless::MOST_TELEMETRY_HOPS) + ", or shorten the path\n";
        }
        if (queuePair->IsCarried() && bytes == 0)
        {
            problems += "flow " + std::to_string(queuePair->GetNumber()) +
                        " is endless: a scale-up domain carries only whole messages\n";
        }
        if (queuePair->IsInside())
        {
            continue;
        }
        problems += limits.Check(*queuePair);
        const auto& routes = m_fabric.GetRoutes();
        // a diverted route may form a loop on purpose
        if (!routes.IsDiverted(queuePair->GetDestination()->GetId()) &&
            routes.Trace(queuePair->GetSource()->GetId(), queuePair->GetHeader()).empty())
        {
            const std::string flow = "flow " + std::to_string(queuePair->GetNumber());
            problems +=
                flow + (routes.IsPinned(queuePair->GetFlow())
                            ? ": its fixed path contains a link that is down\n"
                            : ": there is no path from " + queuePair->GetSource()->GetName() +
                                  " to " + queuePair->GetDestination()->GetName() + "\n");
        }
        else if (routes.AreAnswersPinned(queuePair->GetFlow()) &&
                 m_answerTimes[queuePair->GetNumber()] < 0)
        {
            problems += "flow " + std::to_string(queuePair->GetNumber()) +
                        ": the path of its ACKs contains a link that is down\n";
        }
    }
    // All have the same control, with the same attributes.
    if (!m_queuePairs.empty() && m_queuePairs.front()->GetCongestionControl())
    {
        problems += m_queuePairs.front()->GetCongestionControl()->Check();
    }
    return problems + CheckConnections() + CheckTruncation();
}

std::string
Traffic::CheckConnections() const
{
    std::string problems;
    std::map<uint32_t, uint64_t> packets; // by connection
    for (const auto& [flow, message] : m_messageOf)
    {
        const QueuePair& whole = *m_queuePairs[message];
        if (whole.IsInside() || m_fabric.GetRoutes().IsPinned(message) || m_demands[flow].on > 0)
        {
            problems += "flow " + std::to_string(message) +
                        " cannot have shares: it has a fixed path or bursts, or stays in a "
                        "scale-up domain\n";
        }
    }
    for (const auto& [flow, other] : m_connections)
    {
        const QueuePair::Demand& demand = m_demands[flow];
        const QueuePair::Demand& first = m_demands[other];
        const QueuePair& queuePair = *m_queuePairs[flow];
        std::string reason;
        if (m_ends[flow] != m_ends[other])
        {
            reason = "they have other hosts";
        }
        else if (demand.cls != first.cls || demand.rate != first.rate ||
                 demand.window != first.window)
        {
            reason = "they have another class, rate or window";
        }
        else if (demand.bytes == 0 || first.bytes == 0 || demand.on > 0 || first.on > 0)
        {
            reason = "neither may be endless or sent in bursts";
        }
        else if (m_fabric.GetRoutes().IsPinned(flow) || m_fabric.GetRoutes().IsPinned(other))
        {
            reason = "neither may have a fixed path";
        }
        else if (m_own.contains(flow) != m_own.contains(other) ||
                 (m_own.contains(flow) && m_own.at(flow) != m_own.at(other)))
        {
            reason = "their queue pairs have other attributes";
        }
        else if (queuePair.IsInside() || m_queuePairs[other]->IsInside())
        {
            reason = "neither may stay in a scale-up domain";
        }
        if (!reason.empty())
        {
            problems += "flow " + std::to_string(flow) + " cannot use the connection of flow " +
                        std::to_string(other) + ": " + reason + "\n";
        }
        auto& sum = packets.try_emplace(other, m_queuePairs[other]->GetPackets()).first->second;
        const uint64_t before = sum;
        sum += queuePair.GetPackets();
        if (before <= MOST_PACKETS && sum > MOST_PACKETS)
        {
            problems += "the messages on the connection of flow " + std::to_string(other) +
                        " have more than " + std::to_string(MOST_PACKETS) +
                        " packets, as many as there are sequence numbers; use several "
                        "connections, or raise PayloadSize of ns3::rdma::QueuePair\n";
        }
    }
    return problems;
}

std::string
Traffic::CheckTruncation() const
{
    uint32_t size = std::numeric_limits<uint32_t>::max();
    uint32_t lossless = 0xff;
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        const lossless::FabricNode& each = m_fabric.GetNode(node);
        if (const auto* agent = each.GetRoles().GetAdmissionAgent())
        {
            size = std::min(size, agent->GetTruncatedSize());
            lossless &= each.GetBuffer().GetLosslessClasses();
        }
    }
    if (m_queuePairs.empty() || size == std::numeric_limits<uint32_t>::max())
    {
        return {};
    }
    const QueuePair& queuePair = *m_queuePairs.front(); // all have the same header
    std::string problems;
    if (!std::ranges::all_of(m_queuePairs, [](const auto& each) { return each->IsSelective(); }))
    {
        problems += "switches truncate frames, which only senders with Selective loss recovery "
                    "make use of; set Retransmit of ns3::rdma::QueuePair to Selective\n";
    }
    if (queuePair.GetHeaderBytes() > size)
    {
        problems += "switches truncate frames to " + std::to_string(size) + " B, less than the " +
                    std::to_string(queuePair.GetHeaderBytes()) +
                    " B of their headers and telemetry, so that nobody could read them; raise that "
                    "size, or lower HeaderSize of ns3::rdma::QueuePair\n";
    }
    if (std::ranges::all_of(m_queuePairs, [lossless](const auto& each) {
            return (lossless >> each->GetDemand().cls) & 1U;
        }))
    {
        problems += "switches truncate frames of lossy classes, but all flows have lossless ones; "
                    "clear their bits in LosslessClasses, or let no switch truncate\n";
    }
    return problems;
}

std::string
Traffic::Warn() const
{
    std::string warnings;
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        if (!m_queuePairs.empty() && m_queuePairs.front()->GetCongestionControl() &&
            m_fabric.GetRoutes().IsSwitch(node))
        {
            warnings += m_queuePairs.front()->GetCongestionControl()->Warn(
                m_fabric.GetNode(node).GetAgents());
            break; // all switches have the same agents
        }
    }
    return warnings;
}

std::string
Traffic::DescribeCycle() const
{
    if (m_cycle.empty())
    {
        return {};
    }
    std::ostringstream text;
    text << "cyclic buffer dependency of the flows:";
    for (const auto& [node, port] : m_cycle)
    {
        text << " " << m_fabric.GetPortName(node, port);
    }
    text << "\n";
    return text.str();
}

/// "flow": one flow, always recorded.
void
Traffic::FillTable(observe::Table& flows) const
{
    // its number
    auto* number = flows.Add<uint32_t>("flow");
    // host that sends
    auto* src = flows.Add<uint32_t>("src");
    // host that receives
    auto* dst = flows.Add<uint32_t>("dst");
    auto* cls = flows.Add<uint8_t>("class");
    // payload; 0: without end
    auto* size = flows.Add<int64_t>("size_bytes");
    // start; -1: it waited for others to the end
    auto* begin = flows.Add<int64_t>("start_ps");
    // last bit at the receiver; -1: unfinished
    auto* finish = flows.Add<int64_t>("finish_ps");
    // time from start to finish on an idle network
    auto* ideal = flows.Add<int64_t>("ideal_ps");
    // in order; with `retransmit = "none"` all that arrived
    auto* delivered = flows.Add<int64_t>("delivered_bytes");
    // payload sent, repeated or not
    auto* sent = flows.Add<int64_t>("sent_bytes");
    // payload sent again
    auto* retransmitted = flows.Add<int64_t>("retransmitted_bytes");
    // last ACK at the sender; -1: not yet
    auto* acked = flows.Add<int64_t>("acked_ps");
    // time from start to the last ACK on an idle network
    auto* idealAcked = flows.Add<int64_t>("ideal_acked_ps");
    // packets that came after one that was sent later
    auto* reordered = flows.Add<int64_t>("reordered");
    // most places by which one came behind the latest
    auto* distance = flows.Add<int64_t>("reorder_distance");
    // number of the flow whose queue pair carries it, or its first share
    auto* carrying = flows.Add<uint32_t>("queue_pair");
    // neighbour to which the link leads by which it left; only where hosts have several
    auto* srcLink = !m_machines.HavePorts() ? nullptr : flows.Add<uint32_t>("src_link");
    // that of the link by which it arrived; likewise
    auto* dstLink = !m_machines.HavePorts() ? nullptr : flows.Add<uint32_t>("dst_link");
    for (const auto& queuePair : m_queuePairs)
    {
        if (queuePair->IsShare())
        {
            continue;
        }
        const auto& demand = queuePair->GetDemand();
        const auto& outcome = queuePair->GetOutcome();
        number->push_back(queuePair->GetNumber());
        const auto asked = m_asked.find(queuePair->GetNumber());
        const auto& ends = asked == m_asked.end() ? m_ends[queuePair->GetNumber()] : asked->second;
        src->push_back(ends.first);
        dst->push_back(ends.second);
        cls->push_back(demand.cls);
        size->push_back(static_cast<int64_t>(queuePair->GetMessageBytes()));
        begin->push_back(queuePair->IsStarted() ? demand.start : -1);
        finish->push_back(outcome.finish);
        ideal->push_back(m_idealTimes[queuePair->GetNumber()]);
        delivered->push_back(static_cast<int64_t>(outcome.delivered));
        sent->push_back(static_cast<int64_t>(outcome.sent));
        retransmitted->push_back(static_cast<int64_t>(outcome.retransmitted));
        acked->push_back(outcome.acked);
        const int64_t there = ideal->back();
        const int64_t back = m_answerTimes[queuePair->GetNumber()];
        reordered->push_back(static_cast<int64_t>(outcome.reordered));
        distance->push_back(static_cast<int64_t>(outcome.reorderDistance));
        idealAcked->push_back(there < 0 || back < 0 ? -1 : Later(there, back));
        carrying->push_back(queuePair->GetCarryingFlow());
        if (srcLink)
        {
            const QueuePair& by = *m_queuePairs[queuePair->GetCarryingFlow()];
            srcLink->push_back(by.GetSource()->GetId()); // pyorch tells the neighbours
            dstLink->push_back(by.GetDestination()->GetId());
        }
    }
}

void
Traffic::Report(Summary& summary) const
{
    summary["flow_cycle_egresses"] = static_cast<double>(m_cycle.size());
    summary["flows_total"] = static_cast<double>(m_queuePairs.size() - m_messageOf.size());
    summary["flows_finite"] = static_cast<double>(m_progress.finite);
    summary["flows_finished"] = static_cast<double>(m_progress.finished);
    summary["flows_unfinished"] = static_cast<double>(m_progress.finite - m_progress.finished);
    int64_t last = -1;
    ForEachHost([&last](const Host& host) { last = std::max(last, host.GetDelivered().last); });
    summary["last_delivery_ps"] = static_cast<double>(last);
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->Report(summary);
        if (queuePair->GetRetryCount())
        {
            summary["failed_queue_pairs"] += queuePair->GetSendQueue().HasFailed();
        }
        if (queuePair->IsShare())
        {
            continue; // its message counts it
        }
        const auto& outcome = queuePair->GetOutcome();
        summary["delivered_bytes"] += static_cast<double>(outcome.delivered);
        if (!queuePair->IsReliable())
        {
            summary["in_order_bytes"] += static_cast<double>(queuePair->GetInOrder());
        }
        if (queuePair->GetTelemetryHops())
        {
            summary["telemetry_missed_frames"] += static_cast<double>(outcome.telemetryMissed);
        }
        summary["sent_bytes"] += static_cast<double>(outcome.sent);
        summary["retransmitted_bytes"] += static_cast<double>(outcome.retransmitted);
        summary["timeouts"] += static_cast<double>(outcome.timeouts);
        summary["nacks"] += static_cast<double>(outcome.nacks);
        summary["cnps_sent"] += static_cast<double>(outcome.cnpsSent);
        summary["cnps_received"] += static_cast<double>(outcome.cnps);
        summary["reordered_frames"] += static_cast<double>(outcome.reordered);
        double& distance = summary["reorder_distance"];
        distance = std::max(distance, static_cast<double>(outcome.reorderDistance));
    }
}

double
Traffic::GetDeliveredShare() const
{
    uint64_t bytes = 0;
    ForEachHost([&bytes](const Host& host) { bytes += host.GetDelivered().bytes; });
    const auto delivered = static_cast<double>(bytes);
    return m_finiteBytes > 0 ? delivered / m_finiteBytes : 1.0;
}

QueuePair&
Traffic::GetFlow(uint32_t flow) const
{
    RequirePlace("flow", flow, m_queuePairs.size());
    return *m_queuePairs[flow];
}

void
Traffic::Release()
{
    m_queuePairs.clear();
}

} // namespace facade
} // namespace ns3
