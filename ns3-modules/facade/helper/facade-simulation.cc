/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-simulation.h"

#include "facade-arguments.h"
#include "facade-host-faults.h"
#include "facade-memory.h"
#include "facade-repeats.h"
#include "facade-run-claim.h"
#include "facade-traffic.h"
#include "facade-type-catalogue.h"

#include "ns3/deadlock-monitor.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"
#include "ns3/observe-pcap-helper.h"
#include "ns3/observe-probe.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <sstream>

namespace ns3
{
namespace facade
{

using lossless::Fabric;
using lossless::NowPs;
using lossless::Refuse;
using lossless::RefuseNow;
using lossless::Summary;

/// A machine has no more cores.
constexpr uint32_t MOST_THREADS = 1024;

/// Everything that needs ns-3's headers.
class Simulation::Impl
{
  public:
    explicit Impl(uint64_t seed);
    ~Impl();
    bool IsDone() const;
    void ChooseCells();
    std::string DescribeRepeats() const;
    std::string FindObstacle();
    std::string FindThreadProblem();
    bool MayDeadlock();
    const observe::Table& TableAt(uint32_t table) const;
    const observe::Table::AnyColumn& ColumnAt(uint32_t table, uint32_t column) const;

    RunClaim claim;                                   //!< claim on ns-3's global state
    Ptr<Fabric> fabric;                               //!< the network
    deadlock::DeadlockMonitor* deadlocks;             //!< of the network
    observe::Recorder* recorder;                      //!< tables of the network
    Traffic traffic;                                  //!< the flows
    observe::Table flows{"flow"};                     //!< result of every flow
    std::unique_ptr<observe::FabricPcapHelper> pcaps; //!< captures, or null
    bool silenced{false};                             //!< a host will pause forever
    uint32_t threads{1};                              //!< see SetThreads
    Repeats::Mode repeatMode{Repeats::Mode::OFF};     //!< see SetRepeats
    std::unique_ptr<Repeats> repeats;                 //!< or null
    bool cellsChosen{false};                          //!< see ChooseCells
    std::string oneCell;                              //!< why all is one cell; empty: it is not
    bool finished{false};                             //!< Finish was called
    std::string problems;                             //!< what it found
};

Simulation::Impl::Impl(uint64_t seed)
    : claim(seed),
      fabric(CreateObject<Fabric>()),
      deadlocks(&fabric->AddObserver(std::make_unique<deadlock::DeadlockMonitor>(*fabric))),
      recorder(&fabric->AddObserver(std::make_unique<observe::Recorder>(*fabric))),
      traffic(*fabric)
{
}

Simulation::Impl::~Impl()
{
    pcaps.reset();
    traffic.Release();
    Simulator::Destroy();
    fabric->Dispose();
}

bool
Simulation::Impl::IsDone() const
{
    return deadlocks->IsStopped() || traffic.GetProgress().IsDone();
}

/// What needs one order of time, besides what the network knows.
/// @return the first such thing; empty: there is none.
std::string
Simulation::Impl::FindObstacle()
{
    std::string obstacle = traffic.GetMachines().FindCellObstacle();
    if (obstacle.empty() && MayDeadlock())
    {
        // They are judged from the state of several nodes at one time, but only during pauses.
        const std::string unannounced = deadlocks->GetOracle().FindUnannounced();
        obstacle = unannounced.empty() ? ""
                                       : "deadlocks are judged, and " + unannounced +
                                             " does not announce what it holds back";
    }
    return obstacle;
}

/// What keeps several threads from running the cells, if several are asked for.
/// @return the problem; empty: none.
std::string
Simulation::Impl::FindThreadProblem()
{
    if (threads == 1)
    {
        return {};
    }
    std::string obstacle = FindObstacle();
    if (obstacle.empty())
    {
        obstacle = fabric->FindThreadObstacle(MayDeadlock());
    }
    if (obstacle.empty() && repeatMode != Repeats::Mode::OFF)
    {
        obstacle = "run.repeats is not \"off\"";
    }
    return obstacle.empty() ? ""
                            : "run.threads is " + std::to_string(threads) + ", but " + obstacle +
                                  ": such a run needs 1 thread";
}

/// Are deadlocks judged, and may there be any? @return true if so.
bool
Simulation::Impl::MayDeadlock()
{
    return deadlocks->IsOn() && (silenced || !traffic.RulesOutCycles());
}

/// At the first Run, let cells run on their own, unless something of the run needs one order of
/// time.
std::string
Simulation::Impl::DescribeRepeats() const
{
    if (repeatMode == Repeats::Mode::OFF)
    {
        return "";
    }
    return repeats ? repeats->Describe()
                   : "repeats: nothing was skipped, as all is one cell, or has no cells\n";
}

void
Simulation::Impl::ChooseCells()
{
    if (!cellsChosen)
    {
        cellsChosen = true;
        const std::string obstacle = FindObstacle();
        std::function<bool()> isQuiet;
        if (obstacle.empty() && MayDeadlock())
        {
            isQuiet = [&oracle = deadlocks->GetOracle()] { return oracle.IsQuiet(); };
        }
        if (const std::string problem = FindThreadProblem(); !problem.empty())
        {
            RefuseNow(problem);
        }
        if (threads > 1)
        {
            fabric->RunInThreads(static_cast<uint16_t>(threads));
        }
        oneCell = fabric->RunInCells(obstacle, isQuiet);
        if (eventloop::CellLoop::Peek() && oneCell.empty() && !isQuiet)
        {
            deadlocks->Rest();
        }
        if (repeatMode != Repeats::Mode::OFF && eventloop::CellLoop::Peek() && oneCell.empty())
        {
            repeats = std::make_unique<Repeats>(*fabric, traffic, repeatMode);
            repeats->Begin();
        }
    }
}

Simulation::Simulation(uint64_t seed)
    : m_impl(std::make_unique<Impl>(seed))
{
    AcceptOldNames();
}

Simulation::~Simulation() = default;

std::string
Simulation::Describe(const std::string& groups)
{
    return DescribeTypes(groups);
}

void
Simulation::SetSimulator(const std::string& typeId)
{
    m_impl->fabric->RequireOpen("SetSimulator");
    m_impl->claim.SetSimulator(typeId);
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
    m_impl->fabric->RequireOpen("SetCongestionControl");
    m_impl->traffic.SetCongestionControl(typeId);
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
Simulation::SwitchOffOracle()
{
    m_impl->deadlocks->SwitchOff();
}

void
Simulation::SetStopWhenDone(bool stop, bool acknowledged)
{
    m_impl->traffic.SetStopWhenDone(stop, acknowledged);
}

void
Simulation::AddNodes(const uint8_t* kinds, const std::string& names, uint32_t n)
{
    m_impl->fabric->RequireOpen("AddNodes");
    RequireNames(names, n);
    std::istringstream list(names);
    for (uint32_t i = 0; i < n; ++i)
    {
        std::string name;
        std::getline(list, name);
        RequireKind(name, kinds[i]);
        if (kinds[i] == 1)
        {
            m_impl->fabric->AddSwitch(name);
            continue;
        }
        m_impl->fabric->AddHost(name, m_impl->traffic.MakeHost());
    }
}

void
Simulation::AddLinks(const uint32_t* a,
                     const uint32_t* b,
                     const uint64_t* rates,
                     const int64_t* delays,
                     uint32_t n)
{
    constexpr std::size_t BYTES_A_PORT = 8192; // including its share of the node and the frames
    PreferLargePages(2 * BYTES_A_PORT * n);
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
Simulation::SetPortAttribute(uint32_t node,
                             uint32_t neighbour,
                             const std::string& typeId,
                             const std::string& name,
                             const std::string& value)
{
    m_impl->fabric->SetPortAttribute(node, neighbour, typeId, name, value);
}

void
Simulation::FailLink(uint32_t link, int64_t down, int64_t up)
{
    m_impl->fabric->FailLink(link, Time::From(down, Time::PS), Time::From(up, Time::PS));
}

void
Simulation::AddServer(const uint32_t* hosts,
                      uint32_t n,
                      uint64_t rate,
                      int64_t delay,
                      bool failover)
{
    m_impl->fabric->RequireOpen("AddServer");
    m_impl->traffic.GetMachines().AddServer(hosts, n, rate, delay, failover);
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
    m_impl->fabric->RequireOpen("AddFlows");
    return m_impl->traffic.AddFlows(src, dst, sizes, starts, stops, classes, rates, windows, n);
}

uint32_t
Simulation::AddFlow(uint32_t src, uint32_t dst, uint8_t cls, uint64_t size)
{
    const uint64_t none = 0;
    const int64_t start = 0;
    const int64_t never = -1;
    return AddFlows(&src, &dst, &size, &start, &never, &cls, &none, &none, 1);
}

void
Simulation::AddDependencies(const uint32_t* flows,
                            const uint32_t* after,
                            const int64_t* delays,
                            uint32_t n)
{
    m_impl->fabric->RequireOpen("AddDependencies");
    m_impl->traffic.AddDependencies(flows, after, delays, n);
}

void
Simulation::SetFlowAttribute(const uint32_t* flows,
                             uint32_t n,
                             const std::string& name,
                             const std::string& value)
{
    m_impl->fabric->RequireOpen("SetFlowAttribute");
    m_impl->traffic.SetFlowAttribute(flows, n, name, value);
}

void
Simulation::SetHostPorts(const uint32_t* nodes, uint32_t n)
{
    m_impl->fabric->RequireOpen("SetHostPorts");
    m_impl->traffic.GetMachines().SetHostPorts(nodes, n);
}

void
Simulation::SetNics(const uint32_t* flows, const uint32_t* out, const uint32_t* in, uint32_t n)
{
    m_impl->fabric->RequireOpen("SetNics");
    m_impl->traffic.SetNics(flows, out, in, n);
}

void
Simulation::SetOnOff(uint32_t flow, int64_t on, int64_t off)
{
    m_impl->fabric->RequireOpen("SetOnOff");
    m_impl->traffic.SetOnOff(flow, on, off);
}

void
Simulation::SetConnections(const uint32_t* flows, const uint32_t* connections, uint32_t n)
{
    m_impl->fabric->RequireOpen("SetConnections");
    m_impl->traffic.SetConnections(flows, connections, n);
}

void
Simulation::SetSourcePorts(const uint32_t* flows, const uint16_t* ports, uint32_t n)
{
    m_impl->fabric->RequireOpen("SetSourcePorts");
    m_impl->traffic.SetSourcePorts(flows, ports, n);
}

uint32_t
Simulation::AddShares(const uint32_t* messages, const uint64_t* sizes, uint32_t n)
{
    m_impl->fabric->RequireOpen("AddShares");
    return m_impl->traffic.AddShares(messages, sizes, n);
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
    m_impl->fabric->RequireOpen("SetPaths");
    m_impl->traffic.SetPaths(flows, lengths, nodes, n, false);
}

void
Simulation::SetAckPaths(const uint32_t* flows,
                        const uint32_t* lengths,
                        const uint32_t* nodes,
                        uint32_t n)
{
    m_impl->fabric->RequireOpen("SetAckPaths");
    m_impl->traffic.SetPaths(flows, lengths, nodes, n, true);
}

void
Simulation::SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n)
{
    m_impl->fabric->RequireOpen("SetAckRouting");
    m_impl->traffic.SetAckRouting(flows, reverse, n);
}

void
Simulation::SetReceiveRate(uint32_t host, uint64_t rate, int64_t start)
{
    m_impl->fabric->RequireOpen("SetReceiveRate");
    ScheduleReceiveRate(*m_impl->fabric, host, rate, start);
}

void
Simulation::AddPauseStorm(uint32_t host, uint8_t cls, int64_t start, int64_t stop)
{
    m_impl->fabric->RequireOpen("AddPauseStorm");
    RequireHost(*m_impl->fabric, host, "the source of a pause storm");
    AddStorm(host, -1, cls, start, stop, 0, 0, false);
}

void
Simulation::AddStorm(uint32_t node,
                     int64_t peer,
                     uint8_t cls,
                     int64_t start,
                     int64_t stop,
                     int64_t on,
                     int64_t off,
                     bool resumes)
{
    m_impl->fabric->RequireOpen("AddStorm");
    ForEachPort(*m_impl->fabric, &node, &peer, 1, [&](lossless::Port& port) {
        ScheduleStorm(port, {cls, start, stop, on, off, resumes});
    });
    m_impl->silenced |= stop < 0 && on == 0;
}

Fabric&
Simulation::GetFabric() const
{
    return *m_impl->fabric;
}

void
Simulation::Build()
{
    m_impl->fabric->RequireOpen("Build");
    m_impl->claim.RequireClock();
    m_impl->traffic.Prepare();
    m_impl->fabric->Build();
    m_impl->claim.Begin();
    m_impl->traffic.Connect();
}

std::string
Simulation::Check() const
{
    m_impl->fabric->RequireBuilt("Check");
    const std::string threads = m_impl->FindThreadProblem();
    return m_impl->traffic.CheckWays() + m_impl->fabric->Check() + m_impl->traffic.Check() +
           (threads.empty() ? "" : threads + "\n");
}

void
Simulation::SetRepeats(const std::string& repeats)
{
    static const std::map<std::string, Repeats::Mode> MODES{{"off", Repeats::Mode::OFF},
                                                            {"verify", Repeats::Mode::VERIFY},
                                                            {"on", Repeats::Mode::ON}};
    const auto mode = MODES.find(repeats);
    if (mode == MODES.end())
    {
        Refuse("repeats are \"off\", \"verify\" or \"on\", not \"", repeats, "\"");
    }
    m_impl->repeatMode = mode->second;
}

void
Simulation::SetThreads(uint32_t threads)
{
    if (threads == 0 || threads > MOST_THREADS)
    {
        Refuse("a run has 1 to ", MOST_THREADS, " threads, not ", threads);
    }
    m_impl->threads = threads;
}

std::string
Simulation::Warnings() const
{
    m_impl->fabric->RequireBuilt("Warnings");
    return m_impl->fabric->Warn() + m_impl->traffic.Warn();
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
        RefuseNow("Trace was called after Finish: the results are complete");
    }
    ForEachPort(*m_impl->fabric, nodes, peers, n, [&](lossless::Port& port) {
        m_impl->recorder->Trace(table, port, classMask, PicoSeconds(period));
    });
    if (m_impl->cellsChosen && m_impl->oneCell.empty() && eventloop::CellLoop::Peek() &&
        !m_impl->recorder->GetCellObstacle().empty())
    {
        RefuseNow("the table '",
                  table,
                  "' needs all nodes in one order of time, and cells already run on their own: "
                  "request it before Run");
    }
}

std::string
Simulation::TracePcap(const uint32_t* nodes,
                      const int64_t* peers,
                      uint32_t n,
                      const std::string& folder)
{
    m_impl->fabric->RequireBuilt("TracePcap");
    if (!m_impl->pcaps)
    {
        m_impl->pcaps = std::make_unique<observe::FabricPcapHelper>(*m_impl->fabric);
    }
    std::string problems;
    ForEachPort(*m_impl->fabric, nodes, peers, n, [&](lossless::Port& port) {
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
    m_impl->fabric->RequireBuilt("Notes");
    return m_impl->traffic.DescribeCycle() + m_impl->deadlocks->Describe() +
           (m_impl->oneCell.empty() ? "" : "all is one cell: " + m_impl->oneCell + "\n") +
           m_impl->DescribeRepeats();
}

bool
Simulation::Run(int64_t until)
{
    m_impl->fabric->RequireBuilt("Run");
    if (m_impl->finished)
    {
        RefuseNow("Run was called after Finish: the results are complete");
    }
    RequireTime("the end of a run", until);
    const int64_t now = NowPs();
    if (!m_impl->IsDone() && until > now)
    {
        m_impl->ChooseCells();
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
    return m_impl->traffic.GetProgress().finished;
}

double
Simulation::GetDeliveredShare() const
{
    return m_impl->traffic.GetDeliveredShare();
}

std::string
Simulation::Finish()
{
    m_impl->fabric->RequireBuilt("Finish");
    if (!m_impl->finished)
    {
        m_impl->finished = true;
        m_impl->traffic.FillTable(m_impl->flows);
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
    m_impl->fabric->RequireBuilt("GetSummary");
    Summary summary;
    m_impl->fabric->Report(summary);
    m_impl->traffic.Report(summary);
    summary["end_ps"] = static_cast<double>(NowPs());
    summary["events"] = static_cast<double>(Simulator::GetEventCount());
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
    return m_impl->traffic.GetFlow(flow).GetOutcome().delivered;
}

uint32_t
Simulation::GetNTables() const
{
    return static_cast<uint32_t>(m_impl->recorder->GetTables().size() + 1);
}

const observe::Table&
Simulation::Impl::TableAt(uint32_t table) const
{
    RequirePlace("table", table, recorder->GetTables().size() + 1);
    return table == 0 ? flows : *recorder->GetTables()[table - 1];
}

const observe::Table::AnyColumn&
Simulation::Impl::ColumnAt(uint32_t table, uint32_t column) const
{
    return RequireColumn(TableAt(table), column);
}

std::string
Simulation::GetTableName(uint32_t table) const
{
    return m_impl->TableAt(table).GetName();
}

uint32_t
Simulation::GetNColumns(uint32_t table) const
{
    return static_cast<uint32_t>(m_impl->TableAt(table).GetColumns().size());
}

std::string
Simulation::GetColumnName(uint32_t table, uint32_t column) const
{
    return m_impl->ColumnAt(table, column).m_name;
}

std::string
Simulation::GetColumnType(uint32_t table, uint32_t column) const
{
    return m_impl->ColumnAt(table, column).m_type;
}

uintptr_t
Simulation::GetColumnData(uint32_t table, uint32_t column) const
{
    return reinterpret_cast<uintptr_t>(m_impl->ColumnAt(table, column).GetData());
}

uint64_t
Simulation::GetNRows(uint32_t table) const
{
    return m_impl->TableAt(table).GetRows();
}

} // namespace facade
} // namespace ns3
