/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pfc-watchdog.h"

#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace pfc
{

NS_LOG_COMPONENT_DEFINE("PfcWatchdog");

using lossless::DropCause;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::Port;
using lossless::Summary;

NS_OBJECT_ENSURE_REGISTERED(PfcWatchdog);

namespace
{

/// Share of a polling interval above which being held back by PFC counts as a storm.
constexpr double PAUSED_SHARE = 0.99;

} // namespace

TypeId
PfcWatchdog::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::pfc::PfcWatchdog")
            .SetParent<lossless::SwitchAgent>()
            .SetGroupName("pfc")
            .AddConstructor<PfcWatchdog>()
            .AddAttribute("Poll",
                          "Polling interval; SONiC: 200 ms.",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&PfcWatchdog::m_poll),
                          lossless::MakePicosecondsChecker(1'000))
            .AddAttribute("Detection",
                          "Duration of a storm after which the watchdog acts; SONiC: 200 ms, at "
                          "least a Poll.",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&PfcWatchdog::m_detection),
                          lossless::MakePicosecondsChecker(1'000))
            .AddAttribute("Restoration",
                          "Time without a storm after which the watchdog reverts its action; "
                          "SONiC: 200 ms, at least a Poll.",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&PfcWatchdog::m_restoration),
                          lossless::MakePicosecondsChecker(1'000))
            .AddAttribute("Action",
                          "Action in a storm: Drop (the queue's frames and those that arrive for "
                          "it, an intended loss), Forward (send in spite of PFC) or Alert (only "
                          "report).",
                          EnumValue(Action::DROP),
                          MakeEnumAccessor<Action>(&PfcWatchdog::m_action),
                          MakeEnumChecker(Action::DROP,
                                          "Drop",
                                          Action::FORWARD,
                                          "Forward",
                                          Action::ALERT,
                                          "Alert"))
            .AddTraceSource(
                "Detection",
                "An egress queue is considered deadlocked; no action has been taken yet.",
                MakeTraceSourceAccessor(&PfcWatchdog::m_detectionTrace),
                "ns3::dcfit::DetectionCallback");
    return tid;
}

PfcWatchdog::PfcWatchdog()
    : m_tick(this, &PfcWatchdog::Poll)
{
}

std::string
PfcWatchdog::Check() const
{
    std::ostringstream problems;
    for (const auto& [name, time] :
         {std::pair{"Detection", m_detection}, std::pair{"Restoration", m_restoration}})
    {
        if (time < m_poll)
        {
            problems << m_node->GetName() << ": " << name << " of the PFC watchdog, "
                     << time.GetTimeStep() << " ps, is less than its Poll, " << m_poll.GetTimeStep()
                     << " ps; it must be at least that\n";
        }
    }
    return problems.str();
}

void
PfcWatchdog::Start()
{
    m_watches.assign(static_cast<std::size_t>(m_node->GetNPorts()) * N_CLASSES, Watch{});
    m_tick.Schedule(m_poll.GetTimeStep());
}

bool
PfcWatchdog::NotifyArrival(Frame& frame, Port& ingress)
{
    const uint8_t cls = m_node->GetRoles().GetEgressClass(frame, ingress);
    const bool drop = m_action == Action::DROP && At(frame.egress, cls).acting;
    m_dropped += drop;
    return !drop;
}

void
PfcWatchdog::Poll()
{
    for (uint16_t port = 0; port < m_node->GetNPorts(); ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if (m_node->GetBuffer().IsLossless(cls))
            {
                Judge(m_node->GetPort(port), cls);
            }
        }
    }
    m_tick.Schedule(m_poll.GetTimeStep());
}

void
PfcWatchdog::Judge(Port& port, uint8_t cls)
{
    Watch& watch = At(port.GetIndex(), cls);
    const int64_t interval = m_poll.GetTimeStep();
    const int64_t pausedTime = port.GetPausedTime(cls);
    const bool paused = static_cast<double>(pausedTime - watch.pausedTime) >
                        PAUSED_SHARE * static_cast<double>(interval);
    const bool silent = port.GetCounters().wireOut[cls] == watch.sent;
    watch.pausedTime = pausedTime;
    watch.sent = port.GetCounters().wireOut[cls];
    if (watch.acting)
    {
        watch.calm = paused ? 0 : watch.calm + interval;
        if (watch.calm >= m_restoration.GetTimeStep())
        {
            Restore(port, cls);
        }
        return;
    }
    bool waits = false;
    for (std::size_t queue = cls; queue < port.GetQueues().size(); queue += N_CLASSES)
    {
        waits = waits || port.GetQueues()[queue].GetFrames() > 0;
    }
    watch.storm = paused && silent && waits ? watch.storm + interval : 0;
    if (watch.storm >= m_detection.GetTimeStep())
    {
        Act(port, cls);
    }
}

void
PfcWatchdog::Act(Port& port, uint8_t cls)
{
    Watch& watch = At(port.GetIndex(), cls);
    ++m_storms;
    NS_LOG_INFO(m_node->GetName() << ": storm at the port to node " << port.GetPeerId()
                                  << ", class " << +cls);
    m_firstAt = m_firstAt < 0 ? NowPs() : m_firstAt;
    m_detectionTrace(port, {cls, deadlock::Detection::WATCHDOG, NowPs() - watch.storm, NowPs()});
    watch.storm = 0;
    watch.calm = 0;
    watch.acting = true;
    for (uint16_t queue = cls; queue < port.GetQueues().size(); queue += N_CLASSES)
    {
        if (m_action == Action::DROP)
        {
            m_dropped += port.GetEgress().DropQueue(queue, DropCause::SCHEME);
        }
        else if (m_action == Action::FORWARD)
        {
            port.SetIgnorePause(queue, true);
        }
    }
}

void
PfcWatchdog::Restore(Port& port, uint8_t cls)
{
    ++m_restored;
    NS_LOG_INFO(m_node->GetName() << ": the storm at the port to node " << port.GetPeerId()
                                  << ", class " << +cls << ", is over");
    At(port.GetIndex(), cls).acting = false;
    for (uint16_t queue = cls; queue < port.GetQueues().size(); queue += N_CLASSES)
    {
        port.SetIgnorePause(queue, false);
    }
}

void
PfcWatchdog::Report(Summary& summary) const
{
    summary["watchdog_storms"] += static_cast<double>(m_storms);
    summary["watchdog_restored"] += static_cast<double>(m_restored);
    summary["watchdog_frames_dropped"] += static_cast<double>(m_dropped);
    const auto found = summary.find("watchdog_first_storm_ps");
    if (m_firstAt >= 0 &&
        (found == summary.end() || static_cast<double>(m_firstAt) < found->second))
    {
        summary["watchdog_first_storm_ps"] = static_cast<double>(m_firstAt);
    }
}

} // namespace pfc
} // namespace ns3
