/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_SWITCH_AGENT_H
#define LOSSLESS_SWITCH_AGENT_H

#include "lossless-flow-control.h"
#include "lossless-frame.h"

#include "ns3/object.h"

#include <string>

namespace ns3
{
namespace lossless
{

class FabricNode;
class Port;

/**
 * @ingroup lossless
 * @brief Something that sees what only a whole node sees: queues with their depths, pauses,
 * messages in transit.
 *
 * Any number a node, switch or host. Act through the node and its ports: FabricNode::Inject,
 * Port::SendControl, Port::DropQueue, Port::TakeFrames, Port::SetIgnorePause. GetHooks() says which
 * functions a class overrides; the others are never called.
 */
class SwitchAgent : public Object
{
  public:
    /// Functions that a class overrides.
    enum Hook : uint32_t
    {
        QUEUE = 1,    ///< NotifyEnqueue, NotifyDequeue
        PAUSE = 2,    ///< NotifyPauseSent, NotifyPaused
        TRANSIT = 4,  ///< NotifyTransit
        CONTROL = 8,  ///< Decorate, NotifyControl
        RECEIVE = 16, ///< NotifyReceive
        ADMIT = 32,   ///< NotifyArrival
        FEEDS = 64,   ///< none, but the node keeps a FeedMap
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
     * @brief Tie it to its node; called once.
     *
     * @param node the node, which owns this object.
     */
    void SetNode(FabricNode* node);
    /// All ports are complete. Called once, before any frame.
    virtual void Start();
    /**
     * @brief A frame of one of the classes 0..7 has arrived at a switch and knows its egress; it is
     * not charged yet.
     *
     * @param frame it; its class may be changed.
     * @param ingress port.
     * @return false: it is to be dropped, as an intended loss.
     */
    virtual bool NotifyArrival(Frame& frame, Port& ingress);

    /**
     * @brief What makes this configuration impossible on this node.
     *
     * @return one problem a line; empty if none.
     */
    virtual std::string Check() const;
    /**
     * @brief What is possible on this node, but hardly wanted.
     *
     * @return one warning a line; empty if none.
     */
    virtual std::string Warn() const;

    /**
     * @brief A frame has joined an egress queue.
     *
     * @param egress port.
     * @param queue queue.
     * @param frame it; may be marked.
     */
    virtual void NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame);
    /**
     * @brief A frame begins to go.
     *
     * @param egress port.
     * @param queue queue it left.
     * @param frame it; may be marked.
     */
    virtual void NotifyDequeue(Port& egress, uint16_t queue, Frame& frame);
    /**
     * @brief This node has paused, or resumed, a peer.
     *
     * @param port towards it.
     * @param cls class.
     * @param on paused.
     */
    virtual void NotifyPauseSent(Port& port, uint8_t cls, bool on);
    /**
     * @brief A peer has paused, or resumed, this node.
     *
     * @param port towards it.
     * @param cls class.
     * @param on paused.
     */
    virtual void NotifyPaused(Port& port, uint8_t cls, bool on);
    /**
     * @brief A SIGNAL frame has arrived.
     *
     * @param frame it.
     * @param ingress port.
     * @return true: consumed, this object frees it.
     */
    virtual bool NotifyTransit(Frame* frame, Port& ingress);
    /**
     * @brief A MAC control frame is about to be queued: append bytes, or change its words.
     *
     * @param port towards the peer.
     * @param control the frame.
     */
    virtual void Decorate(Port& port, ControlFrame& control);
    /**
     * @brief A MAC control frame takes effect.
     *
     * @param port it came by.
     * @param control the frame.
     */
    virtual void NotifyControl(Port& port, const ControlFrame& control);
    /**
     * @brief A data frame has joined the FIFO of a host that takes data more slowly than its line.
     *
     * @param frame it.
     * @param bytes frame bytes in the FIFO, this one and the one that is being taken included.
     * @param rate bit/s of frame bytes at which the host takes them.
     */
    virtual void NotifyReceive(const Frame& frame, int64_t bytes, uint64_t rate);
    /**
     * @brief Add this node's numbers to the run's summary.
     *
     * @param summary where to add.
     */
    virtual void Report(Summary& summary) const;

  protected:
    FabricNode* m_node{nullptr}; //!< the node it belongs to
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SWITCH_AGENT_H */
