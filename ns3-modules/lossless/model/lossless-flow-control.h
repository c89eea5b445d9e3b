/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_FLOW_CONTROL_H
#define LOSSLESS_FLOW_CONTROL_H

#include "lossless-frame.h"

#include "ns3/object.h"

#include <map>
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
 * Derive a class, give it a TypeId with attributes, say in GetHooks() which functions it overrides,
 * and it can be named in any experiment. The chain agrees on a frame when no member has blocked its
 * queue and all GetEarliest() times have come.
 *
 * *Receiver's side*: the port tells of bytes entering and leaving the ingress accounting
 * (NotifyReceived, NotifyReleased) and of the shared buffer turning a queue OFF or ON
 * (NotifyPressure); answer with Port::SendControl. *Sender's side*: block or unblock queues
 * (Port::Block), or say from when the head of a queue may go (GetEarliest); see frames go
 * (NotifySent); consume control frames of the peer (ReceiveControl).
 */
class FlowControl : public Object
{
  public:
    /// Functions that a class overrides; those it does not name are never called.
    enum Hook : uint32_t
    {
        BYTES = 1,    ///< NotifyReceived, NotifyReleased
        PRESSURE = 2, ///< NotifyPressure
        SELECT = 4,   ///< SelectQueue
        GATE = 8,     ///< GetEarliest
        SENT = 16,    ///< NotifySent
        JOINED = 32,  ///< NotifyJoined
        ORDER = 64,   ///< WaitsFor; GetEarliest says NEVER only for the sake of order
    };

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @brief Which functions are to be called.
     *
     * @return sum of Hook.
     */
    virtual uint32_t GetHooks() const = 0;

    /**
     * @brief Tie it to its port; called once.
     *
     * @param port the port, which owns this object.
     */
    void SetPort(Port* port);

    /// The port is complete (rate, peer, buffer): start timers, read the rate. Called once, before
    /// any frame.
    virtual void Start();

    /**
     * @brief What makes this configuration impossible on this port.
     *
     * @return one problem a line; empty if none.
     */
    virtual std::string Check() const;
    /**
     * @brief What lies outside a sufficient bound but may be wanted.
     *
     * @return one warning a line; empty if none.
     */
    virtual std::string Warn() const;

    /// A (port, class) of which all that can move has gone.
    struct Rest
    {
        int64_t bytes; //!< what is left
        bool off;      //!< whether the shared buffer, or a host's fault, would still have it OFF
        const std::vector<const Frame*>& frames; //!< that are left, flow by flow in their order
    };

    /**
     * @brief Would this port still keep its peer from sending, if only a part of what came in by
     * it were left? For DeadlockTest; the default never would.
     *
     * @param queue egress queue of the peer; its class is that modulo 8.
     * @param head first frame in it.
     * @param rest what is left of the class in this port's ingress accounting.
     * @return true if the frame could not go as long as nothing more leaves.
     */
    virtual bool WouldHold(uint16_t queue, const Frame& head, const Rest& rest) const;
    /**
     * @brief Would a control frame let a queue of this port go that is held back now? For
     * DeadlockTest, about frames on their way; the default would.
     *
     * @param queue egress queue of this port.
     * @param head first frame in it.
     * @param control what is on its way.
     * @return true if the frame could go then.
     */
    virtual bool WouldRelease(uint16_t queue, const Frame& head, const ControlFrame& control) const;
    /**
     * @brief Must a queue of this port wait for what another one of it holds, though nobody pauses
     * it? For DeadlockTest; the default never must. A scheme that says so (ORDER) pauses queues
     * with Port::Block.
     *
     * @param queue egress queue of this port.
     * @param head first frame in it.
     * @param other egress queue of this port that holds frames.
     * @return true if the frame cannot go as long as the other queue stands still.
     */
    virtual bool WaitsFor(uint16_t queue, const Frame& head, uint16_t other) const;

    /**
     * @brief Bytes have entered the ingress accounting of this port.
     * @param frame the frame, already charged.
     * @param queueBytes bytes of its (port, class) now.
     */
    virtual void NotifyReceived(const Frame& frame, int64_t queueBytes);

    /**
     * @brief Bytes have left the ingress accounting of this port.
     * @param cls class.
     * @param flow flow of the frame.
     * @param bytes size of the frame.
     * @param queueBytes bytes of the (port, class) now.
     */
    virtual void NotifyReleased(uint8_t cls, uint32_t flow, uint32_t bytes, int64_t queueBytes);

    /**
     * @brief The shared buffer wants the upstream of a class silent, or not any more.
     *
     * @param cls class.
     * @param off true: silent.
     */
    virtual void NotifyPressure(uint8_t cls, bool off);

    /**
     * @brief How many egress queues beyond one a class it needs.
     *
     * @return count.
     */
    virtual uint16_t GetExtraQueues() const;

    /**
     * @brief Choose the egress queue a frame joins. A host also asks before it makes the frame, so
     * that the answer must have no effect; use NotifyJoined for that.
     *
     * @param frame the frame, or one that is not made yet: flow, class and destination are there.
     * @param queue what the chain chose so far.
     * @return queue.
     */
    virtual uint16_t SelectQueue(const Frame& frame, uint16_t queue) const;

    /**
     * @brief A frame has joined an egress queue.
     *
     * @param queue egress queue.
     * @param frame the frame.
     */
    virtual void NotifyJoined(uint16_t queue, const Frame& frame);

    /**
     * @brief From when may the head of a queue go?
     * @param queue egress queue.
     * @param head its first frame.
     * @param now ps.
     * @return ps; now if at once, NEVER if something else must happen first (then call Port::Kick
     * when it has).
     */
    virtual int64_t GetEarliest(uint16_t queue, const Frame& head, int64_t now) const;

    /**
     * @brief The head of a queue has begun to go.
     *
     * @param queue egress queue.
     * @param frame the frame.
     * @param now ps.
     */
    virtual void NotifySent(uint16_t queue, const Frame& frame, int64_t now);

    /**
     * @brief A control frame from the peer takes effect.
     *
     * @param control it.
     * @return true if it was this scheme's.
     */
    virtual bool ReceiveControl(const ControlFrame& control);

    /**
     * @brief The link went down or came up: forget what was agreed over it.
     *
     * @param up true: up.
     */
    virtual void NotifyLink(bool up);

    /**
     * @brief Add this port's numbers to the run's summary.
     *
     * @param summary where to add.
     */
    virtual void Report(Summary& summary) const;

  protected:
    Port* m_port{nullptr}; //!< the port it belongs to
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FLOW_CONTROL_H */
