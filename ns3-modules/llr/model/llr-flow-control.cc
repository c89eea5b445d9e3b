/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "llr-flow-control.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port-owner.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace llr
{

using lossless::DropCause;
using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::LinkErrors;
using lossless::NEVER;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Llr);

namespace
{

/// Longest replay timer (ps): 65,535 ns in the interface of a traffic tester.
constexpr int64_t LONGEST_TIMER = 65'535'000;
/// Value of ReplayCount without a limit.
constexpr uint32_t UNLIMITED = 255;
/// What Slingshot's driver adds to three loops (ps).
constexpr int64_t TIMER_MARGIN = 500'000;

} // namespace

TypeId
Llr::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::llr::Llr")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("llr")
            .AddConstructor<Llr>()
            .AddAttribute("MaxBytes",
                          "Limit of the replay buffer of a port; 0: what line rate needs, by the "
                          "rule of Slingshot's driver (verified): rate x loop and whole frames, "
                          "here two. SAI's OUTSTANDING_BYTES_MAX, which has no default (verified). "
                          "[B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Llr::m_maxBytes),
                          MakeUintegerChecker<int64_t>(0, 1LL << 40))
            .AddAttribute("MaxFrames",
                          "Most unacknowledged frames of a port; at most 2^19, half the numbers of "
                          "20 bits (verified). SAI's OUTSTANDING_FRAMES_MAX.",
                          UintegerValue(MOST_FRAMES),
                          MakeUintegerAccessor(&Llr::m_maxFrames),
                          MakeUintegerChecker<uint32_t>(1, MOST_FRAMES))
            .AddAttribute("AckSpacing",
                          "Bytes of the wire between two ACKs or NACKs. 2048: default of SAI's "
                          "CTLOS_TARGET_SPACING (verified); 400 to 16,384 are said to be allowed. "
                          "[B]",
                          UintegerValue(2048),
                          MakeUintegerAccessor(&Llr::m_spacing),
                          MakeUintegerChecker<uint32_t>(400, 16'384))
            .AddAttribute("ReplayTimer",
                          "Time from the last bit of the oldest frame until all are repeated, if "
                          "it is not acknowledged; 0: three loops and 500 ns, the rule of "
                          "Slingshot's driver (verified), at most 65,535 ns, the limit of a "
                          "tester's interface (verified).",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Llr::m_replayTimer),
                          lossless::MakePicosecondsChecker(0, LONGEST_TIMER))
            .AddAttribute("ReplayCount",
                          "Most replays in a row without a new frame acknowledged; one more "
                          "flushes. 255: no limit (verified), as Slingshot's driver sets it; "
                          "SAI's REPLAY_COUNT_MAX is 1 by default (verified).",
                          UintegerValue(UNLIMITED),
                          MakeUintegerAccessor(&Llr::m_replayCount),
                          MakeUintegerChecker<uint32_t>(1, UNLIMITED))
            .AddAttribute("Latency",
                          "Time that both ends of the link together take to check a frame and to "
                          "obey the answer, besides the wire: FEC, PCS, LLR. Ours; 1.1 us follow "
                          "from the buffer in a sample of SONiC's for 400 Gb/s and 5 m (inferred).",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Llr::m_latency),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("ProtectControl",
                          "Are MAC control frames (PAUSE, credits) protected? False: they wait "
                          "for no replay, so that headroom suffices, and can be lost. Which "
                          "frames UE makes eligible was not read; ours.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Llr::m_protectControl),
                          MakeBooleanChecker())
            .AddAttribute(
                "NewFrames",
                "What happens to frames while the link is initialised and after a "
                "flush: BestEffort (they are sent unprotected; default of SAI, "
                "verified) or Block (they wait).",
                EnumValue(NewFrames::BEST_EFFORT),
                MakeEnumAccessor<NewFrames>(&Llr::m_newFrames),
                MakeEnumChecker(NewFrames::BEST_EFFORT, "BestEffort", NewFrames::BLOCK, "Block"))
            .AddAttribute("Reinitialize",
                          "Does the sender initialise the link again after a flush? SAI's "
                          "RE_INIT_ON_FLUSH, false by default; SONiC sets it (verified).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Llr::m_reinitialise),
                          MakeBooleanChecker())
            .AddAttribute("InitialSequence",
                          "Number of the first frame on the link, which INIT announces.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Llr::m_initial),
                          MakeUintegerChecker<uint32_t>(0, SEQUENCES - 1))
            .AddTraceSource("Replay",
                            "This port starts to repeat frames.",
                            MakeTraceSourceAccessor(&Llr::m_replayTrace),
                            "ns3::llr::Llr::ReplayCallback")
            .AddTraceSource("Message",
                            "This port sends an ACK, NACK, INIT or ECHO.",
                            MakeTraceSourceAccessor(&Llr::m_messageTrace),
                            "ns3::llr::Llr::MessageCallback")
            .AddTraceSource("State",
                            "The sender of this port has changed its state.",
                            MakeTraceSourceAccessor(&Llr::m_stateTrace),
                            "ns3::llr::Llr::StateCallback");
    return tid;
}

Llr::Llr()
    : m_inits(this),
      m_answers(this),
      m_newsDue(this, &Llr::NewsDue),
      m_timer(this, &Llr::Expire)
{
}

std::string
Llr::Where() const
{
    return m_port->GetNode().GetName() + " port to " + m_port->GetNeighbourName() + ": Llr: ";
}

uint32_t
Llr::GetLargest() const
{
    const uint32_t control = m_protectControl ? m_port->GetControlFrameSize() : 0;
    return std::max({m_port->GetLargestFrame(), control, lossless::MIN_FRAME_BYTES});
}

int64_t
Llr::GetTimeOf(int64_t bytes) const
{
    return lossless::TransmissionTime(bytes, m_port->GetRate());
}

int64_t
Llr::GetLoop() const
{
    // The answers are the other end's.
    const Llr* found = m_peer ? m_peer : FindPeer();
    const Llr& peer = found ? *found : *this;
    return 2 * m_port->GetDelay() + peer.m_latency.GetTimeStep() +
           GetTimeOf(int64_t{peer.m_spacing} + MESSAGE_BYTES);
}

int64_t
Llr::GetNeededBytes() const
{
    return lossless::BytesInTime(m_port->GetRate(), GetLoop()) + 2 * int64_t{GetLargest()};
}

int64_t
Llr::GetMaxBytes() const
{
    return m_maxBytes > 0 ? m_maxBytes : GetNeededBytes();
}

int64_t
Llr::GetReplayTimer() const
{
    const int64_t timer = m_replayTimer.GetTimeStep();
    return timer > 0 ? timer : std::min(3 * GetLoop() + TIMER_MARGIN, LONGEST_TIMER);
}

Llr*
Llr::FindPeer() const
{
    for (const auto& member : m_port->GetPeer().GetChain().GetMembers())
    {
        if (auto* peer = dynamic_cast<Llr*>(PeekPointer(member)))
        {
            return peer;
        }
    }
    return nullptr;
}

lossless::BufferDemand
Llr::GetBufferDemand() const
{
    lossless::BufferDemand demand;
    for (const auto& member : m_port->GetChain().GetMembers())
    {
        if (PeekPointer(member) != this)
        {
            demand.Join(member->GetBufferDemand());
        }
    }
    const Llr* peer = FindPeer();
    // Nothing to add where nobody stops the peer. A link delay is in the others' demand already.
    if (!peer || demand.beyondStop.Most() == 0)
    {
        return {};
    }
    const int64_t flight = lossless::BytesInTime(m_port->GetRate(), m_port->GetDelay());
    const int64_t late = std::max<int64_t>(0, peer->GetMaxBytes() - flight);
    const int64_t waiting = m_protectControl ? GetMaxBytes() : 0;
    for (int64_t& bytes : demand.beyondStop.bytes)
    {
        bytes += bytes > 0 ? late + waiting : 0;
    }
    demand.beyondStop.formula +=
        "; Llr: and " + std::to_string(late) + " B that the peer may still replay" +
        (waiting > 0 ? ", and " + std::to_string(waiting) + " B while a PAUSE waits for a replay"
                     : "");
    demand.promised = {}; // of permissions: a repeat needs no further one
    return demand;
}

void
Llr::Start()
{
    m_peer = FindPeer();
    m_limit = GetMaxBytes();
    m_timeout = GetReplayTimer();
    m_largest = GetLargest();
    m_buffer.Reset(m_initial);
    if (m_peer)
    {
        m_initsOut.Connect(m_peer->m_inits);
        m_answersOut.Connect(m_peer->m_answers);
        m_receiver.Start(m_peer->m_initial);
        SetState(State::ADVANCE);
    }
}

std::string
Llr::Check() const
{
    std::ostringstream problems;
    if (!m_peer)
    {
        problems << Where() << "the other end of the link has no LLR; both must have it\n";
    }
    if (m_limit < m_largest)
    {
        problems << Where() << "MaxBytes " << m_limit << " B is below the largest frame, "
                 << m_largest << " B, which could never be sent; line rate needs "
                 << GetNeededBytes() << " B\n";
    }
    if (m_timeout < GetLoop())
    {
        problems << Where() << "ReplayTimer " << m_timeout / 1000 << " ns"
                 << (m_replayTimer.IsZero() ? ", the longest there is," : "")
                 << " is shorter than the loop, " << GetLoop() / 1000
                 << " ns: a frame would be repeated before its ACK can arrive; "
                 << (m_replayTimer.IsZero() ? "the link, or Latency, is too long for LLR"
                                            : "set at least that, or 0 to derive it")
                 << "\n";
    }
    if (m_newFrames == NewFrames::BLOCK && !m_reinitialise && m_replayCount < UNLIMITED)
    {
        problems << Where() << "NewFrames Block without Reinitialize stops the link for ever after "
                 << "a flush; set Reinitialize, or BestEffort, or ReplayCount " << UNLIMITED
                 << "\n";
    }
    return problems.str();
}

std::string
Llr::Warn() const
{
    const int64_t frames = std::min<int64_t>(m_limit / m_largest, m_maxFrames);
    const int64_t frame = GetTimeOf(m_largest + m_port->GetOverhead());
    const int64_t cycle = frame + GetLoop();
    if (frames == 0 || frames * frame >= cycle)
    {
        return {};
    }
    const double share = 100.0 * static_cast<double>(frames * frame) / static_cast<double>(cycle);
    std::ostringstream warning;
    warning << "Llr: " << frames << " frames of " << m_largest
            << " B may be unacknowledged, so that a link of " << m_port->GetRate()
            << " bit/s carries at most " << std::floor(share)
            << " % of its rate in them; line rate needs MaxBytes " << GetNeededBytes() << " B and "
            << (cycle + frame - 1) / frame << " frames\n";
    return warning.str();
}

bool
Llr::IsActive() const
{
    return m_state == State::ADVANCE || m_state == State::REPLAY;
}

void
Llr::SetState(State state)
{
    if (state != m_state)
    {
        m_state = state;
        m_stateTrace(*m_port, state);
    }
}

void
Llr::SetPlaces(const std::function<eventloop::Place()>& next)
{
    m_inits.SetPlace(next());
    m_answers.SetPlace(next());
    m_newsDue.SetPlace(next());
    m_timer.SetPlace(next());
}

void
Llr::SetApart(bool apart)
{
    if (m_peer)
    {
        m_initsOut.SetApart(apart);
        m_answersOut.SetApart(apart);
    }
}

bool
Llr::Protects(const Frame& frame) const
{
    return IsActive() && (m_protectControl || frame.kind != FrameKind::MAC);
}

lossless::LinkRetry::Repeat
Llr::GetRepeat() const
{
    if (!m_buffer.IsReplaying())
    {
        return {0, 0};
    }
    const ReplayBuffer::Entry& next = m_buffer.GetNext();
    return {next.bytes, next.cls};
}

bool
Llr::MaySend() const
{
    // Which frame will be next is not known yet: there must be room for any.
    return IsActive()
               ? m_buffer.GetBytes() + m_largest <= m_limit && m_buffer.GetFrames() < m_maxFrames
               : m_newFrames == NewFrames::BEST_EFFORT;
}

Frame*
Llr::NotifySent(Frame* frame, LinkErrors::Fate fate, int64_t end)
{
    // The sender knows at once what the other end will accept: only those frames are passed on, and
    // all others stay in m_kept, in order. What it does follows from messages alone.
    ++m_protected;
    m_lastEnd = end;
    const uint32_t sequence = m_buffer.GetNextSequence();
    const bool good = fate == LinkErrors::Fate::GOOD;
    const bool accepted = m_buffer.Push({end, frame->bytes, frame->cls}, good);
    ArmTimer();
    m_kept.Push(frame);
    return Pass(frame->bytes, sequence, fate, accepted);
}

Frame*
Llr::NotifyRepeated(LinkErrors::Fate fate, int64_t end)
{
    m_lastEnd = end;
    const uint32_t sequence = m_buffer.GetNextSequence();
    const uint16_t bytes = m_buffer.GetNext().bytes;
    const bool accepted = m_buffer.Repeat(end, fate == LinkErrors::Fate::GOOD);
    ArmTimer();
    if (!m_buffer.IsReplaying())
    {
        SetState(State::ADVANCE);
    }
    return Pass(bytes, sequence, fate, accepted);
}

Frame*
Llr::Pass(uint16_t bytes, uint32_t sequence, LinkErrors::Fate fate, bool accepted)
{
    if (fate == LinkErrors::Fate::LOST)
    {
        return nullptr;
    }
    if (!accepted)
    {
        return MakeDamaged(bytes, sequence, fate == LinkErrors::Fate::WRONG);
    }
    Frame* frame = m_kept.Pop(); // the first one kept is the first that the other end lacks
    frame->linkSequence = sequence;
    return frame;
}

Frame*
Llr::NotifyArrival(Frame* frame)
{
    const bool damaged = IsDamaged(*frame);
    if (frame->linkSequence == lossless::NO_SEQUENCE || (frame->lost && !damaged))
    {
        return frame; // unprotected, or lost with its link
    }
    auto verdict = Receiver::Verdict::WRONG;
    if (m_receiver.GetState() != Receiver::State::OFF)
    {
        verdict = m_receiver.Receive(frame->linkSequence, frame->corrupted);
        ++m_seen[static_cast<std::size_t>(verdict)];
        NS_ABORT_MSG_IF((verdict == Receiver::Verdict::EXPECTED) == damaged,
                        Where() << "frame " << frame->linkSequence
                                << " arrived otherwise than its sender knew");
        SendNews();
    }
    frame->linkSequence = lossless::NO_SEQUENCE;
    if (damaged)
    {
        FramePool::Give(frame);
        return nullptr;
    }
    return frame;
}

void
Llr::Send(Message message, uint32_t sequence, uint64_t round)
{
    ++m_sent[static_cast<std::size_t>(message)];
    m_messageTrace(*m_port, message, sequence);
    if (!m_port->Insert(MESSAGE_BYTES))
    {
        ++m_damaged;
        return;
    }
    Frame* frame = FramePool::Take();
    frame->kind = FrameKind::SIGNAL;
    frame->bytes = MESSAGE_BYTES;
    frame->linkSequence = sequence;
    frame->word = {static_cast<uint64_t>(message), round};
    const int64_t arrival = GetTimeOf(MESSAGE_BYTES) + m_port->GetDelay();
    message == Message::INIT ? m_initsOut.Send(arrival, frame)
                             : m_answersOut.Send(arrival + m_latency.GetTimeStep(), frame);
}

void
Llr::SendNews()
{
    if (!m_receiver.HasNews() || m_newsPending)
    {
        return;
    }
    const int64_t now = NowPs();
    if (now < m_nextMessage)
    {
        m_newsPending = true;
        m_newsDue.Schedule(m_nextMessage - now);
        return;
    }
    m_nextMessage = now + GetTimeOf(int64_t{m_spacing});
    const uint32_t last = m_receiver.GetLast(); // what arrived while it waited is said with it
    Send(m_receiver.TakeNews() ? Message::NACK : Message::ACK, last, 0);
}

void
Llr::NewsDue()
{
    m_newsPending = false;
    SendNews();
}

void
Llr::TakeInit(Frame* frame)
{
    if (!frame->lost)
    {
        m_receiver.Start(frame->linkSequence);
        Send(Message::ECHO, frame->linkSequence, frame->word[1]);
    }
    FramePool::Give(frame);
}

void
Llr::TakeAnswer(Frame* frame)
{
    const auto message = static_cast<Message>(frame->word[0]);
    const uint64_t round = frame->word[1];
    const uint32_t sequence = frame->linkSequence;
    const bool lost = frame->lost;
    FramePool::Give(frame);
    if (lost)
    {
        return;
    }
    if (message == Message::ECHO)
    {
        if (m_state == State::INIT && round == m_round)
        {
            m_buffer.Reset(sequence);
            SetState(State::ADVANCE);
            m_port->Kick();
        }
        return;
    }
    if (IsActive())
    {
        Acknowledge(sequence, message == Message::NACK);
    }
}

void
Llr::Acknowledge(uint32_t sequence, bool nack)
{
    const std::optional<uint32_t> released = m_buffer.Release(sequence);
    if (!released)
    {
        ++m_unexpected;
        return;
    }
    m_inARow = *released > 0 ? 0 : m_inARow;
    // A NACK during a replay starts it again, from the frame after its number.
    if (nack && m_buffer.GetFrames() > 0)
    {
        StartReplay(false);
    }
    else if (!m_buffer.IsReplaying())
    {
        SetState(State::ADVANCE);
    }
    m_port->Kick();
}

void
Llr::StartReplay(bool timer)
{
    if (m_replayCount < UNLIMITED && m_inARow == m_replayCount)
    {
        Flush(DropCause::CORRUPTED);
        SetState(State::FLUSH);
        if (m_reinitialise)
        {
            Initialise();
        }
        return;
    }
    ++m_inARow;
    ++m_replays;
    m_timeouts += timer ? 1 : 0;
    m_replayTrace(*m_port, m_buffer.GetOldestSequence(), m_buffer.GetFrames(), timer);
    m_buffer.Replay();
    SetState(State::REPLAY);
}

void
Llr::Flush(DropCause cause)
{
    ++m_flushes;
    while (!m_kept.IsEmpty())
    {
        ++m_flushed;
        m_port->GetNode().Drop(m_kept.Pop(), cause);
    }
    // Nobody tells the other end but INIT: until then nothing is protected.
    m_buffer.Reset(m_initial);
    m_inARow = 0;
}

void
Llr::Initialise()
{
    SetState(State::INIT);
    const int64_t now = NowPs();
    if (now < m_lastEnd)
    {
        // The message would overtake a frame with an old number that is being sent.
        SetTimer(m_lastEnd);
        return;
    }
    ++m_round; // only the ECHO of the latest INIT counts
    Send(Message::INIT, m_initial, m_round);
    SetTimer(now + m_timeout);
}

void
Llr::SetTimer(int64_t at)
{
    m_timerDue = at;
    m_timer.Schedule(at - NowPs());
}

void
Llr::ArmTimer()
{
    // If nothing waits for an ACK there is none; the oldest starts it once it is repeated.
    if (m_timerDue == NEVER && m_buffer.GetFrames() > 0 && !m_buffer.IsAtOldest())
    {
        SetTimer(std::max(NowPs(), m_buffer.GetOldest().end + m_timeout));
    }
}

void
Llr::Expire()
{
    if (NowPs() != m_timerDue)
    {
        return; // it was set anew meanwhile
    }
    m_timerDue = NEVER;
    if (m_state == State::INIT)
    {
        Initialise();
        return;
    }
    if (!IsActive())
    {
        return;
    }
    if (m_buffer.GetFrames() > 0 && !m_buffer.IsAtOldest() &&
        NowPs() >= m_buffer.GetOldest().end + m_timeout)
    {
        StartReplay(true);
        m_port->Kick();
        return;
    }
    ArmTimer();
}

void
Llr::NotifyLink(bool up)
{
    if (!m_peer)
    {
        return;
    }
    if (up)
    {
        Initialise();
        return;
    }
    if (m_buffer.GetFrames() > 0)
    {
        Flush(DropCause::LINK_DOWN);
    }
    SetState(State::OFF);
    m_receiver.Stop();
    // Those on their way to this end; Port does the same for frames.
    const auto lose = [](Frame& frame) { frame.lost = true; };
    m_inits.ForEach(lose);
    m_answers.ForEach(lose);
}

void
Llr::Report(lossless::Summary& summary) const
{
    const auto add = [&summary](const char* name, uint64_t count) {
        summary[name] += static_cast<double>(count);
    };
    const auto raise = [&summary](const char* name, int64_t value) {
        double& largest = summary[name];
        largest = std::max(largest, static_cast<double>(value));
    };
    add("llr_frames_sent", m_protected);
    add("llr_frames_repeated", m_buffer.GetRepeated());
    add("llr_replays", m_replays);
    add("llr_timeouts", m_timeouts);
    add("llr_acks_sent", m_sent[static_cast<std::size_t>(Message::ACK)]);
    add("llr_nacks_sent", m_sent[static_cast<std::size_t>(Message::NACK)]);
    add("llr_inits_sent", m_sent[static_cast<std::size_t>(Message::INIT)]);
    add("llr_messages_damaged", m_damaged);
    add("llr_messages_unexpected", m_unexpected);
    add("llr_frames_wrong", m_seen[static_cast<std::size_t>(Receiver::Verdict::WRONG)]);
    add("llr_frames_out_of_order", m_seen[static_cast<std::size_t>(Receiver::Verdict::MISSING)]);
    add("llr_frames_duplicate", m_seen[static_cast<std::size_t>(Receiver::Verdict::DUPLICATE)]);
    add("llr_flushes", m_flushes);
    add("llr_frames_flushed", m_flushed);
    raise("llr_peak_replay_bytes", m_buffer.GetPeak());
    raise("llr_max_bytes", m_limit);
    raise("llr_loop_ps", GetLoop());
    raise("llr_replay_timer_ps", m_timeout);
}

} // namespace llr
} // namespace ns3
