/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pfc.h"

#include "pfc-headroom.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <sstream>

namespace ns3
{
namespace pfc
{

using lossless::BufferDemand;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::PFC_OPCODE;

NS_LOG_COMPONENT_DEFINE("Pfc");

NS_OBJECT_ENSURE_REGISTERED(Pfc);

TypeId
Pfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::pfc::Pfc")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("pfc")
            .AddConstructor<Pfc>()
            .AddAttribute(
                "Mode",
                "What ends a pause: Timer (its pause quanta, IEEE 802.1Qbb) or OnOff (only a "
                "resume).",
                EnumValue(Mode::TIMER),
                MakeEnumAccessor<Mode>(&Pfc::m_mode),
                MakeEnumChecker(Mode::TIMER, "Timer", Mode::ON_OFF, "OnOff"))
            .AddAttribute("PauseQuanta",
                          "Duration of a pause in quanta of 512 bit times.",
                          UintegerValue(lossless::MAX_QUANTA),
                          MakeUintegerAccessor(&Pfc::m_quanta),
                          MakeUintegerChecker<uint32_t>(1, lossless::MAX_QUANTA))
            .AddAttribute("RefreshAt",
                          "Share of a pause after which a class that is still OFF is paused again "
                          "(Timer mode). The rest must suffice for a frame that delays the "
                          "refresh: with 1 the pause ends as its refresh arrives.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Pfc::m_refreshAt),
                          MakeDoubleChecker<double>(0.01, 1.0));
    return tid;
}

Pfc::Pfc()
    : m_refresh(this, &Pfc::Refresh),
      m_expire(this, &Pfc::Expire)
{
}

int64_t
Pfc::PauseTime(uint32_t quanta) const
{
    return lossless::TransmissionTime(quanta * lossless::QUANTUM_BYTES, m_port->GetRate());
}

BufferDemand
Pfc::GetBufferDemand() const
{
    const int64_t eta = SufficientHeadroom(*m_port);
    BufferDemand demand;
    demand.beyondStop = BufferDemand::ForEachClass(
        eta,
        "Pfc: eta' = 2 (C D + L_wire) + max(3840 B, C x ControlDelay) + control frame + L = " +
            std::to_string(eta) + " B, L being the largest frame");
    return demand;
}

void
Pfc::Start()
{
    m_refreshInterval =
        static_cast<int64_t>(m_refreshAt * static_cast<double>(PauseTime(m_quanta)));
}

std::string
Pfc::Check() const
{
    std::ostringstream problems;
    if (m_refreshInterval <= 0)
    {
        problems << "Pfc: RefreshAt " << m_refreshAt << " of " << m_quanta
                 << " quanta is less than 1 ps\n";
    }
    return problems.str();
}

std::string
Pfc::Warn() const
{
    // The later of two refreshes may wait for a frame that the earlier one did not wait for.
    const int64_t spare = PauseTime(m_quanta) - m_refreshInterval;
    const int64_t frame =
        lossless::TransmissionTime(m_port->GetLargestFrame() + m_port->GetOverhead(),
                                   m_port->GetRate());
    if (m_mode == Mode::ON_OFF || spare >= frame)
    {
        return {};
    }
    std::ostringstream warning;
    warning
        << "Pfc: a pause of " << m_quanta << " quanta refreshed at " << m_refreshAt
        << " of it leaves " << spare << " ps, less than a frame takes (" << frame
        << " ps): it may end before its refresh, and then frames can be lost; raise PauseQuanta "
           "or lower RefreshAt\n";
    return warning.str();
}

bool
Pfc::WouldHold(uint16_t /* queue */, const Frame& /* head */, const Rest& rest) const
{
    return rest.off;
}

bool
Pfc::WouldRelease(uint16_t queue,
                  const Frame& /* head */,
                  const lossless::ControlFrame& control) const
{
    const uint8_t cls = queue % N_CLASSES;
    return control.opcode == PFC_OPCODE && (control.classes >> cls) & 1U && control.value[cls] == 0;
}

void
Pfc::Send(uint32_t classes, uint32_t quanta)
{
    Frame* frame = lossless::FramePool::TakeControl();
    frame->control->opcode = PFC_OPCODE;
    frame->control->classes = static_cast<uint16_t>(classes);
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((classes >> cls) & 1U)
        {
            frame->control->value[cls] = quanta;
        }
    }
    m_frames += m_port->SendState(frame, true) ? 1 : 0;
}

void
Pfc::NotifyXoff(uint8_t cls, bool xoff)
{
    const uint32_t bit = 1U << cls;
    if (xoff == ((m_off & bit) != 0))
    {
        return;
    }
    m_off = xoff ? m_off | bit : m_off & ~bit;
    NS_LOG_LOGIC("ingress from node " << m_port->GetPeerId() << ": class " << +cls
                                      << (xoff ? " XOFF" : " XON"));
    m_port->NotePauseSent(cls, xoff);
    Send(bit, xoff ? m_quanta : 0);
    if (xoff && m_mode == Mode::TIMER && !m_refreshPending)
    {
        m_refreshPending = true;
        m_refresh.Schedule(m_refreshInterval);
    }
}

void
Pfc::SendResume(uint8_t cls)
{
    Send(1U << cls, 0);
}

void
Pfc::Refresh()
{
    m_refreshPending = m_off != 0;
    if (m_off)
    {
        ++m_refreshes;
        Send(m_off, m_quanta);
        m_refresh.Schedule(m_refreshInterval);
    }
}

bool
Pfc::ReceiveControl(const lossless::ControlFrame& control)
{
    if (control.opcode != PFC_OPCODE)
    {
        return false;
    }
    for (uint32_t left = m_port->KeepLossless(control.classes); left; left &= left - 1)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(left));
        const uint32_t quanta = control.value[cls];
        if (quanta == 0)
        {
            SetPaused(cls, false);
            continue;
        }
        SetPaused(cls, true);
        if (m_mode == Mode::TIMER)
        {
            const int64_t time = PauseTime(quanta);
            m_until[cls] = lossless::NowPs() + time;
            m_expire.Schedule(time);
        }
        else
        {
            m_until[cls] = lossless::NEVER;
        }
    }
    return true;
}

void
Pfc::Expire()
{
    // Not every occurrence ends a pause: since it was scheduled, the timer may have been replaced
    // or the class resumed.
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((m_paused >> cls) & 1U && m_until[cls] <= lossless::NowPs())
        {
            ++m_expired;
            SetPaused(cls, false);
        }
    }
}

void
Pfc::SetPaused(uint8_t cls, bool paused)
{
    const uint32_t bit = 1U << cls;
    if (paused == ((m_paused & bit) != 0))
    {
        return;
    }
    m_paused = paused ? m_paused | bit : m_paused & ~bit;
    NS_LOG_LOGIC("port to node " << m_port->GetPeerId() << ": class " << +cls
                                 << (paused ? " is paused" : " is resumed"));
    m_port->NotePaused(cls, paused);
    Hold(cls, paused);
}

void
Pfc::Hold(uint8_t cls, bool held)
{
    m_port->BlockClass(cls, held);
}

void
Pfc::NotifyLink(bool up)
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (!up)
        {
            SetPaused(cls, false);
        }
        else if ((m_off >> cls) & 1U)
        {
            Send(1U << cls, m_quanta);
        }
    }
}

bool
Pfc::IsAtRest() const
{
    // A refresh or an end that is still pending does nothing. A derived scheme speaks for itself.
    return m_off == 0 && m_paused == 0 && GetInstanceTypeId() == GetTypeId();
}

void
Pfc::Report(lossless::Summary& summary) const
{
    summary["pfc_frames_sent"] += static_cast<double>(m_frames);
    summary["pfc_refreshes_sent"] += static_cast<double>(m_refreshes);
    summary["pfc_pauses_expired"] += static_cast<double>(m_expired);
    const auto most = [&summary](const char* name, int64_t bytes) {
        double& sofar = summary[name];
        sofar = std::max(sofar, static_cast<double>(bytes));
    };
    most("sufficient_headroom_bytes", SufficientHeadroom(*m_port));
    most("published_headroom_bytes", PublishedHeadroom(*m_port));
}

} // namespace pfc
} // namespace ns3
