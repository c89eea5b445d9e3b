/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-host.h"

#include "ns3/double.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
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

namespace
{

/// First of the ns-3 random streams of pacing: host n uses the n-th after it.
constexpr int64_t PACING_STREAM = 1LL << 34;

} // namespace

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
            .AddAttribute("AckClass",
                          "NIC: class of the ACKs and NACKs that it sends; 8 is the control queue, "
                          "which is never paused, 9 leaves it to answer_class of [queue_pair].",
                          UintegerValue(lossless::CONTROL_CLASS + 1),
                          MakeUintegerAccessor(&Host::m_ackClass),
                          MakeUintegerChecker<uint32_t>(0, lossless::CONTROL_CLASS + 1))
            .AddAttribute("CnpClass",
                          "NIC: the same for CNPs. ConnectX sends them in class 6.",
                          UintegerValue(lossless::CONTROL_CLASS + 1),
                          MakeUintegerAccessor(&Host::m_cnpClass),
                          MakeUintegerChecker<uint32_t>(0, lossless::CONTROL_CLASS + 1))
            .AddAttribute("SendInterval",
                          "NIC: least time between two packets that it begins to process for "
                          "sending, data and answers together: 1 / its packet rate, 5 ns for "
                          "200 million a second. 0: no limit.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Host::m_sendInterval),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("QueuePairBurst",
                          "NIC: bytes of frames that it sends of a queue pair, while that has some "
                          "ready, before it serves the next one of the class; the frame that "
                          "reaches them is the last. 0: a frame each. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Host::m_queuePairBurst),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000'000))
            .AddAttribute("PacingJitter",
                          "Largest share by which the spacing of two frames of a flow below line "
                          "rate is longer or shorter than its rate says, drawn from the seed for "
                          "each; the rate stays. Without it equal flows stay in step.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&Host::m_pacingJitter),
                          MakeDoubleChecker<double>(0, 1))
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
    // Then an answer joins the egress in the event that makes it.
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
Host::SetCell(uint16_t cell)
{
    FabricNode::SetCell(cell);
    // Of the same instant: what arrives comes before answers, and these before flows whose time has
    // come. A further kind goes last, or the ties of all others are decided otherwise.
    uint16_t kind = 0;
    m_inbound.SetPlace(PlaceOf(kind++));
    m_served.SetPlace(PlaceOf(kind++));
    m_outbound.SetPlace(PlaceOf(kind++));
    m_outboundAcks.SetPlace(PlaceOf(kind++));
    m_outboundCnps.SetPlace(PlaceOf(kind++));
    m_timer.SetPlace(PlaceOf(kind++));
}

int64_t
Host::GetPipelineLatency() const
{
    return 0;
}

void
Host::Line::Append(SendQueue& queue)
{
    queue.GetListing().listed = true;
    queue.GetListing().next = nullptr;
    (head ? tail->GetListing().next : head) = &queue;
    tail = &queue;
}

void
Host::Line::Continue(SendQueue& queue, uint64_t bytes)
{
    queue.GetListing().listed = true;
    queue.GetListing().next = head;
    tail = head ? tail : &queue;
    head = &queue;
    served = bytes;
}

void
Host::Line::Remove(SendQueue& queue)
{
    served = head == &queue ? 0 : served;
    SendQueue* before = nullptr;
    for (SendQueue** link = &head; *link; before = *link, link = &before->GetListing().next)
    {
        if (*link == &queue)
        {
            *link = queue.GetListing().next;
            tail = tail == &queue ? before : tail;
            return;
        }
    }
}

void
Host::PushReady(SendQueue& queue, int64_t now)
{
    queue.WaitForTurn(now);
    const uint8_t cls = queue.GetConnection().GetDemand().cls;
    m_readyLines[cls].Append(queue);
    m_ports.front()->GetEgress().SetReady(m_source, cls, true);
}

void
Host::Park(SendQueue& queue, uint16_t egressQueue)
{
    if (egressQueue >= m_parked.size())
    {
        m_parked.resize(egressQueue + 1U);
    }
    m_parked[egressQueue].Append(queue);
}

SendQueue*
Host::Unpark(uint16_t egressQueue)
{
    SendQueue* queue = egressQueue < m_parked.size() ? m_parked[egressQueue].head : nullptr;
    if (queue)
    {
        m_parked[egressQueue].head = queue->GetListing().next;
        PushReady(*queue, NowPs());
    }
    return queue;
}

void
Host::Reopen(uint16_t queue)
{
    if (queue != ANY_QUEUE)
    {
        if (SendQueue* first = Unpark(queue))
        {
            first->GetListing().reopened = queue;
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
Host::List(SendQueue& queue, int64_t now)
{
    if (!queue.CanSend(now))
    {
        return;
    }
    const int64_t earliest = queue.GetEarliest(now);
    if (earliest <= now)
    {
        PushReady(queue, now);
        return;
    }
    // An entry of m_timed stays when the flow gets an earlier one: timedAt tells which one counts.
    if (earliest == NEVER || earliest >= queue.GetListing().timedAt)
    {
        return;
    }
    queue.GetListing().timedAt = earliest;
    m_timed.push(Timed{earliest, queue.GetConnection().GetFlow(), &queue});
    if (earliest < m_timerAt)
    {
        m_timerAt = earliest;
        m_timer.Schedule(earliest - now);
    }
}

void
Host::Activate(SendQueue& queue)
{
    if (!queue.GetListing().listed)
    {
        List(queue, NowPs());
        if (queue.GetListing().listed)
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
        return; // an earlier timer has done its work
    }
    m_timerAt = NEVER;
    while (!m_timed.empty() && m_timed.top().time <= now)
    {
        const Timed timed = m_timed.top();
        m_timed.pop();
        SendQueue::Listing& listing = timed.queue->GetListing();
        // It may have an earlier entry, or have moved to another host.
        if (listing.timedAt == timed.time && timed.queue->GetHost() == this)
        {
            listing.timedAt = NEVER;
            if (!listing.listed)
            {
                List(*timed.queue, now);
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
    // A flow that can no longer send since it joined the line is skipped.
    const int64_t now = NowPs();
    const lossless::Port& port = *m_ports.front();
    Line& ready = m_readyLines[cls];
    Frame* frame = nullptr;
    while (!frame && ready.head)
    {
        SendQueue& flow = *ready.head;
        SendQueue::Listing& listing = flow.GetListing();
        ready.head = listing.next;
        listing.listed = false;
        const uint64_t served = std::exchange(ready.served, 0);
        const uint16_t reopened = std::exchange(listing.reopened, ANY_QUEUE);
        const bool maySend = flow.CanSend(now) && flow.GetEarliest(now) <= now;
        uint16_t queue = cls;
        if (maySend && port.GetEgress().HasSelectors())
        {
            queue = port.GetEgress().QueueOf(flow.GetConnection().GetHeader());
        }
        if (maySend && port.GetQueues()[queue].GetFrames() > 0)
        {
            // A flow that is held back must not fill a queue of the port, nor take the others'
            // turns.
            Park(flow, queue);
            if (reopened != ANY_QUEUE && reopened != queue)
            {
                Reopen(reopened);
            }
            continue;
        }
        if (maySend)
        {
            frame = flow.MakeNext(now);
        }
        // It stays first for the rest of its burst, or goes to the end of the line.
        if (frame && served + frame->bytes < m_queuePairBurst && flow.CanSend(now) &&
            flow.GetEarliest(now) <= now)
        {
            flow.WaitForTurn(now);
            ready.Continue(flow, served + frame->bytes);
        }
        else
        {
            List(flow, now);
        }
        if (reopened != ANY_QUEUE && (!frame || queue != reopened))
        {
            Reopen(reopened); // it did not use its turn: the next one that waits for that queue
        }
    }
    if (!ready.head)
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
    // Answers and signals are taken at once: they use no buffer, and flow controls do not see them.
    // Data that came while the rate was limited are drained first (m_serving).
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
    // At least 1 bit/s: 0 would be no rate at all.
    return interval ? std::min(rate, std::max<uint64_t>(frame.bytes * PS_BITS / interval, 1))
                    : rate;
}

void
Host::Served()
{
    Frame* frame = m_received.Pop();
    m_serving = false;
    m_nextTake = NowPs() + m_receiveInterval.GetTimeStep();
    ReleaseHere(frame); // first: what Process sends finds the buffer without it
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
        queuePair.GetReceiveQueue().Receive(*frame);
    }
    else
    {
        queuePair.GetSendQueue().Receive(*frame);
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

void
Host::Visit(lossless::StateVisitor& visitor)
{
    visitor.Inside(*this);
    // Constant: m_queuePairs, m_linkCallback, m_largestFrame, m_latency, m_ackDelay, m_cnpDelay,
    // m_ackClass, m_cnpClass, m_sendInterval, m_queuePairBurst, m_receiveInterval, m_source,
    // m_receiveRate. m_progress and m_nextTake stay.
    visitor.Require(m_direct && !m_pipeline, "NICs have a latency, or a rate of packets");
    visitor.Require(m_pacingJitter == 0 && !m_random, "flows are paced");
    visitor.Require(m_timerAt == NEVER && m_timed.empty(), "flows are paced"); // m_timer is idle
    visitor.Require(!m_takesTime && !m_serving && m_received.IsEmpty(),        // and m_served
                    "a host receives slowly");
    visitor.Require(m_inbound.GetCount() + m_outbound.GetCount() + m_outboundAcks.GetCount() +
                            m_outboundCnps.GetCount() ==
                        0,
                    "NICs have a latency, or a rate of packets");
    for (const Line& line : m_parked)
    {
        visitor.Require(!line.head, "flow controls choose among the frames of ports");
    }
    for (const Line& line : m_readyLines)
    {
        const auto& [head, tail, served] = line; // all of it: another field would not compile
        visitor.Same(served);
        visitor.Derived(head, tail);
        for (SendQueue* queue = head; queue; queue = queue->GetListing().next)
        {
            visitor.Same(queue->GetConnection().GetFlow());
        }
        visitor.Same(-1);
    }
    visitor.Note(m_delivered.last);
    visitor.Count(m_delivered.bytes);
    FabricNode::Visit(visitor);
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

uint32_t
Host::GetAckClass() const
{
    return m_ackClass;
}

uint32_t
Host::GetCnpClass() const
{
    return m_cnpClass;
}

int64_t
Host::GetAckDelay() const
{
    return m_ackDelay.GetTimeStep();
}

int64_t
Host::DrawSpacing(int64_t wire)
{
    if (m_pacingJitter == 0)
    {
        return wire;
    }
    if (!m_random)
    {
        m_random = CreateObject<UniformRandomVariable>();
        m_random->SetStream(PACING_STREAM + GetId());
    }
    return wire +
           std::llround(static_cast<double>(wire) * m_pacingJitter * m_random->GetValue(-1, 1));
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
    m_delivered.last = NowPs();
    m_delivered.bytes += bytes;
}

void
Host::NoteFinished(uint32_t flow)
{
    QueuePair& message = GetQueuePair(flow).GetWhole();
    if (!message.NoteArrivedShare())
    {
        return;
    }
    ++m_progress->finished;
    if (!m_progress->whenFinished.IsNull())
    {
        m_progress->whenFinished(message.GetNumber());
    }
    if (m_progress->IsDone())
    {
        Simulator::Stop();
    }
}

void
Host::NoteAcknowledged(uint32_t flow)
{
    if (!GetQueuePair(flow).GetWhole().NoteAcknowledgedShare())
    {
        return;
    }
    ++m_progress->acknowledged;
    if (m_progress->IsDone())
    {
        Simulator::Stop();
    }
}

void
Host::Forget(SendQueue& queue)
{
    SendQueue::Listing& listing = queue.GetListing();
    const uint8_t cls = queue.GetConnection().GetDemand().cls;
    if (listing.listed)
    {
        m_readyLines[cls].Remove(queue);
        for (Line& parked : m_parked)
        {
            parked.Remove(queue);
        }
    }
    if (!m_readyLines[cls].head)
    {
        m_ports.front()->GetEgress().SetReady(m_source, cls, false);
    }
    listing.listed = false;
    listing.timedAt = NEVER;
    if (const uint16_t reopened = std::exchange(listing.reopened, ANY_QUEUE); reopened != ANY_QUEUE)
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
    SendQueue& queue = (*m_queuePairs)[frame.flow]->GetSendQueue();
    // What its rate would have allowed while the class was held back is forfeited.
    const int64_t held = m_ports.front()->GetEgress().GetHolds().GetHeldUntil(frame.cls);
    queue.NotifyLeft(frame, held, NowPs());
    queue.GetHost()->Activate(queue); // it may have moved
}

} // namespace rdma
} // namespace ns3
