/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FLOW_CONTROL_CHAIN_H
#define LOSSLESS_FLOW_CONTROL_CHAIN_H

#include "lossless-flow-control.h"

#include <array>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The flow controls of a port in their order, and what they hear as receivers: bytes that
 * come and go, OFF and ON, control frames of the peer.
 */
class FlowControlChain
{
  public:
    /// Append one; its receiver's roles are found here.
    /// @param flowControl a new instance.
    void Add(const Ptr<FlowControl>& flowControl);
    /// Start them all; none can be added any more.
    void Start();
    /// Let them go.
    void Clear();

    /// @return true if none can be added any more.
    bool IsStarted() const
    {
        return m_started;
    }

    /// @return all, in order.
    const std::vector<Ptr<FlowControl>>& GetMembers() const
    {
        return m_members;
    }

    /// @return those that answer when deadlocks are judged.
    const std::vector<DeadlockModel*>& GetDeadlockModels() const
    {
        return m_deadlockModels;
    }

    /// @return true if one has a gate, for which no DeadlockModel of it answers.
    bool HasUnjudgedGate() const
    {
        return m_hasUnjudgedGate;
    }

    /// @return true if one counts the bytes that come and go.
    bool CountsBytes() const
    {
        return !m_byteObservers.empty();
    }

    /// @return true if one silences the peer when the buffer asks for it.
    bool HasXoffListeners() const
    {
        return !m_xoffListeners.empty();
    }

    /// Bytes have entered the ingress accounting.
    /// @param frame charged frame. @param queueBytes bytes of its (port, class).
    void NotifyReceived(const Frame& frame, int64_t queueBytes) const;
    /// Bytes have left the ingress accounting.
    /// @param departure whose bytes. @param queueBytes bytes of the (port, class).
    void NotifyReleased(const Departure& departure, int64_t queueBytes) const;
    /// There is a reason more, or less, for the upstream to be silent: the buffer, a faulty host.
    /// They are told of the first, and when none is left.
    /// @param cls class. @param xoff true: one more.
    void NotifyXoff(uint8_t cls, bool xoff);
    /// A control frame takes effect: give it to the first that knows it.
    /// @param control it.
    void ReceiveControl(const ControlFrame& control) const;
    /// The link went down or came up.
    /// @param up true: up.
    void NotifyLink(bool up) const;

  private:
    std::vector<ByteObserver*> m_byteObservers;   //!< of the members
    std::vector<Ptr<FlowControl>> m_members;      //!< all
    std::vector<XoffListener*> m_xoffListeners;   //!< of the members
    std::vector<DeadlockModel*> m_deadlockModels; //!< of the members
    std::array<uint32_t, N_CLASSES> m_reasons{};  //!< for the upstream to be silent, by class
    bool m_hasUnjudgedGate{false};                //!< see HasUnjudgedGate
    bool m_started{false};                        //!< the chain is closed
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FLOW_CONTROL_CHAIN_H */
