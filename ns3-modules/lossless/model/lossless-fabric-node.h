/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FABRIC_NODE_H
#define LOSSLESS_FABRIC_NODE_H

#include "lossless-feed-map.h"
#include "lossless-packet-receiver.h"
#include "lossless-port-owner.h"
#include "lossless-port.h"

#include "ns3/traced-callback.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class Routes;

/**
 * @ingroup lossless
 * @brief A node of the fabric, switch or host: ports, a buffer, agents, and the accounting
 * of what it takes and drops.
 */
class FabricNode : public PortOwner
{
  public:
    /// Counted over a node's life. Frames of MAC control are not counted.
    struct Counters
    {
        uint64_t made{0};                              //!< frames made here
        uint64_t taken{0};                             //!< frames that ended here
        uint64_t dropped{0};                           //!< frames dropped here
        uint64_t droppedLossless{0};                   //!< of them, frames of lossless classes that
                                                       //!< no scheme dropped on purpose
        uint64_t onPurposeBytes{0};                    //!< of them, bytes that a scheme dropped
        std::array<uint64_t, N_DROP_CAUSES> byCause{}; //!< dropped, by cause
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    FabricNode();
    ~FabricNode() override;

    /// The node of a port: all owners of ports are of this type.
    /// @param port the port. @return its node.
    static FabricNode& Of(const Port& port)
    {
        return static_cast<FabricNode&>(port.GetNode());
    }

    /// Add a port.
    /// @param port the port. @return its index.
    uint16_t AddPort(Ptr<Port> port);

    Port& GetPort(uint16_t index) const final
    {
        return *PeekPointer(m_ports[index]);
    }

    uint16_t GetNPorts() const final
    {
        return static_cast<uint16_t>(m_ports.size());
    }

    /// Give it an agent, before it has started.
    /// @param agent the agent; its roles are found here.
    void AddAgent(Ptr<SwitchAgent> agent);
    /// Who knows the ways.
    /// @param routes the routes.
    void SetRoutes(const Routes* routes);

    /// Who takes the packets that arrive here.
    /// @param receiver it, which outlives the run; nullptr: nobody.
    void SetPacketReceiver(PacketReceiver* receiver)
    {
        m_packetReceiver = receiver;
    }

    /// @return who takes the packets that arrive here, or nullptr.
    PacketReceiver* GetPacketReceiver() const
    {
        return m_packetReceiver;
    }

    /// Does this node keep its peers from sending, whatever it holds, and will it not stop?
    /// @param cls class. @return true for a host that pauses without an end.
    virtual bool IsPausingForever(uint8_t cls) const;

    /// All links are there: configure the buffer, start flow controls and agents.
    void Start();
    /// Time between a frame's arrival and its joining an egress queue. @return ps.
    virtual int64_t GetPipelineLatency() const = 0;
    /// Send a frame made here.
    /// @param frame it.
    virtual void Inject(Frame* frame) = 0;
    /// Frames inside the node but in no port. @return count.
    virtual uint64_t CountHeld() const;
    /// The link of a port went down or came up. The packet receiver is told.
    /// @param port the port. @param up true: up.
    virtual void NotifyLink(Port& port, bool up);
    /// Give a PACKET that arrived to the packet receiver; one that is for all is taken where nobody
    /// wants it.
    /// @param frame it.
    void HandOver(Frame* frame);

    /// Count a frame made here.
    /// @param frame it.
    void CountMade(const Frame* frame)
    {
        m_counters.made += frame->kind != FrameKind::MAC;
    }

    /// Charge a frame to the buffer, in the class in which it came, tell the flow controls, and
    /// drop it if it is refused.
    /// @param frame it. @param ingress port it came in by.
    /// @param egress index of the port it will leave by. @return false when it was dropped.
    bool Charge(Frame* frame, Port& ingress, uint16_t egress);

    /// Tell the observer why a class of the peer is about to be paused.
    /// @param ingress the port that pauses its peer.
    /// @param egress where the frame that did it goes; NO_PORT: it is the fault of this node.
    /// @param cls class. @param egressClass class in which that frame leaves.
    void NotePressure(const Port& ingress, uint16_t egress, uint8_t cls, uint8_t egressClass) const;

    void Release(const Departure& departure) final;
    /// Charge and release a frame that a host takes at once: a flow control that counts bytes
    /// (credits) has to see them come and go.
    /// @param frame it. @param ingress port it came in by. @return false when it was dropped.
    bool PassThrough(Frame* frame, Port& ingress);

    void Discard(Frame* frame, DropCause cause) final;
    /// Let a frame that was taken out of an egress queue leave by another port. It does not follow
    /// the path of its flow any more.
    /// @param frame it; of a lossless class. @param egress index of the port.
    void Redirect(Frame* frame, uint16_t egress);
    /// Let a frame that was taken out of an egress queue go on in another class; it is dropped, as
    /// an intended loss, if the buffer of that class does not take it.
    /// @param frame it. @param cls class, not a lossless one.
    void Reclass(Frame* frame, uint8_t cls);

    void Drop(Frame* frame, DropCause cause) final;
    /// Count a frame that ended here and free it.
    /// @param frame it.
    void Take(Frame* frame);

    /// Which ingress feeds which egress. @return the map, or nullptr where no agent asked for it.
    const FeedMap* GetFeeds() const;

    /// The ways through the fabric. @return routes.
    const Routes& GetRoutes() const;

    /// What it counted. @return counters.
    const Counters& GetCounters() const;
    /// TracedCallback signature of drops.
    /// @param node name. @param frame frame. @param cause cause.
    typedef void (*DropCallback)(const std::string& node, const Frame& frame, DropCause cause);

  protected:
    void DoDispose() override;

    std::vector<Ptr<Port>> m_ports;            //!< ports
    std::unique_ptr<FeedMap> m_feeds;          //!< or null
    const Routes* m_routes{nullptr};           //!< the ways
    PacketReceiver* m_packetReceiver{nullptr}; //!< or null
    bool m_started{false};                     //!< all agents are there
    Counters m_counters;                       //!< what it counted
    TracedCallback<const std::string&, const Frame&, DropCause> m_dropTrace; //!< drops

  private:
    /// Tell the flow controls which queues the buffer has turned OFF.
    /// @param egress where the frame that did it goes. @param egressClass class in which.
    void TellTurnedOff(uint16_t egress, uint8_t egressClass);
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_NODE_H */
