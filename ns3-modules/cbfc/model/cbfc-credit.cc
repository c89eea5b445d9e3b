/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "cbfc-credit.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-port.h"
#include "ns3/uinteger.h"

#include <bit>
#include <sstream>

namespace ns3
{
namespace cbfc
{

NS_LOG_COMPONENT_DEFINE("CbfcCredit");

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NEVER;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Credit);

namespace
{

/// Difference of two counters of which only the low bits are known.
/// @param a counter. @param b counter. @param bits number of bits known.
/// @return a - b, from -2^(bits - 1) to below 2^(bits - 1).
int32_t
Ahead(uint32_t a, uint32_t b, uint32_t bits)
{
    return static_cast<int32_t>((a - b) << (32 - bits)) >> (32 - bits);
}

} // namespace

TypeId
Credit::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::cbfc::Credit")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("cbfc")
            .AddConstructor<Credit>()
            .AddAttribute("Buffer",
                          "Buffer that a receiver reserves for each class of its peer, from the "
                          "node's buffer. [B]",
                          UintegerValue(300'000),
                          MakeUintegerAccessor(&Credit::m_buffer),
                          MakeUintegerChecker<int64_t>(BLOCK_BYTES, 1ULL << 36))
            .AddAttribute("Period",
                          "Time between credit messages. The GFC paper's 52.4 us is 65,535 B at 10 "
                          "Gb/s (unverified).",
                          TimeValue(NanoSeconds(52'428)),
                          MakeTimeAccessor(&Credit::m_period),
                          lossless::MakePicosecondsChecker(1'000))
            .AddAttribute("OnChange",
                          "Send a message also when blocks are freed, not only every Period.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Credit::m_onChange),
                          MakeBooleanChecker())
            .AddAttribute("MinGap",
                          "Minimum time between two messages of a class; 0.256 us in Mellanox's "
                          "simulation model.",
                          TimeValue(NanoSeconds(256)),
                          MakeTimeAccessor(&Credit::m_minGap),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("CounterBits",
                          "Width of the counters in credit messages. InfiniBand has 12 bits "
                          "(recalled, unverified), which allow a Buffer of 2047 blocks.",
                          UintegerValue(32),
                          MakeUintegerAccessor(&Credit::m_bits),
                          MakeUintegerChecker<uint32_t>(2, 32));
    return tid;
}

Credit::Credit()
    : m_tick(this, &Credit::Period),
      m_gap(this, &Credit::GrantPending)
{
}

lossless::BufferDemand
Credit::GetBufferDemand() const
{
    const int64_t promised = m_buffer / BLOCK_BYTES * BLOCK_BYTES;
    lossless::BufferDemand demand;
    demand.promised = lossless::BufferDemand::ForEachClass(
        promised,
        GetInstanceTypeId().GetName() + ": Buffer " + std::to_string(m_buffer) +
            " B in whole blocks of " + std::to_string(BLOCK_BYTES) +
            " B = " + std::to_string(promised) + " B");
    return demand;
}

void
Credit::Start()
{
    m_blocks = static_cast<uint32_t>(m_buffer / BLOCK_BYTES);
    m_largest = BlocksOf(m_port->GetLargestFrame());
    m_lossless = m_port->GetNode().GetBuffer().GetLosslessClasses();
    NS_LOG_INFO("port to node " << m_port->GetPeerId() << " grants " << m_blocks
                                << " blocks per class");
    m_limit.fill(m_blocks);
    m_lastGrant.fill(-m_minGap.GetTimeStep());
}

std::string
Credit::Check() const
{
    std::ostringstream problems;
    if (m_blocks < m_largest)
    {
        problems << "Credit: Buffer " << m_buffer << " B is " << m_blocks << " blocks of "
                 << BLOCK_BYTES << " B, too few for a frame of " << m_port->GetLargestFrame()
                 << " B, which could never be sent\n";
    }
    const uint32_t most = (1U << (m_bits - 1)) - 1; // half the range of the counters
    if (m_blocks > most)
    {
        problems << "Credit: Buffer " << m_buffer << " B is " << m_blocks
                 << " blocks, but counters of " << m_bits << " bits can grant at most " << most
                 << " (CounterBits)\n";
    }
    return problems.str();
}

bool
Credit::WouldHold(uint16_t queue, const Frame& head, const Rest& rest) const
{
    if (!((m_lossless >> queue % N_CLASSES) & 1U))
    {
        return false;
    }
    uint64_t blocks = BlocksOf(head.bytes); // a frame occupies whole blocks
    for (const Frame* frame : rest.frames)
    {
        blocks += BlocksOf(frame->bytes);
    }
    return blocks > m_blocks;
}

bool
Credit::WouldRelease(uint16_t queue, const Frame& head, const ControlFrame& control) const
{
    const uint8_t cls = queue % N_CLASSES;
    return control.opcode == CREDIT_OPCODE && (control.classes >> cls) & 1U &&
           static_cast<int32_t>(control.value[0] - m_sent[cls]) >=
               static_cast<int32_t>(BlocksOf(head.bytes));
}

int64_t
Credit::GetBuffer() const
{
    return m_buffer;
}

Time
Credit::GetPeriod() const
{
    return m_period;
}

uint32_t
Credit::GetLimit(uint8_t cls) const
{
    return m_received[cls] + (m_held[cls] < m_blocks ? m_blocks - m_held[cls] : 0);
}

void
Credit::NotifyReceived(Frame& frame, int64_t /* queueBytes */)
{
    const uint32_t blocks = BlocksOf(frame.bytes);
    m_received[frame.cls] += blocks;
    m_held[frame.cls] += blocks;
    Activate(frame.cls);
}

void
Credit::Activate(uint8_t cls)
{
    if (!m_active)
    {
        m_tick.Schedule(m_period.GetTimeStep());
    }
    m_active |= 1U << cls;
}

void
Credit::NotifyReleased(const lossless::Departure& departure, int64_t /* queueBytes */)
{
    const uint8_t cls = departure.cls;
    m_held[cls] -= BlocksOf(departure.bytes);
    const uint32_t bit = 1U << cls;
    if (!m_onChange || m_pending & bit)
    {
        return;
    }
    const int64_t wait = m_lastGrant[cls] + m_minGap.GetTimeStep() - NowPs();
    if (wait <= 0)
    {
        Grant(cls);
        return;
    }
    m_pending |= bit;
    m_gap.Schedule(wait);
}

void
Credit::GrantPending()
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((m_pending >> cls) & 1U && m_lastGrant[cls] + m_minGap.GetTimeStep() <= NowPs())
        {
            m_pending &= ~(1U << cls);
            Grant(cls);
        }
    }
}

void
Credit::Period()
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((m_active >> cls) & 1U)
        {
            Grant(cls);
        }
    }
    m_tick.Schedule(m_period.GetTimeStep());
}

void
Credit::Grant(uint8_t cls)
{
    Frame* frame = FramePool::TakeControl();
    ControlFrame& control = *frame->control;
    control.opcode = CREDIT_OPCODE;
    control.classes = static_cast<uint16_t>(1U << cls);
    const uint32_t mask = UINT32_MAX >> (32 - m_bits);
    control.value[0] = GetLimit(cls) & mask;
    control.value[1] = m_sent[cls] & mask;
    m_lastGrant[cls] = NowPs();
    ++m_messages;
    m_port->SendControl(frame);
}

bool
Credit::ReceiveControl(const ControlFrame& control)
{
    if (control.opcode != CREDIT_OPCODE)
    {
        return false;
    }
    const uint32_t classes = m_port->KeepLossless(control.classes);
    if (classes == 0)
    {
        return true;
    }
    const auto cls = static_cast<uint8_t>(std::countr_zero(classes));
    const int32_t lost = Ahead(control.value[1], m_received[cls], m_bits);
    if (lost > 0)
    {
        m_resynced += static_cast<uint32_t>(lost);
        m_received[cls] += static_cast<uint32_t>(lost);
    }
    m_limit[cls] =
        m_sent[cls] + static_cast<uint32_t>(Ahead(control.value[0], m_sent[cls], m_bits));
    UpdateStarved(cls);
    NotifyCredit(cls, NowPs());
    m_port->Kick();
    return true;
}

void
Credit::NotifyCredit(uint8_t /* cls */, int64_t /* now */)
{
}

uint32_t
Credit::GetCredit(uint8_t cls) const
{
    const auto credit = static_cast<int32_t>(m_limit[cls] - m_sent[cls]);
    return credit > 0 ? static_cast<uint32_t>(credit) : 0;
}

int64_t
Credit::GetEarliest(uint16_t queue, const Frame& head, int64_t now) const
{
    const uint8_t cls = queue % N_CLASSES;
    const bool mayGo = BlocksOf(head.bytes) <= GetCredit(cls) || !((m_lossless >> cls) & 1U);
    return mayGo ? now : NEVER;
}

void
Credit::NotifySent(uint16_t queue, Frame& frame, int64_t /* now */)
{
    const uint8_t cls = queue % N_CLASSES;
    if (!((m_lossless >> cls) & 1U))
    {
        return;
    }
    m_sent[cls] += BlocksOf(frame.bytes);
    Activate(cls); // the peer needs FCTBS even if it sends nothing itself
    UpdateStarved(cls);
}

void
Credit::UpdateStarved(uint8_t cls)
{
    const uint32_t bit = 1U << cls;
    const bool starved = GetCredit(cls) < m_largest;
    if (starved != ((m_starved & bit) != 0))
    {
        m_starved ^= bit;
        NS_LOG_LOGIC("port to node " << m_port->GetPeerId() << ": class " << +cls
                                     << (starved ? " is out of credit" : " has credit"));
        m_port->NotePaused(cls, starved);
    }
}

void
Credit::NotifyLink(bool up)
{
    // A link that comes up is initialised again: the sender starts from what the receiver holds at
    // that time.
    if (up)
    {
        return;
    }
    m_received.fill(0);
    m_sent.fill(0);
    m_limit.fill(m_blocks);
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        UpdateStarved(cls);
    }
}

void
Credit::Report(lossless::Summary& summary) const
{
    summary["cbfc_messages_sent"] += static_cast<double>(m_messages);
    summary["cbfc_resynced_blocks"] += static_cast<double>(m_resynced);
}

} // namespace cbfc
} // namespace ns3
