/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PORT_OBSERVER_H
#define LOSSLESS_PORT_OBSERVER_H

#include <cstdint>

namespace ns3
{
namespace lossless
{

class Port;
struct Frame;

/**
 * @ingroup lossless
 * @brief Observes the ports of a fabric for queues that are held back: the deadlock oracle.
 *
 * Everything else about a port is visible in its trace sources. An observer never intervenes.
 */
class PortObserver
{
  public:
    virtual ~PortObserver() = default;
    /// A class of an egress port, or another queue of that class, is held back.
    /// @param port the port. @param cls class.
    virtual void NotifyHeld(const Port& port, uint8_t cls) = 0;
    /// No queue of a class of an egress port is held back any more.
    /// @param port the port. @param cls class.
    virtual void NotifyFree(const Port& port, uint8_t cls) = 0;
    /// A frame has joined a queue of a held class.
    /// @param port egress port. @param queue its queue. @param frame the frame.
    virtual void NotifyJoined(const Port& port, uint16_t queue, const Frame& frame) = 0;
    /// A frame has left a queue of a held class.
    /// @param port egress port. @param queue its queue.
    virtual void NotifyLeft(const Port& port, uint16_t queue) = 0;
    /// A port is about to pause its peer.
    /// @param ingress the port.
    /// @param egress egress of the frame that caused it; NO_PORT: its node is the cause.
    /// @param cls class. @param egressClass class in which that frame will leave.
    virtual void NotifyPressure(const Port& ingress,
                                uint16_t egress,
                                uint8_t cls,
                                uint8_t egressClass) = 0;
    /// Another event that may release or hold queues: a drop, a link, a revoked release.
    virtual void NotifyChange() = 0;
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PORT_OBSERVER_H */
