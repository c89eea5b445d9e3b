/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FLOW_CONTROL_CHAIN_H
#define LOSSLESS_FLOW_CONTROL_CHAIN_H

#include "ns3/lossless-flow-control.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The flow controls of a port in order, and the events reported to their receiver sides:
 * arriving and departing bytes, OFF and ON, control frames of the peer.
 */
class FlowControlChain
{
  public:
    /// Append a flow control; its receiver's roles are registered here.
    /// @param flowControl a new instance.
    void Add(const Ptr<FlowControl>& flowControl);
    /// Start all members; none can be added afterwards.
    void Start();
    /// Release the members.
    void Clear();

    /// @return true if no more members can be added.
    bool IsStarted() const
    {
        return m_started;
    }

    /// @return all, in order.
    const std::vector<Ptr<FlowControl>>& GetMembers() const
    {
        return m_members;
    }

    /// @return the members that are deadlock models.
    const std::vector<DeadlockModel*>& GetDeadlockModels() const
    {
        return m_deadlockModels;
    }

    /// @return true if a member with a gate is not a DeadlockModel.
    bool HasUnjudgedGate() const
    {
        return m_hasUnjudgedGate;
    }

    /// @return true if a member counts arriving and departing bytes.
    bool CountsBytes() const
    {
        return !m_byteObservers.empty();
    }

    /// @return true if a member pauses the peer when the buffer requires it.
    bool HasXoffListeners() const
    {
        return !m_xoffListeners.empty();
    }

    /// Bytes have entered the ingress accounting.
    /// @param frame charged frame. @param queueBytes bytes of its (port, class).
    void NotifyReceived(Frame& frame, int64_t queueBytes) const;
    /// Bytes have left the ingress accounting.
    /// @param departure the frame that left. @param queueBytes bytes of the (port, class).
    void NotifyReleased(const Departure& departure, int64_t queueBytes) const;
    /// A reason to pause the upstream starts or ends: the buffer, a faulty host. Members are
    /// notified of the first reason, and when none is left.
    /// @param cls class. @param xoff true: a reason starts.
    void NotifyXoff(uint8_t cls, bool xoff);
    /// Tell the upstream that it may send, see XoffListener.
    /// @param cls class.
    void SendResume(uint8_t cls) const;

    /// Is there a reason to pause the upstream, see NotifyXoff? @return true if so, in any class.
    bool HasReasons() const
    {
        return std::any_of(m_reasons.begin(), m_reasons.end(), [](uint32_t n) { return n > 0; });
    }

    /// A control frame takes effect: pass it to the member that recognises it.
    /// @param control the frame.
    void ReceiveControl(const ControlFrame& control) const;

    /// A control frame addressed classes that are not lossless here.
    void NoteIgnored()
    {
        ++m_ignored;
    }

    /// @return number of control frames that were ignored, all or in part, because they addressed
    /// classes that are not lossless here.
    uint64_t GetIgnored() const
    {
        return m_ignored;
    }

    /// The link went down or came up.
    /// @param up true: up.
    void NotifyLink(bool up) const;
    /// Visit the state: all are at rest. @param visitor visitor.
    void Visit(StateVisitor& visitor) const;

  private:
    std::vector<ByteObserver*> m_byteObservers;   //!< of the members
    std::vector<Ptr<FlowControl>> m_members;      //!< all
    std::vector<XoffListener*> m_xoffListeners;   //!< of the members
    std::vector<DeadlockModel*> m_deadlockModels; //!< of the members
    std::array<uint32_t, N_CLASSES>
        m_reasons{};               //!< by class: number of reasons to pause the upstream
    uint64_t m_ignored{0};         //!< see GetIgnored
    bool m_hasUnjudgedGate{false}; //!< see HasUnjudgedGate
    bool m_started{false};         //!< the chain is closed
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FLOW_CONTROL_CHAIN_H */
