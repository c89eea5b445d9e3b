/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FLOW_CONTROL_H
#define LOSSLESS_FLOW_CONTROL_H

#include "lossless-buffer-demand.h"
#include "lossless-frame.h"
#include "lossless-queue-scheduler.h"

#include "ns3/object.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class Port;

/// Numbers that end up in a run's summary, by name; names end in their unit. Values of equal names
/// are added up.
using Summary = std::map<std::string, double>;

/**
 * @ingroup lossless
 * @brief A hop-by-hop flow control: one instance a port, any number in a port's chain.
 *
 * Derive a class, give it a TypeId with attributes, and it can be named in any experiment. What
 * else it takes part in it says by the roles below, of which it derives from any number; a role
 * that it does not take costs nothing. The chain agrees on a frame when no member has blocked its
 * queue and the times of all gates have come.
 *
 * *Receiver's side*: see bytes come and go (ByteObserver), hear of OFF and ON (XoffListener), and
 * answer with Port::SendControl. *Sender's side*: block or unblock queues (Port::Block), say from
 * when the head of a queue may go (Gate), have queues of your own (QueueSelector), and consume
 * control frames of the peer (ReceiveControl). Whoever holds queues back is a DeadlockModel too:
 * without one a run says that deadlocks were not judged.
 */
class FlowControl : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Tie it to its port; called once.
    /// @param port the port, which owns this object.
    void SetPort(Port* port);

    /**
     * @brief What this scheme needs of the port's ingress buffer to lose nothing. Asked before
     * Start, when rate, delay, peer and frames are known.
     *
     * The node's buffer sets it aside, and refuses at the start what it cannot hold.
     *
     * @return the demand; by default nothing.
     */
    virtual BufferDemand GetBufferDemand() const;

    /// The port is complete (rate, peer, buffer): start timers, read the rate. Called once, before
    /// any frame.
    virtual void Start();

    /// What makes this configuration impossible on this port.
    /// @return one problem a line; empty if none.
    virtual std::string Check() const;
    /// What lies outside a sufficient bound but may be wanted.
    /// @return one warning a line; empty if none.
    virtual std::string Warn() const;

    /// A control frame from the peer takes effect.
    /// @param control it. @return true if it was this scheme's.
    virtual bool ReceiveControl(const ControlFrame& control);

    /// The link went down or came up: forget what was agreed over it.
    /// @param up true: up.
    virtual void NotifyLink(bool up);

    /// Add this port's numbers to the run's summary.
    /// @param summary where to add.
    virtual void Report(Summary& summary) const;

  protected:
    Port* m_port{nullptr}; //!< the port it belongs to
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that counts what comes in by its port and goes again.
 */
class ByteObserver
{
  public:
    virtual ~ByteObserver() = default;
    /// Bytes have entered the ingress accounting of this port.
    /// @param frame the frame, already charged. @param queueBytes bytes of its (port, class) now.
    virtual void NotifyReceived(const Frame& frame, int64_t queueBytes) = 0;
    /// Bytes have left the ingress accounting of this port.
    /// @param departure whose bytes. @param queueBytes bytes of the (port, class) now.
    virtual void NotifyReleased(const Departure& departure, int64_t queueBytes) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that silences the upstream when the node's buffer, or a faulty
 * host, asks for it.
 */
class XoffListener
{
  public:
    virtual ~XoffListener() = default;
    /// The upstream of a class is to be silent, or not any more; called when that changes.
    /// @param cls class. @param xoff true: XOFF, silent; false: XON.
    virtual void NotifyXoff(uint8_t cls, bool xoff) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that lets the heads of queues go from a time on: a rate, a credit.
 */
class Gate
{
  public:
    virtual ~Gate() = default;
    /// From when may the head of a queue go?
    /// @param queue egress queue. @param head its first frame. At a host its `egress` is NO_PORT.
    /// @param now ps.
    /// @return ps; now if at once, NEVER if something else must happen first (then call Port::Kick
    /// when it has).
    virtual int64_t GetEarliest(uint16_t queue, const Frame& head, int64_t now) const = 0;
    /// The head of a queue has begun to go.
    /// @param queue egress queue. @param frame the frame. @param now ps.
    virtual void NotifySent(uint16_t queue, const Frame& frame, int64_t now);
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that has egress queues of its own.
 *
 * Queue c (0..7) is that of class c; queues of its own have the numbers c + 8, c + 16, ..., which a
 * QueueScheduler knows as the places 0, 1, ...
 */
class QueueSelector
{
  public:
    virtual ~QueueSelector() = default;
    /// How many egress queues beyond one a class it needs; one member of a chain may.
    /// @return count, at most MAX_OWN_QUEUES.
    virtual uint16_t GetOwnQueues() const = 0;
    /// Who serves the own queues of a class, once its class queue has nothing to send.
    /// @return a new one, called once a class; by default a StrictScheduler.
    virtual std::unique_ptr<QueueScheduler> MakeScheduler() const;
    /// Choose the egress queue a frame joins. A host also asks before it makes the frame, so that
    /// the answer must have no effect; use NotifyJoined for that.
    /// @param frame the frame, or one that is not made yet: flow, class and destination are there.
    /// Its `egress` is NO_PORT at a host. @param queue what the chain chose so far. @return queue.
    virtual uint16_t SelectQueue(const Frame& frame, uint16_t queue) const = 0;
    /// A frame has joined an egress queue, its own or that of a class.
    /// @param queue egress queue. @param frame the frame.
    virtual void NotifyJoined(uint16_t queue, const Frame& frame);
    /// A frame was taken out of an egress queue and does not go from there: dropped, or to join
    /// another one. The queue is as it is without it.
    /// @param queue egress queue. @param frame the frame.
    virtual void NotifyTaken(uint16_t queue, const Frame& frame);
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that holds queues back: what it answers when deadlocks are judged.
 */
class DeadlockModel
{
  public:
    virtual ~DeadlockModel() = default;

    /// A (port, class) of which all that can move has gone.
    struct Rest
    {
        int64_t bytes; //!< what is left
        bool off;      //!< whether the shared buffer, or a host's fault, would still have it OFF
        const std::vector<const Frame*>& frames; //!< that are left, flow by flow in their order
    };

    /// Would this port still keep its peer from sending, if only a part of what came in by it were
    /// left?
    /// @param queue egress queue of the peer; its class is that modulo 8.
    /// @param head first frame in it.
    /// @param rest what is left of the class in this port's ingress accounting.
    /// @return true if the frame could not go as long as nothing more leaves.
    virtual bool WouldHold(uint16_t queue, const Frame& head, const Rest& rest) const = 0;
    /// Would a control frame let a queue of this port go that is held back now? Asked about frames
    /// on their way.
    /// @param queue egress queue of this port. @param head first frame in it.
    /// @param control what is on its way. @return true if the frame could go then.
    virtual bool WouldRelease(uint16_t queue,
                              const Frame& head,
                              const ControlFrame& control) const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a DeadlockModel whose queues wait for each other: its Gate says NEVER only for the
 * sake of order, and it pauses queues with Port::Block.
 */
class OrderModel
{
  public:
    virtual ~OrderModel() = default;
    /// Must a queue of this port wait for what another one of it holds, though nobody pauses it?
    /// @param queue egress queue of this port. @param head first frame in it.
    /// @param other egress queue of this port that holds frames.
    /// @return true if the frame cannot go as long as the other queue stands still.
    virtual bool WaitsFor(uint16_t queue, const Frame& head, uint16_t other) const = 0;
};

/**
 * @ingroup lossless
 * @brief Enter a flow control or an agent into the list of a role, if it takes it.
 *
 * @tparam Role the role.
 * @tparam T what `member` is.
 * @param list who takes it.
 * @param member it may.
 * @return true if it does.
 */
template <class Role, class T>
bool
EnterRole(std::vector<Role*>& list, T* member)
{
    auto* role = dynamic_cast<Role*>(member);
    if (role)
    {
        list.push_back(role);
    }
    return role != nullptr;
}

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FLOW_CONTROL_H */
