/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pfc-watchdog.h"

#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/string.h"

#include <algorithm>
#include <bit>
#include <map>
#include <sstream>
#include <utility>

namespace ns3
{
namespace pfc
{

NS_LOG_COMPONENT_DEFINE("PfcWatchdog");

using lossless::DropCause;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::PFC_OPCODE;
using lossless::Port;
using lossless::Summary;

NS_OBJECT_ENSURE_REGISTERED(PfcWatchdog);

namespace
{

/// Share of a polling interval above which being held back by PFC counts as a storm.
constexpr double PAUSED_SHARE = 0.99;

/// The names of actions.
const std::map<std::string, PfcWatchdog::Action> ACTIONS = {
    {"Drop", PfcWatchdog::Action::DROP},
    {"Forward", PfcWatchdog::Action::FORWARD},
    {"Alert", PfcWatchdog::Action::ALERT}};

/// @return the checker of an action.
Ptr<const AttributeChecker>
MakeActionChecker()
{
    using enum PfcWatchdog::Action;
    return MakeEnumChecker(DROP, "Drop", FORWARD, "Forward", ALERT, "Alert");
}

/// A time as attributes have it.
/// @param text the time. @return ps.
int64_t
PsOf(const std::string& text)
{
    const Ptr<AttributeValue> value =
        lossless::MakePicosecondsChecker()->CreateValidValue(StringValue(text));
    return DynamicCast<TimeValue>(value)->Get().GetTimeStep();
}

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
                          MakeActionChecker())
            .AddAttribute("Detections",
                          "Detection of some classes instead, CLASS=TIME separated by commas.",
                          StringValue(""),
                          MakeStringAccessor(&PfcWatchdog::m_detections),
                          lossless::MakeByClassChecker(lossless::MakePicosecondsChecker(1'000)))
            .AddAttribute("Restorations",
                          "Restoration of some classes instead, CLASS=TIME separated by commas.",
                          StringValue(""),
                          MakeStringAccessor(&PfcWatchdog::m_restorations),
                          lossless::MakeByClassChecker(lossless::MakePicosecondsChecker(1'000)))
            .AddAttribute("Actions",
                          "Action for some classes instead, CLASS=ACTION separated by commas.",
                          StringValue(""),
                          MakeStringAccessor(&PfcWatchdog::m_actions),
                          lossless::MakeByClassChecker(MakeActionChecker()))
            .AddAttribute(
                "Calm",
                "What counts as no storm until Restoration: Pause, PFC does not hold the "
                "queue back (as SONiC does for Cisco 8000), or Frames, no PFC frame of "
                "the class comes, either (as it does for others: frames that resume a class keep "
                "it in the storm; sonic-swss issue 4581).",
                EnumValue(Calm::PAUSE),
                MakeEnumAccessor<Calm>(&PfcWatchdog::m_calm),
                MakeEnumChecker(Calm::PAUSE, "Pause", Calm::FRAMES, "Frames"))
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
    const auto rules = ReadRules();
    for (const auto& [name, time] :
         {std::pair{"Detection", &Rule::detection}, std::pair{"Restoration", &Rule::restoration}})
    {
        const Rule least = *std::ranges::min_element(rules, {}, time);
        if (least.*time < m_poll.GetTimeStep())
        {
            problems << m_node->GetName() << ": " << name << " of the PFC watchdog, " << least.*time
                     << " ps, is less than its Poll, " << m_poll.GetTimeStep()
                     << " ps; it must be at least that\n";
        }
    }
    return problems.str();
}

std::array<PfcWatchdog::Rule, N_CLASSES>
PfcWatchdog::ReadRules() const
{
    std::array<Rule, N_CLASSES> rules;
    rules.fill({m_detection.GetTimeStep(), m_restoration.GetTimeStep(), m_action});
    const auto detections = *lossless::ReadByClass(m_detections);
    const auto restorations = *lossless::ReadByClass(m_restorations);
    const auto actions = *lossless::ReadByClass(m_actions);
    for (std::size_t cls = 0; cls < rules.size(); ++cls)
    {
        Rule& rule = rules[cls];
        rule.detection = detections[cls].empty() ? rule.detection : PsOf(detections[cls]);
        rule.restoration = restorations[cls].empty() ? rule.restoration : PsOf(restorations[cls]);
        rule.action = actions[cls].empty() ? rule.action : ACTIONS.at(actions[cls]);
    }
    return rules;
}

void
PfcWatchdog::Start()
{
    m_watches.assign(static_cast<std::size_t>(m_node->GetNPorts()) * N_CLASSES, Watch{});
    m_rules = ReadRules();
    m_tick.Schedule(m_poll.GetTimeStep());
}

void
PfcWatchdog::NotifyControl(Port& port, const lossless::ControlFrame& control)
{
    for (uint32_t left = control.opcode == PFC_OPCODE ? control.classes : 0U; left;
         left &= left - 1)
    {
        At(port.GetIndex(), static_cast<uint8_t>(std::countr_zero(left))).heard = true;
    }
}

bool
PfcWatchdog::NotifyArrival(Frame& frame, Port& ingress)
{
    const uint8_t cls = m_node->GetRoles().GetEgressClass(frame, ingress);
    const bool drop = m_rules[cls].action == Action::DROP && At(frame.egress, cls).acting;
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
        const bool storms = paused || (std::exchange(watch.heard, false) && m_calm == Calm::FRAMES);
        watch.calm = storms ? 0 : watch.calm + interval;
        if (watch.calm >= m_rules[cls].restoration)
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
    if (watch.storm >= m_rules[cls].detection)
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
    watch.heard = false;
    for (uint16_t queue = cls; queue < port.GetQueues().size(); queue += N_CLASSES)
    {
        if (m_rules[cls].action == Action::DROP)
        {
            m_dropped += port.GetEgress().DropQueue(queue, DropCause::SCHEME);
        }
        else if (m_rules[cls].action == Action::FORWARD)
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
