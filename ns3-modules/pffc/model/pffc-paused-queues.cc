/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pffc-paused-queues.h"

#include "ns3/log.h"
#include "ns3/lossless-port.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ns3
{
namespace pffc
{

NS_LOG_COMPONENT_DEFINE("Pffc");

using lossless::EgressQueue;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::NowPs;

namespace
{

/// Refresh periods after which state that was not refreshed is discarded.
constexpr int64_t ROUNDS_TO_FORGET = 3;

/// The key of a flow on the sender's side.
/// @param cls class
/// @param flow flow
/// @return key
uint64_t
PlaceKey(uint8_t cls, uint32_t flow)
{
    return static_cast<uint64_t>(cls) << 32 | flow;
}

} // namespace

PausedQueues::PausedQueues()
    : m_expiry(this, &PausedQueues::Expire)
{
}

void
PausedQueues::Start(lossless::Port& port, uint32_t nPeqs, Time refresh)
{
    m_port = &port;
    m_nPeqs = nPeqs;
    m_refresh = refresh;
    m_lanes.resize(static_cast<std::size_t>(N_CLASSES) * nPeqs);
}

void
PausedQueues::Reset()
{
    const int64_t now = NowPs();
    m_places.Clear();
    m_placed.fill(0);
    m_heardClasses = 0;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (uint32_t peq = 1; peq <= m_nPeqs; ++peq)
        {
            SetPaused(cls, peq, false, now);
            LaneOf(cls, peq) = Lane{};
        }
    }
}

const PausedQueues::Lane&
PausedQueues::LaneOf(uint8_t cls, uint32_t peq) const
{
    return m_lanes[cls * m_nPeqs + peq - 1];
}

PausedQueues::Lane&
PausedQueues::LaneOf(uint8_t cls, uint32_t peq)
{
    return m_lanes[cls * m_nPeqs + peq - 1];
}

uint16_t
PausedQueues::QueueNumber(uint8_t cls, uint32_t peq)
{
    return static_cast<uint16_t>(cls + N_CLASSES * peq);
}

bool
PausedQueues::WaitsFor(uint16_t queue, const Frame& head, uint16_t other) const
{
    const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
    const uint32_t peq = queue / N_CLASSES;
    if (peq == 0 || other % N_CLASSES != cls)
    {
        return false;
    }
    const Lane& lane = LaneOf(cls, peq);
    return (lane.behind >> other / N_CLASSES) & 1U &&
           m_port->GetQueues()[other].GetOldest() < std::min(lane.mark, head.order);
}

uint16_t
PausedQueues::SelectQueue(const Frame& frame, uint16_t queue) const
{
    const uint8_t cls = frame.cls;
    if (m_placed[cls] == 0 || queue != cls)
    {
        return queue;
    }
    const Place* place = m_places.Find(PlaceKey(cls, frame.flow));
    if (!place || (place->leaving && (place->held == 0 || AreEmpty(cls))))
    {
        return queue;
    }
    return QueueNumber(cls, place->peq);
}

void
PausedQueues::NotifyJoined(uint16_t queue, const Frame& frame)
{
    Place* place = queue < N_CLASSES ? nullptr : m_places.Find(PlaceKey(frame.cls, frame.flow));
    if (place)
    {
        ++place->held;
    }
}

void
PausedQueues::NotifySent(uint16_t queue, const Frame& frame)
{
    if (queue < N_CLASSES)
    {
        return;
    }
    const uint8_t cls = frame.cls;
    Lane& lane = LaneOf(cls, queue / N_CLASSES);
    if (frame.order >= lane.mark)
    {
        lane.behind = 0; // otherwise this frame would still have had to wait
    }
    Place* place = m_places.Find(PlaceKey(cls, frame.flow));
    if (place && --place->held == 0 && place->leaving)
    {
        Forget(cls, frame.flow);
    }
}

bool
PausedQueues::AreEmpty(uint8_t cls) const
{
    const std::vector<EgressQueue>& queues = m_port->GetQueues();
    for (uint32_t peq = 1; peq <= m_nPeqs; ++peq)
    {
        if (queues[QueueNumber(cls, peq)].GetFrames() > 0)
        {
            return false;
        }
    }
    return true;
}

bool
PausedQueues::MayServe(uint8_t cls, uint32_t peq) const
{
    const std::vector<EgressQueue>& queues = m_port->GetQueues();
    const Frame* head = queues[QueueNumber(cls, peq)].Head();
    const Lane& lane = LaneOf(cls, peq);
    if (!head || lane.paused >= 0)
    {
        return false;
    }
    const uint64_t before = std::min(lane.mark, head->order);
    for (uint32_t behind = lane.behind; behind; behind &= behind - 1)
    {
        if (queues[QueueNumber(cls, std::countr_zero(behind))].GetOldest() < before)
        {
            return false;
        }
    }
    return true;
}

uint32_t
PausedQueues::NextQueue(uint8_t cls) const
{
    // Frames that were in a PEQ when it was resumed go first, then the frame that has waited
    // longest.
    const std::vector<EgressQueue>& queues = m_port->GetQueues();
    const Frame* deq = queues[cls].Head();
    uint32_t best = 0;
    uint64_t oldest = deq ? deq->order : std::numeric_limits<uint64_t>::max();
    bool waited = false;
    for (uint32_t peq = 1; peq <= m_nPeqs; ++peq)
    {
        if (!MayServe(cls, peq))
        {
            continue;
        }
        const uint64_t order = queues[QueueNumber(cls, peq)].Head()->order;
        const bool hasWaited = order < LaneOf(cls, peq).resumed;
        if (hasWaited != waited ? hasWaited : order < oldest)
        {
            best = peq;
            oldest = order;
            waited = hasWaited;
        }
    }
    return best;
}

bool
PausedQueues::IsNext(uint16_t queue) const
{
    const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
    return m_placed[cls] == 0 || NextQueue(cls) == queue / N_CLASSES;
}

void
PausedQueues::Receive(const Message& message)
{
    const uint8_t cls = message.cls;
    const uint32_t bit = 1U << cls;
    const auto ahead = static_cast<int16_t>(message.sequence - m_heard[cls]);
    if (m_heardClasses & bit && ahead <= 0)
    {
        ++m_overtaken;
        return;
    }
    m_heard[cls] = message.sequence;
    m_heardClasses = static_cast<uint8_t>(m_heardClasses | bit);
    const int64_t now = NowPs();
    if (message.opcode == STATE_OPCODE)
    {
        SetState(message, now);
    }
    for (uint32_t i = 0; i < message.nFlows; ++i)
    {
        if (message.opcode == MIGRATE_OPCODE)
        {
            Migrate(cls, message.flows[i], message.peq, now);
        }
        else
        {
            MigrateBack(cls, message.flows[i]);
        }
    }
    if (message.nFlows > 0)
    {
        m_port->NoteModelChange();    // a PEQ may have to wait for another one now
        m_port->GetEgress().Reopen(); // they join other queues now
        m_port->Kick();
    }
    StartExpiry();
}

void
PausedQueues::SetState(const Message& message, int64_t now)
{
    m_heardAt[message.cls] = now;
    for (const bool paused : {true, false}) // resuming may transmit: pause first
    {
        for (uint32_t peq = 1; peq <= m_nPeqs; ++peq)
        {
            if (((message.paused >> peq) & 1U) == paused)
            {
                SetPaused(message.cls, peq, paused, now);
            }
        }
    }
}

void
PausedQueues::SetPaused(uint8_t cls, uint32_t peq, bool paused, int64_t now)
{
    Lane& lane = LaneOf(cls, peq);
    if (paused == (lane.paused >= 0))
    {
        return;
    }
    if (paused)
    {
        lane.paused = now;
        m_port->Block(QueueNumber(cls, peq));
        return;
    }
    m_pausedTime += now - lane.paused;
    lane.paused = -1;
    lane.resumed = m_port->GetEgress().GetFramesJoined();
    m_port->Unblock(QueueNumber(cls, peq));
}

void
PausedQueues::Migrate(uint8_t cls, uint32_t flow, uint8_t peq, int64_t now)
{
    if (peq < 1 || peq > m_nPeqs)
    {
        return; // from a peer with more PEQs
    }
    const uint64_t key = PlaceKey(cls, flow);
    Place* place = m_places.Find(key);
    if (!place)
    {
        place = &m_places.Add(key);
        ++m_placed[cls];
        m_peakPlaces = std::max(m_peakPlaces, m_places.GetEntries());
        place->peq = 0;
    }
    place->confirmed = now;
    place->leaving = false;
    if (place->peq == peq)
    {
        return;
    }
    Lane& lane = LaneOf(cls, peq);
    lane.mark = m_port->GetEgress().GetFramesJoined();
    lane.behind |= place->peq ? 1U << place->peq | LaneOf(cls, place->peq).behind : 1U;
    lane.behind &= ~(1U << peq);
    place->peq = peq;
    NS_LOG_LOGIC("port to node " << m_port->GetPeerId() << ": flow " << flow << " joins PEQ "
                                 << +peq << " of class " << +cls);
}

void
PausedQueues::MigrateBack(uint8_t cls, uint32_t flow)
{
    Place* place = m_places.Find(PlaceKey(cls, flow));
    if (!place)
    {
        return;
    }
    place->leaving = true;
    if (place->held == 0 || AreEmpty(cls))
    {
        Forget(cls, flow);
    }
}

void
PausedQueues::Forget(uint8_t cls, uint32_t flow)
{
    m_places.Remove(PlaceKey(cls, flow));
    --m_placed[cls];
    m_port->GetEgress().Reopen();
}

void
PausedQueues::StartExpiry()
{
    if (!m_refresh.IsZero())
    {
        m_expiry.Schedule(m_refresh.GetTimeStep());
    }
}

void
PausedQueues::Expire()
{
    const int64_t now = NowPs();
    const int64_t limit = ROUNDS_TO_FORGET * m_refresh.GetTimeStep();
    bool busy = false;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (uint32_t peq = 1; peq <= m_nPeqs; ++peq)
        {
            const bool paused = LaneOf(cls, peq).paused >= 0;
            if (paused && now - m_heardAt[cls] >= limit)
            {
                ++m_expired;
                SetPaused(cls, peq, false, now);
            }
            busy |= paused;
        }
    }
    std::vector<uint64_t> old;
    m_places.ForEach([&](uint64_t key, const Place& place) {
        if (now - place.confirmed >= limit)
        {
            old.push_back(key);
        }
    });
    for (const uint64_t key : old)
    {
        m_expired += !m_places.Find(key)->leaving;
        MigrateBack(static_cast<uint8_t>(key >> 32), static_cast<uint32_t>(key));
    }
    if (!old.empty())
    {
        m_port->Kick();
    }
    if (busy || m_places.GetEntries() > 0)
    {
        StartExpiry();
    }
}

int64_t
PausedQueues::GetPausedTime() const
{
    int64_t paused = m_pausedTime;
    for (const Lane& lane : m_lanes)
    {
        paused += lane.paused >= 0 ? NowPs() - lane.paused : 0;
    }
    return paused;
}

} // namespace pffc
} // namespace ns3
