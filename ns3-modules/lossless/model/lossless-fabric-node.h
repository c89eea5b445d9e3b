/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_FABRIC_NODE_H
#define LOSSLESS_FABRIC_NODE_H

#include "lossless-buffer-policy.h"
#include "lossless-feed-map.h"
#include "lossless-packet-receiver.h"
#include "lossless-port.h"
#include "lossless-switch-agent.h"

#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

namespace ns3
{
namespace lossless
{

class PortObserver;
class Routes;

/**
 * @ingroup lossless
 * @brief A node of the fabric, switch or host: ports, a buffer, agents, and the accounting
 * of what it takes and drops.
 */
class FabricNode : public Object
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

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    FabricNode();
    ~FabricNode() override;

    /**
     * @brief Number and name it.
     *
     * @param id its number in the fabric.
     * @param name its name.
     */
    void SetIdentity(uint32_t id, const std::string& name);
    /**
     * @brief Its number.
     *
     * @return number.
     */
    uint32_t GetId() const;
    /**
     * @brief Its name.
     *
     * @return name.
     */
    const std::string& GetName() const;

    /**
     * @brief Add a port.
     *
     * @param port the port.
     * @return its index.
     */
    uint16_t AddPort(Ptr<Port> port);
    /**
     * @brief A port.
     *
     * @param index its index.
     * @return the port.
     */
    Port& GetPort(uint16_t index) const;
    /**
     * @brief How many ports.
     *
     * @return count.
     */
    uint16_t GetNPorts() const;
    /**
     * @brief Give it a buffer, not yet configured.
     *
     * @param buffer the buffer.
     */
    void SetBuffer(Ptr<BufferPolicy> buffer);
    /**
     * @brief Its buffer.
     *
     * @return the buffer.
     */
    BufferPolicy& GetBuffer() const;
    /**
     * @brief Give it an agent, before it has started.
     *
     * @param agent the agent; its roles are found here.
     */
    void AddAgent(Ptr<SwitchAgent> agent);
    /**
     * @brief Its agents.
     *
     * @return agents.
     */
    const std::vector<Ptr<SwitchAgent>>& GetAgents() const;
    /**
     * @brief Who knows the ways.
     *
     * @param routes the routes.
     */
    void SetRoutes(const Routes* routes);

    /**
     * @brief Who takes the packets that arrive here.
     *
     * @param receiver it, which outlives the run; nullptr: nobody.
     */
    void SetPacketReceiver(PacketReceiver* receiver)
    {
        m_packetReceiver = receiver;
    }

    /**
     * @brief Who takes the packets that arrive here.
     *
     * @return it, or nullptr.
     */
    PacketReceiver* GetPacketReceiver() const
    {
        return m_packetReceiver;
    }

    /**
     * @brief Who watches the ports.
     *
     * @param observer it, or nullptr.
     */
    void SetObserver(PortObserver* observer)
    {
        m_observer = observer;
    }

    /**
     * @brief Who watches the ports.
     *
     * @return it, or nullptr.
     */
    PortObserver* GetObserver() const
    {
        return m_observer;
    }

    /**
     * @brief Does this node keep its peers from sending, whatever it holds, and will it not stop?
     *
     * @param cls class.
     * @return true for a host that pauses without an end.
     */
    virtual bool IsSilencingForGood(uint8_t cls) const;

    /// All links are there: configure the buffer, start flow controls and agents.
    void Start();
    /**
     * @brief Time between a frame's arrival and its joining an egress queue.
     *
     * @return ps.
     */
    virtual int64_t GetPipelineLatency() const = 0;
    /**
     * @brief Largest frame this node may make.
     *
     * @return bytes; 0: it makes none of its own.
     */
    virtual uint32_t GetLargestFrame() const;

    /**
     * @brief A frame has arrived whole.
     *
     * @param frame it.
     * @param ingress port.
     */
    virtual void Receive(Frame* frame, Port& ingress) = 0;
    /**
     * @brief Send a frame made here.
     *
     * @param frame it.
     */
    virtual void Inject(Frame* frame) = 0;
    /**
     * @brief Frames inside the node but in no port.
     *
     * @return count.
     */
    virtual uint64_t CountHeld() const;
    /**
     * @brief A frame that was made here, with Frame::paced set, begins to go, or was dropped
     * before.
     *
     * @param frame it.
     */
    virtual void NotifyLeft(const Frame& frame);
    /**
     * @brief The link of a port went down or came up. The packet receiver is told.
     *
     * @param port the port.
     * @param up true: up.
     */
    virtual void NotifyLink(Port& port, bool up);
    /**
     * @brief Give a PACKET that arrived to the packet receiver; one that is for all is taken where
     * nobody wants it.
     *
     * @param frame it.
     */
    void HandOver(Frame* frame);

    /**
     * @brief Count a frame made here.
     *
     * @param frame it.
     */
    void CountMade(const Frame* frame)
    {
        m_counters.made += frame->kind != FrameKind::MAC;
    }

    /**
     * @brief Charge a frame to the buffer, tell the flow controls, and drop it if it is
     * refused.
     * @param frame it.
     * @param ingress port it came in by.
     * @param egress index of the port it will leave by.
     * @return false when it was dropped.
     */
    bool Charge(Frame* frame, Port& ingress, uint16_t egress);

    /**
     * @brief Tell the observer why a class of the peer is about to be paused.
     *
     * @param ingress the port that pauses its peer.
     * @param egress where the frame that did it goes; NO_PORT: it is the fault of this node.
     * @param cls class.
     */
    void NotePressure(const Port& ingress, uint16_t egress, uint8_t cls) const;

    /**
     * @brief Release a frame's bytes, tell the flow controls, and let queues resume that now may.
     * @param departure what leaves.
     */
    void Release(const Departure& departure);
    /**
     * @brief Charge and release a frame that a host takes at once: a flow control that counts bytes
     * (credits) has to see them come and go.
     *
     * @param frame it.
     * @param ingress port it came in by.
     * @return false when it was dropped.
     */
    bool PassThrough(Frame* frame, Port& ingress);

    /**
     * @brief Drop a frame that was taken out of an egress queue, and release its bytes.
     *
     * @param frame it.
     * @param cause why.
     */
    void Discard(Frame* frame, DropCause cause);
    /**
     * @brief Let a frame that was taken out of an egress queue leave by another port. It does not
     * follow the path of its flow any more.
     *
     * @param frame it; of a lossless class.
     * @param egress index of the port.
     */
    void Redirect(Frame* frame, uint16_t egress);
    /**
     * @brief Let a frame that was taken out of an egress queue go on in another class; it is
     * dropped, as an intended loss, if the buffer of that class does not take it.
     *
     * @param frame it.
     * @param cls class, not a lossless one.
     */
    void Reclass(Frame* frame, uint8_t cls);

    /**
     * @brief Count a drop and free the frame, whose bytes are not, or no longer, charged.
     *
     * @param frame it.
     * @param cause why.
     */
    void Drop(Frame* frame, DropCause cause);
    /**
     * @brief Count a frame that ended here and free it.
     *
     * @param frame it.
     */
    void Take(Frame* frame);

    /**
     * @brief Ask the agents whether an arrived frame may stay; count and drop it otherwise.
     *
     * @param frame it, with its egress.
     * @param ingress port.
     * @return false when it was dropped.
     */
    bool OfferArrival(Frame* frame, Port& ingress);
    /**
     * @brief Which ingress feeds which egress.
     *
     * @return the map, or nullptr where no agent asked for it.
     */
    const FeedMap* GetFeeds() const;

    /**
     * @brief What the instances of a scheme on the ports of this node share.
     *
     * @tparam T its type, made when first asked for.
     * @return it.
     */
    template <class T>
    std::shared_ptr<T> GetShared()
    {
        std::shared_ptr<void>& shared = m_shared[typeid(T)];
        if (!shared)
        {
            shared = std::make_shared<T>();
        }
        return std::static_pointer_cast<T>(shared);
    }

    /**
     * @brief The ways through the fabric.
     *
     * @return routes.
     */
    const Routes& GetRoutes() const;

    /**
     * @brief Is anybody interested in queues?
     *
     * @return true if an agent is.
     */
    bool HasQueueAgents() const
    {
        return !m_queueAgents.empty();
    }

    /**
     * @brief Tell the agents.
     *
     * @param egress port.
     * @param queue queue.
     * @param frame frame.
     * @param joined joined, else goes.
     */
    void TellQueue(Port& egress, uint16_t queue, Frame& frame, bool joined) const;
    /**
     * @brief Tell the agents.
     *
     * @param port port.
     * @param cls class.
     * @param on paused.
     * @param sent by this node, else obeyed by it.
     */
    void TellPause(Port& port, uint8_t cls, bool on, bool sent) const;
    /**
     * @brief Let the agents append to a control frame.
     *
     * @param port port.
     * @param control the frame.
     */
    void TellDecorate(Port& port, ControlFrame& control) const;
    /**
     * @brief Tell the agents of a control frame.
     *
     * @param port port.
     * @param control the frame.
     */
    void TellControl(Port& port, const ControlFrame& control) const;
    /**
     * @brief Offer a SIGNAL frame to the agents.
     *
     * @param frame it.
     * @param ingress port.
     * @return true if one consumed it.
     */
    bool OfferTransit(Frame* frame, Port& ingress) const;
    /**
     * @brief Tell the agents of a data frame in the FIFO of a slow receiver.
     *
     * @param frame it.
     * @param bytes frame bytes in the FIFO.
     * @param rate bit/s at which they are taken.
     */
    void TellReceive(const Frame& frame, int64_t bytes, uint64_t rate) const;

    /**
     * @brief What it counted.
     *
     * @return counters.
     */
    const Counters& GetCounters() const;
    /**
     * @brief TracedCallback signature of drops.
     *
     * @param node name.
     * @param frame frame.
     * @param cause cause.
     */
    typedef void (*DropCallback)(const std::string& node, const Frame& frame, DropCause cause);

  protected:
    void DoDispose() override;

    uint32_t m_id{0};                                          //!< number
    std::string m_name;                                        //!< name
    std::vector<Ptr<Port>> m_ports;                            //!< ports
    Ptr<BufferPolicy> m_buffer;                                //!< buffer
    std::vector<Ptr<SwitchAgent>> m_agents;                    //!< all agents
    std::vector<QueueAgent*> m_queueAgents;                    //!< of them
    std::vector<PauseAgent*> m_pauseAgents;                    //!< of them
    std::vector<TransitAgent*> m_transitAgents;                //!< of them
    std::vector<ControlAgent*> m_controlAgents;                //!< of them
    std::vector<ReceiveAgent*> m_receiveAgents;                //!< of them
    std::vector<ArrivalAgent*> m_arrivalAgents;                //!< of them
    bool m_wantsFeeds{false};                                  //!< one is a FeedReader
    bool m_started{false};                                     //!< all agents are there
    std::map<std::type_index, std::shared_ptr<void>> m_shared; //!< GetShared
    std::unique_ptr<FeedMap> m_feeds;                          //!< or null
    const Routes* m_routes{nullptr};                           //!< the ways
    PortObserver* m_observer{nullptr};                         //!< or null
    PacketReceiver* m_packetReceiver{nullptr};                 //!< or null
    Counters m_counters;                                       //!< what it counted
    TracedCallback<const std::string&, const Frame&, DropCause> m_dropTrace; //!< drops

  private:
    /**
     * @brief Tell the flow controls which queues the buffer has turned OFF.
     *
     * @param egress where the frame that did it goes.
     */
    void TellTurnedOff(uint16_t egress);
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_NODE_H */
