/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-flow-control.h"

#include "ns3/lossless-port.h"
#include "ns3/uinteger.h"

#include <bit>
#include <sstream>

namespace ns3
{
namespace @namespace@
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;

NS_OBJECT_ENSURE_REGISTERED(@Class@);

namespace
{

/// MAC control opcode of the messages, unique, from the range that IEEE has not assigned.
constexpr uint16_t OPCODE = @opcode@;

} // namespace

TypeId
@Class@::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::@namespace@::@Class@")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("@module@")
            .AddConstructor<@Class@>()
            .AddAttribute("Xoff",
                          "Queue length above which the peer is stopped. [B]",
                          UintegerValue(60'000),
                          MakeUintegerAccessor(&@Class@::m_xoff),
                          MakeUintegerChecker<int64_t>(1, 1LL << 40))
            .AddAttribute("Xon",
                          "Queue length at or below which the peer is resumed. [B]",
                          UintegerValue(50'000),
                          MakeUintegerAccessor(&@Class@::m_xon),
                          MakeUintegerChecker<int64_t>(0, 1LL << 40));
    return tid;
}

std::string
@Class@::Check() const
{
    std::ostringstream problems;
    if (m_xon >= m_xoff)
    {
        problems << "@Class@: Xon " << m_xon << " B must be below Xoff " << m_xoff << " B\n";
    }
    return problems.str();
}

void
@Class@::NotifyReceived(Frame& frame, int64_t queueBytes)
{
    // Called for lossless classes only: no other is stopped.
    if (queueBytes > m_xoff)
    {
        Tell(frame.cls, true);
    }
}

void
@Class@::NotifyReleased(const lossless::Departure& departure, int64_t queueBytes)
{
    if (queueBytes <= m_xon)
    {
        Tell(departure.cls, false);
    }
}

void
@Class@::Tell(uint8_t cls, bool stop)
{
    const uint32_t bit = 1U << cls;
    if (stop == ((m_told & bit) != 0))
    {
        return;
    }
    m_told ^= bit;
    m_port->NotePauseSent(cls, stop);
    Frame* frame = FramePool::TakeControl();
    frame->control->opcode = OPCODE;
    frame->control->classes = static_cast<uint16_t>(bit);
    frame->control->value[cls] = stop ? 1 : 0;
    m_messages += m_port->SendState(frame, true) ? 1 : 0;
}

bool
@Class@::ReceiveControl(const ControlFrame& control)
{
    if (control.opcode != OPCODE)
    {
        return false;
    }
    for (uint32_t left = m_port->KeepLossless(control.classes); left; left &= left - 1)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(left));
        Obey(cls, control.value[cls] != 0);
    }
    return true;
}

void
@Class@::Obey(uint8_t cls, bool stop)
{
    const uint32_t bit = 1U << cls;
    if (stop == ((m_stopped & bit) != 0))
    {
        return;
    }
    m_stopped ^= bit;
    m_port->NotePaused(cls, stop);
    m_port->BlockClass(cls, stop);
}

void
@Class@::NotifyLink(bool up)
{
    // A link that goes down discards its state; one that comes up starts with a new message.
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (!up)
        {
            Obey(cls, false);
        }
        else if ((m_told >> cls) & 1U)
        {
            m_told &= ~(1U << cls);
            Tell(cls, true);
        }
    }
}

bool
@Class@::WouldHold(uint16_t queue, const Frame& /* head */, const Rest& rest) const
{
    return rest.bytes > ((m_told >> (queue % N_CLASSES)) & 1U ? m_xon : m_xoff);
}

bool
@Class@::WouldRelease(uint16_t queue, const Frame& /* head */, const ControlFrame& control) const
{
    const uint8_t cls = queue % N_CLASSES;
    return control.opcode == OPCODE && (control.classes >> cls) & 1U && control.value[cls] == 0;
}

void
@Class@::Report(lossless::Summary& summary) const
{
    summary["@name@_messages_sent"] += static_cast<double>(m_messages);
}

} // namespace @namespace@
} // namespace ns3
