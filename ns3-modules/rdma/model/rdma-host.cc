/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-host.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-rate.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace rdma
{

using lossless::ANY_QUEUE;
using lossless::DropCause;
using lossless::Frame;
using lossless::FrameKind;
using lossless::NEVER;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Host);

TypeId
Host::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::Host")
            .SetParent<lossless::FabricNode>()
            .SetGroupName("rdma")
            .AddConstructor<Host>()
            .AddAttribute("Latency",
                          "NIC latency: from a frame's last bit until it is processed, and from "
                          "the creation of an answer (ACK, CNP, routed control frame) until it "
                          "joins the egress queue. MAC control frames bypass it.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Host::m_latency),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("AckDelay",
                          "NIC: additional delay of an ACK or NACK, from the processing of its "
                          "data frame until it joins the egress queue. To be measured: no source "
                          "was available.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Host::m_ackDelay),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("CnpDelay",
                          "NIC: the same for CNPs. To be measured: no source was available.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Host::m_cnpDelay),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("SendInterval",
                          "NIC: least time between two packets that it begins to process for "
                          "sending, data and answers together: 1 / its packet rate, 5 ns for "
                          "200 million a second. 0: no limit.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Host::m_sendInterval),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("ReceiveInterval",
                          "NIC: least time between two packets of data that it takes; those "
                          "that come faster fill its buffer. 0: no limit.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Host::m_receiveInterval),
                          lossless::MakePicosecondsChecker());
    return tid;
}

Host::Host()
    : m_timer(this, &Host::Timer),
      m_inbound(this),
      m_outbound(this),
      m_outboundAcks(this),
      m_outboundCnps(this),
      m_served(this, &Host::Served)
{
}

Host::~Host() = default;

void
Host::SetShared(const std::vector<Ptr<QueuePair>>* queuePairs, Progress* progress)
{
    m_queuePairs = queuePairs;
    m_progress = progress;
}

void
Host::SetLinkCallback(Callback<void> told)
{
    m_linkCallback = told;
}

void
Host::ConnectSource()
{
    lossless::Port& port = *m_ports.front();
    if (const int64_t interval = m_sendInterval.GetTimeStep(); interval > 0)
    {
        m_pipeline = std::make_unique<SendPipeline>(*this, port, interval);
        m_source = m_pipeline.get();
    }
    m_direct = !m_pipeline && m_latency.IsZero() && m_ackDelay.IsZero() && m_cnpDelay.IsZero();
    UpdateTaking();
    port.GetEgress().AddSource(m_source);
}

void
Host::SetLargestFrame(uint32_t bytes)
{
    m_largestFrame = bytes;
}

uint32_t
Host::GetLargestFrame() const
{
    return m_largestFrame;
}

void
Host::SetReceiveRate(uint64_t rate)
{
    m_receiveRate = rate;
    UpdateTaking();
    ServeNext();
}

void
Host::SetPauseStorm(uint8_t cls, bool on, bool endless)
{
    if (on)
    {
        m_silencing |= endless ? 1U << cls : 0U;
        NotePressure(*m_ports.front(), lossless::NO_PORT, cls, cls);
    }
    m_ports.front()->GetChain().NotifyXoff(cls, on);
}

bool
Host::IsPausingForever(uint8_t cls) const
{
    return (m_silencing >> cls) & 1U;
}

int64_t
Host::GetPipelineLatency() const
{
    return 0;
}

void
Host::PushReady(QueuePair* queuePair, int64_t now)
{
    queuePair->WaitForTurn(now);
    const uint8_t cls = queuePair->GetDemand().cls;
    queuePair->m_listed = true;
    queuePair->m_nextReady = nullptr;
    (m_readyHead[cls] ? m_readyTail[cls]->m_nextReady : m_readyHead[cls]) = queuePair;
    m_readyTail[cls] = queuePair;
    m_ports.front()->GetEgress().SetReady(m_source, cls, true);
}

void
Host::Park(QueuePair* queuePair, uint16_t queue)
{
    queuePair->m_listed = true;
    queuePair->m_nextReady = nullptr;
    if (queue >= m_parked.size())
    {
        m_parked.resize(queue + 1U);
    }
    Parked& parked = m_parked[queue];
    (parked.head ? parked.tail->m_nextReady : parked.head) = queuePair;
    parked.tail = queuePair;
}

QueuePair*
Host::Unpark(uint16_t queue)
{
    QueuePair* queuePair = queue < m_parked.size() ? m_parked[queue].head : nullptr;
    if (queuePair)
    {
        m_parked[queue].head = queuePair->m_nextReady;
        PushReady(queuePair, NowPs());
    }
    return queuePair;
}

void
Host::Reopen(uint16_t queue)
{
    if (queue != ANY_QUEUE)
    {
        if (QueuePair* queuePair = Unpark(queue))
        {
            queuePair->m_reopened = queue;
        }
        return;
    }
    for (uint16_t each = 0; each < m_parked.size(); ++each)
    {
        while (Unpark(each))
        {
        }
    }
}

void
Host::List(QueuePair* queuePair, int64_t now)
{
    if (!queuePair->CanSend(now))
    {
        return;
    }
    const int64_t earliest = queuePair->GetEarliest(now);
    if (earliest <= now)
    {
        PushReady(queuePair, now);
        return;
    }
    if (earliest == NEVER || earliest >= queuePair->m_timedAt)
    {
        return;
    }
    queuePair->m_timedAt = earliest;
    m_timed.push(Timed{earliest, queuePair->GetFlow(), queuePair});
    if (earliest < m_timerAt)
    {
        m_timerAt = earliest;
        m_timer.Schedule(earliest - now);
    }
}

void
Host::Activate(QueuePair* queuePair)
{
    if (!queuePair->m_listed)
    {
        List(queuePair, NowPs());
        if (queuePair->m_listed)
        {
            m_ports.front()->Kick();
        }
    }
}

void
Host::Timer()
{
    const int64_t now = NowPs();
    if (m_timerAt > now)
    {
        return;
    }
    m_timerAt = NEVER;
    while (!m_timed.empty() && m_timed.top().time <= now)
    {
        const Timed timed = m_timed.top();
        m_timed.pop();
        if (timed.queuePair->m_timedAt == timed.time && timed.queuePair->GetSource() == this)
        {
            timed.queuePair->m_timedAt = NEVER;
            if (!timed.queuePair->m_listed)
            {
                List(timed.queuePair, now);
            }
        }
    }
    if (!m_timed.empty() && m_timed.top().time < m_timerAt)
    {
        m_timerAt = m_timed.top().time;
        m_timer.Schedule(m_timerAt - now);
    }
    m_ports.front()->Kick();
}

Frame*
Host::Pull(uint8_t cls)
{
    // A queue pair that can no longer send since it joined the ring is skipped.
    const int64_t now = NowPs();
    const lossless::Port& port = *m_ports.front();
    Frame* frame = nullptr;
    while (!frame && m_readyHead[cls])
    {
        QueuePair* queuePair = m_readyHead[cls];
        m_readyHead[cls] = queuePair->m_nextReady;
        queuePair->m_listed = false;
        const uint16_t reopened = std::exchange(queuePair->m_reopened, ANY_QUEUE);
        const bool maySend = queuePair->CanSend(now) && queuePair->GetEarliest(now) <= now;
        uint16_t queue = cls;
        if (maySend && port.GetEgress().HasSelectors())
        {
            queue = port.GetEgress().QueueOf(queuePair->GetHeader());
        }
        if (maySend && port.GetQueues()[queue].GetFrames() > 0)
        {
            // A flow that is held back must not fill a queue of the port, nor take the others'
            // turns.
            Park(queuePair, queue);
            if (reopened != ANY_QUEUE && reopened != queue)
            {
                Reopen(reopened);
            }
            continue;
        }
        if (maySend)
        {
            frame = queuePair->MakeNext(now);
        }
        List(queuePair, now);
        if (reopened != ANY_QUEUE && (!frame || queue != reopened))
        {
            Reopen(reopened); // it did not use its turn: the next one that waits for that queue
        }
    }
    if (!m_readyHead[cls])
    {
        m_ports.front()->GetEgress().SetReady(m_source, cls, false);
    }
    if (frame)
    {
        CountMade(frame);
    }
    return frame;
}

void
Host::Inject(Frame* frame)
{
    CountMade(frame);
    if (m_direct)
    {
        m_ports.front()->Enqueue(frame);
        return;
    }
    const bool cnp = frame->kind == FrameKind::CNP;
    const bool ack = frame->kind == FrameKind::ACK || frame->kind == FrameKind::NACK;
    const int64_t more = cnp ? m_cnpDelay.GetTimeStep() : ack ? m_ackDelay.GetTimeStep() : 0;
    const int64_t delay = m_latency.GetTimeStep() + more;
    if (delay == 0)
    {
        LeaveOutbound(frame);
        return;
    }
    Outbound& outbound = cnp ? m_outboundCnps : ack ? m_outboundAcks : m_outbound;
    outbound.Send(delay, frame);
}

void
Host::LeaveOutbound(Frame* frame)
{
    m_pipeline ? m_pipeline->Send(frame) : m_ports.front()->Enqueue(frame);
}

void
Host::Receive(Frame* frame, lossless::Port& /* ingress */)
{
    frame->queued = NowPs(); // in the NIC, until it is processed
    if (m_latency.IsZero())
    {
        Accept(frame);
        return;
    }
    m_inbound.Send(m_latency.GetTimeStep(), frame);
}

void
Host::Accept(Frame* frame)
{
    lossless::Port& ingress = *m_ports.front();
    const bool payload = frame->kind == FrameKind::DATA || frame->kind == FrameKind::PACKET;
    if (payload && (m_takesTime || m_serving))
    {
        if (Charge(frame, ingress, 0))
        {
            m_received.Push(frame);
            m_roles.TellReceive(*frame, m_received.GetBytes(), GetTakingRate(*frame));
            ServeNext();
        }
        return;
    }
    if (!payload || !ingress.GetChain().CountsBytes() || PassThrough(frame, ingress))
    {
        Process(frame);
    }
}

void
Host::ServeNext()
{
    if (m_serving || m_received.IsEmpty())
    {
        return;
    }
    m_serving = true;
    const int64_t time =
        m_receiveRate ? lossless::TransmissionTime(m_received.Head()->bytes, m_receiveRate) : 0;
    m_served.Schedule(std::max(time, m_nextTake - NowPs()));
}

void
Host::UpdateTaking()
{
    m_takesTime = m_receiveRate > 0 || m_receiveInterval.IsStrictlyPositive();
}

uint64_t
Host::GetTakingRate(const Frame& frame) const
{
    constexpr uint64_t PS_BITS = 8'000'000'000'000ULL;
    const auto interval = static_cast<uint64_t>(m_receiveInterval.GetTimeStep());
    const uint64_t rate = m_receiveRate ? m_receiveRate : m_ports.front()->GetRate();
    return interval ? std::min(rate, std::max<uint64_t>(frame.bytes * PS_BITS / interval, 1))
                    : rate;
}

void
Host::Served()
{
    Frame* frame = m_received.Pop();
    m_serving = false;
    m_nextTake = NowPs() + m_receiveInterval.GetTimeStep();
    ReleaseHere(frame);
    Process(frame);
    ServeNext();
}

void
Host::Process(Frame* frame)
{
    if (frame->kind == FrameKind::SIGNAL)
    {
        ++m_counters.taken;
        if (!m_roles.OfferTransit(frame, *m_ports.front()))
        {
            lossless::FramePool::Give(frame);
        }
        return;
    }
    if (frame->kind == FrameKind::PACKET)
    {
        HandOver(frame);
        return;
    }
    if (frame->dst != m_id)
    {
        Drop(frame, DropCause::NO_ROUTE);
        return;
    }
    QueuePair& queuePair = *(*m_queuePairs)[frame->flow];
    if (frame->kind == FrameKind::DATA)
    {
        queuePair.ReceiveData(*frame);
    }
    else
    {
        queuePair.ReceiveAnswer(*frame);
    }
    Take(frame);
}

uint64_t
Host::CountHeld() const
{
    return m_received.GetFrames() + m_inbound.GetCount() + m_outbound.GetCount() +
           m_outboundAcks.GetCount() + m_outboundCnps.GetCount() +
           (m_pipeline ? m_pipeline->CountHeld() : 0);
}

QueuePair*
Host::FindSender(uint32_t flow) const
{
    if (flow >= m_queuePairs->size())
    {
        return nullptr;
    }
    QueuePair* queuePair = PeekPointer((*m_queuePairs)[flow]);
    return queuePair->GetSource() == this ? queuePair : nullptr;
}

uint32_t
Host::GetNFlows() const
{
    return static_cast<uint32_t>(m_queuePairs->size());
}

QueuePair&
Host::GetQueuePair(uint32_t flow) const
{
    return *(*m_queuePairs)[flow];
}

int64_t
Host::GetLatency() const
{
    return m_latency.GetTimeStep();
}

int64_t
Host::GetAckDelay() const
{
    return m_ackDelay.GetTimeStep();
}

int64_t
Host::GetSendInterval() const
{
    return m_sendInterval.GetTimeStep();
}

int64_t
Host::GetReceiveInterval() const
{
    return m_receiveInterval.GetTimeStep();
}

void
Host::NoteDelivery(uint64_t bytes)
{
    m_progress->lastDelivery = NowPs();
    m_progress->delivered += bytes;
}

void
Host::NoteFinished(uint32_t flow)
{
    ++m_progress->finished;
    if (!m_progress->whenFinished.IsNull())
    {
        m_progress->whenFinished(flow);
    }
    if (m_progress->IsDone())
    {
        Simulator::Stop();
    }
}

void
Host::NoteAcknowledged()
{
    ++m_progress->acknowledged;
    if (m_progress->IsDone())
    {
        Simulator::Stop();
    }
}

void
Host::Forget(QueuePair* queuePair)
{
    const auto take = [queuePair](QueuePair*& head, QueuePair*& tail) {
        QueuePair* before = nullptr;
        for (QueuePair** link = &head; *link; before = *link, link = &before->m_nextReady)
        {
            if (*link == queuePair)
            {
                *link = queuePair->m_nextReady;
                tail = tail == queuePair ? before : tail;
                break;
            }
        }
    };
    const uint8_t cls = queuePair->GetDemand().cls;
    if (queuePair->m_listed)
    {
        take(m_readyHead[cls], m_readyTail[cls]);
        for (Parked& parked : m_parked)
        {
            take(parked.head, parked.tail);
        }
    }
    if (!m_readyHead[cls])
    {
        m_ports.front()->GetEgress().SetReady(m_source, cls, false);
    }
    queuePair->m_listed = false;
    queuePair->m_timedAt = NEVER;
    if (const uint16_t reopened = std::exchange(queuePair->m_reopened, ANY_QUEUE);
        reopened != ANY_QUEUE)
    {
        Reopen(reopened); // the turn passes to the next one
    }
}

void
Host::NotifyLink(lossless::Port& port, bool up)
{
    FabricNode::NotifyLink(port, up);
    if (!m_linkCallback.IsNull())
    {
        m_linkCallback();
    }
}

void
Host::NotifyLeft(const Frame& frame)
{
    QueuePair* queuePair = PeekPointer((*m_queuePairs)[frame.flow]);
    const int64_t held = m_ports.front()->GetEgress().GetHolds().GetHeldUntil(frame.cls);
    queuePair->NotifyLeft(frame, held, NowPs());
    queuePair->GetSource()->Activate(queuePair); // it may have moved
}

} // namespace rdma
} // namespace ns3
