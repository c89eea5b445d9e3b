/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-queue-pair.h"

#include "rdma-queue-pair-owner.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-routes.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::NEVER;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("RdmaQueuePair");

NS_OBJECT_ENSURE_REGISTERED(QueuePair);

TypeId
QueuePair::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::QueuePair")
            .SetParent<Object>()
            .SetGroupName("rdma")
            .AddConstructor<QueuePair>()
            .AddAttribute("PayloadSize",
                          "Payload of a full packet. [B]",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&QueuePair::m_payloadSize),
                          MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("HeaderSize",
                          "Bytes of a data frame beside its payload, FCS included. 48 as in other "
                          "simulators; real RoCEv2 "
                          "with an 802.1Q tag has 66. [B]",
                          UintegerValue(48),
                          MakeUintegerAccessor(&QueuePair::m_headerSize),
                          MakeUintegerChecker<uint32_t>(0, 500))
            .AddAttribute("MinFrameSize",
                          "Smallest frame (IEEE 802.3, clause 4.4.2). [B]",
                          UintegerValue(lossless::MIN_FRAME_BYTES),
                          MakeUintegerAccessor(&QueuePair::m_minFrame),
                          MakeUintegerChecker<uint32_t>(1, 1500))
            .AddAttribute("AckSize",
                          "Size of an ACK, NACK or CNP. 64 as in other simulators; a real ACK of "
                          "RoCEv2 with an 802.1Q tag has 70. [B]",
                          UintegerValue(64),
                          MakeUintegerAccessor(&QueuePair::m_ackSize),
                          MakeUintegerChecker<uint32_t>(1, 1500))
            .AddAttribute("CnpSize",
                          "Size of a CNP; 0: as AckSize. Real RoCEv2 has 82 with an 802.1Q tag. "
                          "[B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&QueuePair::m_cnpSize),
                          MakeUintegerChecker<uint32_t>(0, 1500))
            .AddAttribute("AckEvery",
                          "Packets an ACK answers. The last of a message, and the one that fills "
                          "the window, ask to be answered at once (AckReq of RoCE's BTH).",
                          UintegerValue(1),
                          MakeUintegerAccessor(&QueuePair::m_ackEvery),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "AnswerClass",
                "Class of ACK, NACK and CNP; 8 is the control queue, which is never paused.",
                UintegerValue(lossless::CONTROL_CLASS),
                MakeUintegerAccessor(&QueuePair::m_answerClass),
                MakeUintegerChecker<uint32_t>(0, lossless::CONTROL_CLASS))
            .AddAttribute(
                "Ttl",
                "Time to live of a frame: a switch that counts it down to 0 drops the frame.",
                UintegerValue(64),
                MakeUintegerAccessor(&QueuePair::m_ttl),
                MakeUintegerChecker<uint32_t>(1, 255))
            .AddAttribute("TelemetryHops",
                          "Switches that in-band network telemetry (INT) has room for in a frame; "
                          "5 as in HPCC's simulator. Only flows whose congestion control wants "
                          "telemetry have any.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&QueuePair::m_telemetryHops),
                          MakeUintegerChecker<uint32_t>(1, lossless::MOST_TELEMETRY_HOPS))
            .AddAttribute("TelemetryHeaderSize",
                          "Bytes of telemetry beside those of its hops, in a data frame, an ACK "
                          "and a NACK; 2 as in HPCC's simulator. [B]",
                          UintegerValue(2),
                          MakeUintegerAccessor(&QueuePair::m_telemetryHeader),
                          MakeUintegerChecker<uint32_t>(0, 100))
            .AddAttribute("TelemetryHopSize",
                          "Bytes of telemetry of each hop, reserved by the sender; 8 as in HPCC's "
                          "simulator. [B]",
                          UintegerValue(8),
                          MakeUintegerAccessor(&QueuePair::m_telemetryHopSize),
                          MakeUintegerChecker<uint32_t>(0, 100))
            .AddAttribute("EcnCapable",
                          "Switches may mark data frames instead of dropping them.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&QueuePair::m_ecnCapable),
                          MakeBooleanChecker())
            .AddAttribute(
                "Retransmit",
                "What to do about lost packets: None, GoBackN (as RoCE NICs) or Selective.",
                EnumValue(Retransmit::GO_BACK_N),
                MakeEnumAccessor<Retransmit>(&QueuePair::m_retransmit),
                MakeEnumChecker(Retransmit::NONE,
                                "None",
                                Retransmit::GO_BACK_N,
                                "GoBackN",
                                Retransmit::SELECTIVE,
                                "Selective"))
            .AddAttribute(
                "ReorderWindow",
                "Packets from the next one in order on that a receiver keeps, and "
                "acknowledges, whatever their order; only a packet from behind them means "
                "that one is lost. 0: every gap is a loss. A packet has 1 bit in the "
                "window.",
                UintegerValue(0),
                MakeUintegerAccessor(&QueuePair::m_reorderWindow),
                MakeUintegerChecker<uint32_t>(0, 1U << 20))
            .AddAttribute("Timeout",
                          "Silence with data outstanding after which the sender repeats.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&QueuePair::m_timeout),
                          lossless::MakePicosecondsChecker(1'000))
            .AddTraceSource("Rate",
                            "The rate that the sender may use has changed: flow, bit/s on the "
                            "wire.",
                            MakeTraceSourceAccessor(&QueuePair::m_rateTrace),
                            "ns3::rdma::QueuePair::RateCallback");
    return tid;
}

QueuePair::QueuePair()
    : m_timer(this, &QueuePair::Timeout)
{
}

QueuePair::~QueuePair() = default;

void
QueuePair::DoDispose()
{
    m_control = nullptr;
    Object::DoDispose();
}

void
QueuePair::Connect(uint32_t flow,
                   QueuePairOwner* src,
                   QueuePairOwner* dst,
                   const Demand& demand,
                   Ptr<CongestionControl> control,
                   bool pinned)
{
    m_flow = flow;
    m_src = src;
    m_dst = dst;
    m_demand = demand;
    m_control = control;
    m_collects = control && control->WantsTelemetry();
    m_pinned = pinned;
    m_packets =
        demand.bytes == 0 ? static_cast<uint64_t>(NEVER) : (demand.bytes - 1) / m_payloadSize + 1;
    if (m_retransmit == Retransmit::SELECTIVE)
    {
        m_scoreboard = std::make_unique<Scoreboard>();
    }
    if (m_scoreboard || m_reorderWindow > 0)
    {
        m_kept = std::make_unique<std::deque<bool>>();
    }
    m_hash = lossless::Routes::Hash(src->GetId(), dst->GetId(), flow);
    m_reverseHash = lossless::Routes::Hash(dst->GetId(), src->GetId(), flow);
}

void
QueuePair::SetPath(int64_t baseRtt, uint32_t hops)
{
    m_baseRtt = baseRtt;
    m_hops = hops;
}

void
QueuePair::SetAnswersPinned(bool pinned)
{
    m_answersPinned = pinned;
}

void
QueuePair::Start()
{
    NS_LOG_INFO("flow " << m_flow << " starts, " << m_demand.bytes << " B");
    m_started = true;
    m_demand.start = NowPs(); // a flow that waits for others learns it only now
    if (m_control)
    {
        m_control->Start(this, m_src->GetPort(0).GetRate());
    }
    Reconsider();
}

void
QueuePair::UpdateRate(int64_t now)
{
    const uint64_t line = m_src->GetPort(0).GetRate();
    uint64_t rate = m_demand.rate ? m_demand.rate : line;
    if (m_control && m_control->GetRate())
    {
        rate = std::min(rate, m_control->GetRate());
    }
    m_paced = rate < line;
    if (m_limiter.GetRate() != rate)
    {
        m_limiter.SetRate(rate, now);
        m_rateTrace(m_flow, rate);
    }
}

void
QueuePair::Reconsider()
{
    if (m_started)
    {
        UpdateRate(NowPs());
        m_src->Activate(this);
    }
}

int64_t
QueuePair::HoldUntil(int64_t until)
{
    const int64_t before = std::max(NowPs(), m_holdUntil);
    m_holdUntil = std::max(m_holdUntil, until);
    return std::max<int64_t>(0, until - before);
}

bool
QueuePair::CanSend(int64_t now) const
{
    if (m_inPort)
    {
        return false; // a pause may hold it there: the next one's time is not known yet
    }
    if (m_scoreboard && !m_scoreboard->missing.empty())
    {
        return true;
    }
    if (m_next >= m_packets || (m_next >= m_highest && now >= m_demand.stop))
    {
        return false;
    }
    uint64_t window = m_demand.window;
    if (m_control && m_control->GetWindow())
    {
        window = window ? std::min(window, m_control->GetWindow()) : m_control->GetWindow();
    }
    // At least one packet may always be in flight: a window smaller than a packet must not stop the
    // flow for ever.
    return window == 0 || m_next == m_first ||
           (m_next - m_first) * m_payloadSize + GetPayload(m_next) <= window;
}

int64_t
QueuePair::GetEarliest(int64_t now) const
{
    int64_t earliest = std::max(now, m_holdUntil);
    if (m_paced)
    {
        earliest = std::max(earliest, m_limiter.GetEarliest(now));
    }
    if (m_demand.on > 0)
    {
        const int64_t cycle = m_demand.on + m_demand.off;
        const int64_t phase = (earliest - m_demand.start) % cycle;
        if (phase >= m_demand.on)
        {
            const int64_t silence = cycle - phase;
            earliest = silence > NEVER - earliest ? NEVER : earliest + silence;
        }
    }
    return earliest;
}

void
QueuePair::WaitForTurn(int64_t now)
{
    if (m_paced)
    {
        m_limiter.Wait(now);
    }
}

uint64_t
QueuePair::GetPackets() const
{
    return m_packets;
}

uint32_t
QueuePair::GetPayload(uint64_t psn) const
{
    return psn + 1 == m_packets ? static_cast<uint32_t>(m_demand.bytes - psn * m_payloadSize)
                                : m_payloadSize;
}

uint32_t
QueuePair::GetFrameBytes(uint64_t psn) const
{
    return std::max(GetPayload(psn) + m_headerSize + GetTelemetryBytes(), m_minFrame);
}

uint32_t
QueuePair::GetLargestFrame(bool collects) const
{
    const uint32_t extra = collects ? m_telemetryHeader + m_telemetryHops * m_telemetryHopSize : 0;
    return std::max(
        {m_payloadSize + m_headerSize + extra, m_minFrame, m_ackSize + extra, m_cnpSize});
}

uint32_t
QueuePair::GetTelemetryBytes() const
{
    return m_collects ? m_telemetryHeader + m_telemetryHops * m_telemetryHopSize : 0;
}

uint32_t
QueuePair::GetTelemetryHops() const
{
    return m_collects ? m_telemetryHops : 0;
}

Time
QueuePair::GetBaseRtt() const
{
    return Time::From(m_baseRtt, Time::PS);
}

uint32_t
QueuePair::GetHops() const
{
    return m_hops;
}

Frame
QueuePair::GetHeader() const
{
    Frame frame;
    frame.flow = m_flow;
    frame.src = m_src->GetId();
    frame.dst = m_dst->GetId();
    frame.hash = m_hash;
    frame.pinned = m_pinned;
    frame.cls = m_demand.cls;
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.ecn = m_ecnCapable ? 1 : 0;
    return frame;
}

Frame*
QueuePair::MakeNext(int64_t now)
{
    uint64_t psn;
    if (m_scoreboard && !m_scoreboard->missing.empty())
    {
        psn = m_scoreboard->missing.front();
        m_scoreboard->missing.pop_front();
        m_scoreboard->state[psn - m_first] = REPEATED;
    }
    else
    {
        psn = m_next++;
    }
    const bool repeat = psn < m_highest;
    if (!repeat)
    {
        m_highest = psn + 1;
        if (m_scoreboard)
        {
            m_scoreboard->state.push_back(IN_FLIGHT);
        }
    }
    Frame* frame = FramePool::Take();
    *frame = GetHeader();
    frame->psn = static_cast<uint32_t>(psn);
    frame->payload = static_cast<uint16_t>(GetPayload(psn));
    frame->bytes = static_cast<uint16_t>(GetFrameBytes(psn));
    frame->repeat = repeat;
    if (m_collects)
    {
        frame->collects = true;
        FramePool::AddTelemetry(*frame, m_telemetryHops);
    }
    frame->word[0] = !CanSend(now); // AckReq: without an answer nothing more may go
    m_outcome.sent += frame->payload;
    m_outcome.retransmitted += repeat ? frame->payload : 0;
    if (m_paced && m_demand.rate)
    {
        frame->paced = m_inPort = true; // a cap counts from when the frame goes
    }
    else if (m_paced)
    {
        StartLimiter(*frame, now);
    }
    if (m_control)
    {
        m_control->NotifySent(*frame);
        UpdateRate(now); // the bytes sent may have changed it
    }
    WatchProgress(psn, now);
    return frame;
}

void
QueuePair::NotifyLeft(const Frame& frame, int64_t held, int64_t now)
{
    m_inPort = false;
    m_limiter.Forfeit(std::min(held, now), now);
    StartLimiter(frame, now);
}

void
QueuePair::StartLimiter(const Frame& frame, int64_t now)
{
    m_limiter.Start(frame.bytes + static_cast<int64_t>(m_src->GetPort(0).GetOverhead()), now);
}

void
QueuePair::WatchProgress(uint64_t psn, int64_t now)
{
    if (m_retransmit == Retransmit::NONE)
    {
        return;
    }
    if (psn == m_first)
    {
        m_progress = now; // silence counts from the oldest packet outstanding
    }
    if (!m_watching)
    {
        m_watching = true;
        m_timer.Schedule(m_timeout.GetTimeStep());
    }
}

void
QueuePair::Timeout()
{
    const int64_t now = NowPs();
    const int64_t silence = now - m_progress;
    const int64_t limit = m_timeout.GetTimeStep();
    m_watching = false;
    if (m_first >= m_highest)
    {
        return; // nothing outstanding; the next packet starts the watch again
    }
    m_watching = true;
    if (silence < limit)
    {
        m_timer.Schedule(limit - silence);
        return;
    }
    NS_LOG_INFO("flow " << m_flow << " repeats from packet " << m_first << " after " << silence
                        << " ps of silence");
    ++m_outcome.timeouts;
    m_progress = now;
    m_timer.Schedule(limit);
    if (m_retransmit == Retransmit::SELECTIVE)
    {
        for (PacketState& state : m_scoreboard->state)
        {
            state = state == REPEATED ? IN_FLIGHT : state;
        }
        MarkMissing(m_first, m_highest);
    }
    else
    {
        GoBack(m_first);
    }
    Reconsider();
}

void
QueuePair::GoBack(uint64_t psn)
{
    m_next = std::min(m_next, psn);
}

void
QueuePair::MarkMissing(uint64_t from, uint64_t to)
{
    for (uint64_t psn = std::max(from, m_first); psn < std::min(to, m_highest); ++psn)
    {
        if (m_scoreboard->state[psn - m_first] == IN_FLIGHT)
        {
            m_scoreboard->state[psn - m_first] = MISSING;
            m_scoreboard->missing.push_back(psn);
        }
    }
}

void
QueuePair::Advance(uint64_t acknowledged)
{
    if (acknowledged <= m_first)
    {
        return;
    }
    m_progress = NowPs();
    if (m_retransmit == Retransmit::SELECTIVE)
    {
        m_scoreboard->state.erase(m_scoreboard->state.begin(),
                                  m_scoreboard->state.begin() +
                                      static_cast<std::ptrdiff_t>(acknowledged - m_first));
        std::erase_if(m_scoreboard->missing,
                      [acknowledged](uint64_t psn) { return psn < acknowledged; });
    }
    m_first = acknowledged;
    m_next = std::max(m_next, m_first);
    if (IsAcknowledged())
    {
        m_outcome.acked = m_progress;
        m_rateTrace(m_flow, 0);
        m_src->NoteAcknowledged();
    }
}

void
QueuePair::ReceiveAnswer(const Frame& frame)
{
    if (frame.kind == FrameKind::CNP)
    {
        ++m_outcome.cnps;
        if (m_control)
        {
            m_control->NotifyCnp(frame);
        }
        Reconsider();
        return;
    }
    const uint64_t expected = frame.word[0];
    const uint64_t got = frame.word[1];
    Advance(expected);
    if (m_retransmit == Retransmit::SELECTIVE && got >= m_first && got < m_highest &&
        m_scoreboard->state[got - m_first] == IN_FLIGHT)
    {
        m_scoreboard->state[got - m_first] = ACKED;
    }
    if (frame.kind == FrameKind::NACK)
    {
        NS_LOG_INFO("flow " << m_flow << " has a NACK");
        ++m_outcome.nacks;
        if (m_retransmit == Retransmit::GO_BACK_N)
        {
            GoBack(std::max(expected, m_first));
        }
        else if (m_retransmit == Retransmit::SELECTIVE)
        {
            MarkMissing(expected, got);
        }
    }
    if (m_control)
    {
        m_control->NotifyAck(frame);
    }
    Reconsider();
}

void
QueuePair::FillAnswer(Frame& frame) const
{
    frame.kind = FrameKind::ACK;
    frame.flow = m_flow;
    frame.src = m_dst->GetId();
    frame.dst = m_src->GetId();
    frame.hash = m_reverseHash;
    frame.pinned = m_answersPinned;
    frame.cls = static_cast<uint8_t>(m_answerClass);
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.bytes = static_cast<uint16_t>(m_ackSize + GetTelemetryBytes());
}

Frame
QueuePair::GetAnswerHeader() const
{
    Frame frame;
    FillAnswer(frame);
    return frame;
}

void
QueuePair::Answer(FrameKind kind, const Frame& data)
{
    Frame* frame = FramePool::Take();
    FillAnswer(*frame);
    frame->kind = kind;
    if (kind == FrameKind::CNP)
    {
        frame->bytes = static_cast<uint16_t>(m_cnpSize ? m_cnpSize : m_ackSize);
    }
    else if (data.telemetry)
    {
        FramePool::AddTelemetry(*frame, 0);
        frame->telemetry->Assign(*data.telemetry);
    }
    // A CNP is of the packet that caused it, and takes nothing from the next ACK or NACK.
    frame->ecn = data.ecn;
    if (kind != FrameKind::CNP)
    {
        frame->ecn |= m_unansweredEcn;
        m_unansweredEcn = 0;
    }
    frame->word[0] = m_expected;
    frame->word[1] = data.psn;
    m_dst->Inject(frame);
}

void
QueuePair::ReceiveData(const Frame& frame)
{
    m_unansweredEcn |= frame.ecn; // congestion experienced has all bits set
    if (m_control && m_control->NotifyData(frame))
    {
        ++m_outcome.cnpsSent;
        Answer(FrameKind::CNP, frame);
    }
    const uint64_t psn = frame.psn;
    if (!frame.repeat)
    {
        // Packets are first sent in order, each once: one that comes after a later one was
        // overtaken.
        if (psn < m_seen)
        {
            ++m_outcome.reordered;
            m_outcome.reorderDistance = std::max(m_outcome.reorderDistance, m_seen - 1 - psn);
        }
        m_seen = std::max(m_seen, psn + 1);
    }
    if (psn > m_expected)
    {
        ReceiveAhead(frame);
        return;
    }
    if (psn < m_expected)
    {
        Answer(FrameKind::ACK, frame); // a repeat of what is here: the sender must learn so
        return;
    }
    m_gapKnown = false;
    const uint64_t before = m_outcome.delivered;
    do
    {
        m_outcome.delivered += GetPayload(m_expected);
        ++m_expected;
        if (m_kept && !m_kept->empty())
        {
            m_kept->pop_front();
        }
    } while (m_kept && !m_kept->empty() && m_kept->front());
    m_dst->NoteDelivery(m_demand.bytes == 0 ? 0 : m_outcome.delivered - before);
    if (m_expected == m_packets)
    {
        m_outcome.finish = NowPs();
        m_dst->NoteFinished(m_flow);
    }
    // One of those that were kept may have asked for an answer.
    const bool closed = m_reorderWindow > 0 && m_expected > psn + 1;
    if (++m_unanswered >= m_ackEvery || m_expected == m_packets || frame.word[0] || closed)
    {
        m_unanswered = 0;
        Answer(FrameKind::ACK, frame);
    }
}

void
QueuePair::ReceiveAhead(const Frame& frame)
{
    const std::size_t at = frame.psn - m_expected;
    const bool inWindow = at < m_reorderWindow;
    if (inWindow || m_retransmit == Retransmit::SELECTIVE)
    {
        if (m_kept->size() <= at)
        {
            m_kept->resize(at + 1, false);
        }
        (*m_kept)[at] = true;
    }
    if (inWindow)
    {
        if (++m_unanswered >= m_ackEvery || frame.word[0])
        {
            m_unanswered = 0;
            Answer(FrameKind::ACK, frame);
        }
    }
    else if (m_retransmit == Retransmit::SELECTIVE || !m_gapKnown)
    {
        m_gapKnown = true;
        Answer(FrameKind::NACK, frame);
    }
}

uint32_t
QueuePair::GetFlow() const
{
    return m_flow;
}

QueuePairOwner*
QueuePair::GetSource() const
{
    return m_src;
}

QueuePairOwner*
QueuePair::GetDestination() const
{
    return m_dst;
}

const QueuePair::Demand&
QueuePair::GetDemand() const
{
    return m_demand;
}

const QueuePair::Outcome&
QueuePair::GetOutcome() const
{
    return m_outcome;
}

Ptr<CongestionControl>
QueuePair::GetCongestionControl() const
{
    return m_control;
}

} // namespace rdma
} // namespace ns3
