/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-repeats.h"

#include "ns3/abort.h"
#include "ns3/eventloop-cell-loop.h"
#include "ns3/rdma-host.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace ns3
{
namespace facade
{

using eventloop::CellLoop;
using lossless::Frame;
using lossless::NEVER;
using lossless::NowPs;
using lossless::Port;

namespace
{

constexpr std::size_t FIRST_HEARD = 16; //!< arrivals in which a period is looked for
constexpr std::size_t MOST_HEARD = 512; //!< the same, at last
constexpr int64_t LEAST_AHEAD = 64;     //!< packets that make it worth while
constexpr int64_t LEAST_PATIENCE = 16;  //!< frames to wait after a failure
constexpr int64_t LEAST_UNIT = 10'000;  //!< shortest time of a frame (ps)
constexpr uint32_t MOST_VAIN = 12;      //!< failures that double the wait
constexpr int64_t FIRST_COST = 8'192;   //!< what a search is worth at first, in events: 1 ms
constexpr int64_t COST_SHARE = 128;     //!< events of the run for each that a search is worth
constexpr int64_t SAVED_SHARE = 8;      //!< events skipped for each one that it is worth, too
constexpr double MOST_TIMES = 64;       //!< as long as the last wait, for the next one
constexpr int64_t FLOWS = 32;           //!< looked at in the time of an event
constexpr int64_t BYTES = 64;           //!< of a state that are written down in that time

} // namespace

Repeats::Repeats(lossless::Fabric& fabric,
                 Traffic& traffic,
                 const deadlock::DeadlockMonitor& deadlocks,
                 Mode mode)
    : m_fabric(fabric),
      m_traffic(traffic),
      m_deadlocks(deadlocks),
      m_mode(mode),
      m_tape(fabric),
      m_look(this, &Repeats::Look)
{
}

void
Repeats::Begin()
{
    lossless::StateVisitor collector(m_events);
    Visit(collector, NowPs()); // before there are flows
    lossless::StateVisitor checks(m_checks);
    m_deadlocks.VisitTest(checks);
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        if (!m_fabric.GetNode(node).IsSwitch())
        {
            m_heard[&m_fabric.GetNode(node).GetPort(0)];
        }
    }
    for (const auto& queuePair : m_traffic.GetQueuePairs())
    {
        if (queuePair->GetCarryingFlow() == queuePair->GetNumber() && !queuePair->IsInside())
        {
            m_carrying.push_back(PeekPointer(queuePair));
        }
    }
    LookAt(NowPs() + 1, Phase::WAITING);
}

void
Repeats::LookAt(int64_t time, Phase phase)
{
    m_phase = phase;
    m_look.Schedule(time - NowPs());
}

void
Repeats::Look()
{
    CellLoop& loop = *CellLoop::Peek();
    loop.Count(-1); // it is no event of the run
    const int64_t now = NowPs();
    switch (m_phase)
    {
    case Phase::WAITING:
        Wait(now);
        break;
    case Phase::LISTENING:
        Hearken(now);
        break;
    case Phase::PROVING:
        Prove(now);
        break;
    case Phase::VERIFYING:
        Verify(now);
        break;
    }
    m_looked = now;
    m_happened = CountEvents();
}

void
Repeats::Fail(int64_t now, const std::string& why)
{
    ++m_reasons[why];
    if (m_phase != Phase::WAITING && std::exchange(m_longer, 0) > 0)
    {
        m_untilLonger = 1U << m_vainLonger;
        m_vainLonger = std::min(m_vainLonger + 1, MOST_VAIN);
    }
    // Soon after messages have started or ended, then less and less often.
    const int64_t unit = std::max<int64_t>(m_unit, LEAST_UNIT);
    const int64_t most = (LEAST_PATIENCE * unit) << m_vain;
    m_vain = std::min(m_vain + 1, MOST_VAIN);
    const int64_t least = (LEAST_PATIENCE * unit) << m_vain / 2;
    LookAt(now + std::clamp((now - m_changed) / 2, least, most), Phase::WAITING);
}

/// Has the search cost its share of all events, but for what skips have saved? Then look again when
/// there are as many, at their present rate.
/// @param now ps. @return true if so.
bool
Repeats::IsSpent(int64_t now)
{
    const int64_t missing = COST_SHARE * (m_cost - FIRST_COST) - CountEvents();
    if (missing <= 0)
    {
        return false;
    }
    ++m_reasons["the search had cost its share of the events"];
    const auto since = static_cast<double>(std::max(now - m_looked, m_unit));
    const auto happened = static_cast<double>(std::max<int64_t>(CountEvents() - m_happened, 1));
    const double wait = since * std::min(static_cast<double>(missing) / happened, MOST_TIMES);
    LookAt(now + std::max(static_cast<int64_t>(wait), LEAST_PATIENCE * LEAST_UNIT), Phase::WAITING);
    return true;
}

/// The flow that has most packets to send.
/// @param now ps. @return queue pair, or null.
rdma::QueuePair*
Repeats::FindBusiest(int64_t now)
{
    rdma::QueuePair* busiest = nullptr;
    int64_t most = LEAST_AHEAD;
    uint64_t messages = m_traffic.GetProgress().finished;
    std::erase_if(m_carrying, [](const auto* queuePair) { return queuePair->IsDone(); });
    for (rdma::QueuePair* queuePair : m_carrying)
    {
        if (queuePair->GetSendQueue().IsLive())
        {
            messages += queuePair->GetPackets();
            const int64_t ahead = queuePair->GetSendQueue().CountAhead();
            busiest = ahead > most ? queuePair : busiest;
            most = std::max(most, ahead);
        }
    }
    m_cost += static_cast<int64_t>(m_carrying.size()) / FLOWS;
    if (std::exchange(m_messages, messages) != messages)
    {
        m_changed = now;
    }
    return busiest;
}

void
Repeats::Wait(int64_t now)
{
    if (IsSpent(now))
    {
        return;
    }
    rdma::QueuePair* busiest = FindBusiest(now);
    if (!busiest)
    {
        if (const int64_t end = FindEnd(now); IsIdle() && end != NEVER)
        {
            LookAt(end + 1, Phase::WAITING);
            return;
        }
        Fail(now, "no message has many packets left");
        return;
    }
    m_ear = &busiest->GetDestination()->GetPort(0);
    const int64_t wire = busiest->GetFrameBytes(busiest->GetPayloadSize()) + m_ear->GetOverhead();
    m_unit = lossless::TransmissionTime(wire, m_ear->GetPeer().GetRate());
    if (std::exchange(m_guessed, false))
    {
        StartProof(now, m_period);
        return;
    }
    Listen(true);
    LookAt(now + 2 * m_longer + FIRST_HEARD * m_unit, Phase::LISTENING);
}

/// Hear what arrives at hosts, or no longer.
/// @param on whether to hear it.
void
Repeats::Listen(bool on)
{
    for (auto& [port, heard] : m_heard)
    {
        m_cost += static_cast<int64_t>(heard.size());
        heard.clear();
        on ? port->TraceConnectWithoutContext("Receive", MakeCallback(&Repeats::Hear, this))
           : port->TraceDisconnectWithoutContext("Receive", MakeCallback(&Repeats::Hear, this));
    }
}

void
Repeats::Hear(const Port& port, const Frame& frame)
{
    m_heard[const_cast<Port*>(&port)].push_back(
        {NowPs(),
         uint64_t{frame.flow} << 32 | static_cast<uint64_t>(frame.kind) << 24 | frame.bytes});
}

namespace
{

/// Does what arrived repeat itself?
/// @param heard arrivals. @param step after so many.
template <class T>
bool
RepeatsAfter(const std::vector<T>& heard, std::size_t step, int64_t period)
{
    const std::size_t count = heard.size();
    for (std::size_t i = count - std::min(count, std::max(2 * step, count / 2)); i < count; ++i)
    {
        if (i >= step && (heard[i].frame != heard[i - step].frame ||
                          heard[i].time - heard[i - step].time != period))
        {
            return false;
        }
    }
    return true;
}

} // namespace

/// The period of what arrives at the port that it listens to, and then at all others.
/// @return ps; 0: there is none.
int64_t
Repeats::FindPeriod() const
{
    const std::vector<Arrival>& first = m_heard.at(m_ear);
    for (std::size_t step = 1; 2 * step + FIRST_HEARD / 2 < first.size(); ++step)
    {
        const int64_t period = first.back().time - first[first.size() - 1 - step].time;
        if (period < m_longer || !RepeatsAfter(first, step, period))
        {
            continue;
        }
        const bool all = std::ranges::all_of(m_heard, [&](const auto& entry) {
            const auto& heard = entry.second;
            std::size_t last = 0; // in the last period
            while (last < heard.size() &&
                   heard[heard.size() - 1 - last].time > heard.back().time - period)
            {
                ++last;
            }
            return last == 0 ? heard.empty() : RepeatsAfter(heard, last, period);
        });
        if (all)
        {
            return period;
        }
    }
    return 0;
}

void
Repeats::Hearken(int64_t now)
{
    const int64_t period = FindPeriod();
    const std::size_t heard = m_heard.at(m_ear).size();
    if (period == 0 && heard >= FIRST_HEARD / 4 && heard < MOST_HEARD)
    {
        LookAt(now + static_cast<int64_t>(heard) * m_unit / 2, Phase::LISTENING);
        return;
    }
    Listen(false);
    if (period == 0)
    {
        Fail(now, "arrivals have no period");
        return;
    }
    StartProof(now, period);
}

/// Visit all that the network holds, flows first.
void
Repeats::Visit(lossless::StateVisitor& visitor, int64_t now)
{
    for (rdma::QueuePair* queuePair : m_carrying)
    {
        queuePair->Visit(visitor, now);
    }
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        m_fabric.GetNode(node).Visit(visitor);
    }
}

void
Repeats::TakeState(lossless::State& state, int64_t now)
{
    lossless::StateVisitor visitor(state, now);
    Visit(visitor, now);
    std::vector<std::pair<const eventloop::Occurrence*, int64_t>> pending;
    CellLoop::Peek()->ForEachPending([&](int64_t time, const eventloop::Occurrence* event) {
        if (event && m_events.contains(event))
        {
            pending.emplace_back(event, time - now);
        }
    });
    std::ranges::sort(pending);
    for (const auto& [event, delay] : pending)
    {
        visitor.Same(reinterpret_cast<uintptr_t>(event), delay);
    }
    const rdma::Progress& progress = m_traffic.GetProgress();
    visitor.Same(progress.finished.load(), progress.acknowledged.load());
    m_cost += static_cast<int64_t>(state.same.size()) / BYTES;
}

void
Repeats::StartProof(int64_t now, int64_t period)
{
    if (const int64_t end = FindEnd(now); end <= now + period)
    {
        m_period = period; // nothing else may happen meanwhile: routes, for one, are not visited
        m_guessed = true;
        LookAt(end + 1, Phase::WAITING);
        return;
    }
    TakeState(m_before, now);
    if (!m_before.refusal.empty())
    {
        Fail(now, m_before.refusal);
        return;
    }
    m_period = period;
    m_executed = CountEvents();
    m_tape.Start();
    LookAt(now + period, Phase::PROVING);
}

void
Repeats::Prove(int64_t now)
{
    m_cost += m_tape.Stop();
    TakeState(m_proven, now);
    std::string why = m_growth.Derive(m_before, m_proven);
    why = why.empty() ? m_tape.FindTie(m_period) : why;
    if (!why.empty())
    {
        Fail(now, why);
        return;
    }
    m_executed = CountEvents() - m_executed;
    Use(now);
}

/// Is nothing on its way? @return true if no event of the path is pending.
bool
Repeats::IsIdle() const
{
    bool idle = true;
    CellLoop::Peek()->ForEachPending([&](int64_t /* time */, const eventloop::Occurrence* event) {
        idle = idle && !(event && m_events.contains(event));
    });
    return idle;
}

/// Events so far, without the checks for deadlocks, which happen inside a skip, too.
/// @return number.
int64_t
Repeats::CountEvents() const
{
    return static_cast<int64_t>(CellLoop::Peek()->GetEventCount() - m_deadlocks.GetTests());
}

/// The first event that is none of the path, and the end of endless flows. A check for deadlocks is
/// none, either, but changes nothing, as none can form.
/// @param now ps. @return time (ps).
int64_t
Repeats::FindEnd(int64_t now) const
{
    int64_t end = NEVER;
    CellLoop::Peek()->ForEachPending([&](int64_t time, const eventloop::Occurrence* event) {
        if (!event || !(m_events.contains(event) || m_checks.contains(event)))
        {
            end = std::min(end, time);
        }
    });
    for (rdma::QueuePair* queuePair : m_carrying)
    {
        const int64_t stop = queuePair->GetDemand().stop;
        if (queuePair->GetSendQueue().IsLive() && stop > now)
        {
            end = std::min(end, stop);
        }
    }
    return end;
}

/// Skip what can be skipped from the proven state on.
/// @param now ps.
void
Repeats::Use(int64_t now)
{
    const int64_t end = FindEnd(now);
    const int64_t toEvent = (end - 1 - now) / m_growth.period;
    int64_t toPacket = NEVER;
    bool sends = false;
    for (rdma::QueuePair* queuePair : m_carrying)
    {
        const auto grown = m_growth.packets.find(queuePair->GetFlow());
        if (grown != m_growth.packets.end() && grown->second > 0)
        {
            sends = true;
            // Frames have 32 bits for the number of a packet.
            const auto numbers = static_cast<int64_t>(UINT32_MAX) -
                                 static_cast<int64_t>(m_proven.bases.at(queuePair->GetFlow()));
            const int64_t ahead = std::min(queuePair->GetSendQueue().CountAhead(), numbers);
            toPacket = std::min(toPacket, ahead / static_cast<int64_t>(grown->second));
        }
    }
    const bool counted = m_growth.most < std::min(toEvent, toPacket);
    toPacket = std::min(toPacket, m_growth.most);
    if (!sends || toPacket < 1)
    {
        Fail(now, "a message is about to end");
        return;
    }
    m_vain = 0;
    m_guessed = true;
    if (std::exchange(m_longer, 0) > 0)
    {
        m_vainLonger = 0;
    }
    if (counted && m_untilLonger > 0)
    {
        --m_untilLonger;
    }
    else if (counted)
    {
        // Such as packets until the next ACK: perhaps what happens repeats with them, too.
        m_longer = (m_growth.most + 1) * m_growth.period;
        m_guessed = false;
    }
    const int64_t periods = std::min(toEvent, toPacket);
    const int64_t after = now + periods * m_growth.period;
    if (periods > 0)
    {
        ++m_jumps;
        m_skipped += periods * m_growth.period;
        // What is saved pays the search first; a share of the rest may be spent in vain.
        const int64_t left = periods * m_executed - std::max<int64_t>(m_cost, 0);
        m_cost = left < 0 ? -left : std::min<int64_t>(m_cost, 0) - left / SAVED_SHARE;
        m_peaks = m_tape.PeaksAfter(periods);
        if (m_mode == Mode::VERIFY)
        {
            m_expected = m_growth.Predict(m_proven, periods);
            LookAt(after, Phase::VERIFYING);
            return;
        }
        m_tape.RaisePeaks(m_peaks);
        Jump(periods);
    }
    LookAt(toEvent < toPacket ? end + 1 : after + LEAST_PATIENCE * m_unit, Phase::WAITING);
}

void
Repeats::Verify(int64_t now)
{
    lossless::State state;
    TakeState(state, now);
    NS_ABORT_MSG_IF(!lossless::Growth::Matches(m_expected, state),
                    "what repeated itself from " << m_before.time << " to " << m_proven.time
                                                 << " ps did not do so up to " << now
                                                 << " ps: a skip would have been wrong");
    NS_ABORT_MSG_IF(m_peaks != m_tape.GetPeaks(),
                    "the peaks of buffers up to " << now << " ps are not as they were predicted");
    LookAt(now + LEAST_PATIENCE * m_unit, Phase::WAITING);
}

void
Repeats::Jump(int64_t periods)
{
    lossless::StateVisitor mover(m_growth, periods);
    Visit(mover, NowPs());
    CellLoop::Peek()->Delay(m_events, periods * m_growth.period);
    CellLoop::Peek()->Count(periods * m_executed);
}

std::string
Repeats::Describe() const
{
    std::ostringstream text;
    text << "repeats: " << m_skipped << " ps in " << m_jumps << " parts "
         << (m_mode == Mode::VERIFY ? "would have been skipped, and were compared"
                                    : "were skipped");
    for (const auto& [why, count] : m_reasons)
    {
        text << "; nothing was " << count << " times, as " << why;
    }
    text << "\n";
    return text.str();
}

} // namespace facade
} // namespace ns3
