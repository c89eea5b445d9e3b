/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-flow-control-chain.h"

#include "ns3/abort.h"
#include "ns3/lossless-state-visitor.h"

namespace ns3
{
namespace lossless
{

void
FlowControlChain::Add(const Ptr<FlowControl>& flowControl)
{
    FlowControl* member = PeekPointer(flowControl);
    m_members.push_back(flowControl);
    EnterRole(m_byteObservers, member);
    EnterRole(m_xoffListeners, member);
    const bool isModel = EnterRole(m_deadlockModels, member);
    m_hasUnjudgedGate = m_hasUnjudgedGate || (dynamic_cast<Gate*>(member) && !isModel);
}

void
FlowControlChain::Start()
{
    m_started = true;
    for (const auto& member : m_members)
    {
        member->Start();
    }
}

void
FlowControlChain::Clear()
{
    m_members.clear();
    m_byteObservers.clear();
    m_xoffListeners.clear();
    m_deadlockModels.clear();
}

void
FlowControlChain::NotifyReceived(Frame& frame, int64_t queueBytes) const
{
    for (ByteObserver* observer : m_byteObservers)
    {
        observer->NotifyReceived(frame, queueBytes);
    }
}

void
FlowControlChain::NotifyReleased(const Departure& departure, int64_t queueBytes) const
{
    for (ByteObserver* observer : m_byteObservers)
    {
        observer->NotifyReleased(departure, queueBytes);
    }
}

void
FlowControlChain::NotifyXoff(uint8_t cls, bool xoff)
{
    uint32_t& reasons = m_reasons[cls];
    NS_ABORT_MSG_IF(!xoff && reasons == 0, "a reason for a pause ended that had not started");
    reasons += xoff ? 1 : -1;
    if (reasons != (xoff ? 1 : 0))
    {
        return;
    }
    for (XoffListener* listener : m_xoffListeners)
    {
        listener->NotifyXoff(cls, xoff);
    }
}

void
FlowControlChain::SendResume(uint8_t cls) const
{
    for (XoffListener* listener : m_xoffListeners)
    {
        listener->SendResume(cls);
    }
}

void
FlowControlChain::ReceiveControl(const ControlFrame& control) const
{
    for (const auto& member : m_members)
    {
        if (member->ReceiveControl(control))
        {
            return;
        }
    }
}

void
FlowControlChain::Visit(StateVisitor& visitor) const
{
    visitor.Inside(*this);
    // Constant: m_xoffListeners, m_deadlockModels, m_hasUnjudgedGate, m_started.
    visitor.Require(m_byteObservers.empty(), "a flow control counts bytes");
    visitor.Require(!HasReasons(), "a pause is in force"); // m_reasons
    visitor.Same(m_ignored);
    for (const auto& member : m_members)
    {
        const auto* resting = dynamic_cast<const Resting*>(PeekPointer(member));
        visitor.Require(resting, "a flow control does not say when it rests");
        visitor.Require(!resting || resting->IsAtRest(), "a pause is in force");
    }
}

void
FlowControlChain::NotifyLink(bool up) const
{
    for (const auto& member : m_members)
    {
        member->NotifyLink(up);
    }
}

} // namespace lossless
} // namespace ns3
