/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_NET_DEVICE_H
#define FABRICDEVICE_NET_DEVICE_H

#include "fabricdevice-dscp-map.h"
#include "fabricdevice-packet.h"

#include "ns3/lossless-fabric-node.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/queue.h"
#include "ns3/traced-callback.h"

#include <array>
#include <string>
#include <vector>

/**
 * @defgroup fabricdevice Devices of a lossless fabric
 *
 * The port of a host as an ns3::NetDevice, so that ns-3's Internet stack runs over the fabric.
 */

namespace ns3
{

class QueueItem;

namespace fabricdevice
{

class FabricChannel;

/// Why a device dropped a packet.
enum class DeviceDrop : uint8_t
{
    QUEUE_FULL,  ///< its transmit queue was full, although it had been stopped
    TOO_LARGE,   ///< larger than the MTU
    UNREACHABLE, ///< its destination address belongs to no host of the fabric
    MALFORMED,   ///< received, but shorter than its headers
};

/// Number of DeviceDrop causes.
inline constexpr uint32_t N_DEVICE_DROPS = 4;

/**
 * @ingroup fabricdevice
 * @brief The port of a host in a lossless::Fabric as a network device: it sends packets in frames
 * of one of the eight classes and delivers received packets to its ns3::Node.
 *
 * The class is chosen by the DSCP of an IP packet or by the priority of its socket; in a lossless
 * class the device obeys PFC, or whatever flow control the port has, like any other sender. It has
 * one transmit queue per class, whose frames are sent when the port requests them, in turn with
 * those of the host's queue pairs. A full transmit queue stops the queue disc above it and wakes it
 * when there is room.
 *
 * Addresses encode the number of the host (GetMac), so that switches need no address learning.
 * ECN marks of switches are copied to the IP header at the receiver.
 *
 * Not modelled: promiscuous reception of frames for other hosts (switches do not forward them
 * here), offloads, interrupt moderation.
 */
class FabricNetDevice : public NetDevice,
                        public lossless::FrameSource,
                        public lossless::PacketReceiver
{
  public:
    /// How the class of a packet is chosen.
    enum class ClassBy
    {
        DSCP,     ///< the differentiated services code point
        PRIORITY, ///< the priority of the socket, 0..7, as an 802.1Q priority code point
    };

    /// A queue of packets.
    using TxQueue = Queue<Packet>;

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    FabricNetDevice();
    ~FabricNetDevice() override;

    /// Attach the device to a host, before the fabric is built.
    /// @param host the host; it has no other device. @param channel channel of the fabric.
    void Attach(Ptr<lossless::FabricNode> host, Ptr<FabricChannel> channel);
    /// Set the transmit queue of a class.
    /// @param cls class. @param queue an empty queue.
    void SetQueue(uint8_t cls, Ptr<TxQueue> queue);
    /// The transmit queue of a class.
    /// @param cls class. @return queue.
    Ptr<TxQueue> GetQueue(uint8_t cls) const;
    /// Number of transmit queues. @return one per class.
    uint8_t GetNQueues() const;
    /// The host it is attached to. @return host.
    Ptr<lossless::FabricNode> GetHost() const;
    /// The address of a host: 02:00 and its number, a locally administered address.
    /// @param host number in its fabric. @return address.
    static Mac48Address GetMac(uint32_t host);
    /// The class of a queue disc's packet: that of its transmit queue.
    /// @param item the packet. @return 0..7.
    std::size_t SelectQueue(Ptr<QueueItem> item) const;

    /// Number of packets dropped.
    /// @param cause cause. @return count.
    uint64_t GetDrops(DeviceDrop cause) const
    {
        return m_drops[static_cast<std::size_t>(cause)];
    }

    /// Number of packets accepted.
    /// @return count, including those that wait in its queues.
    uint64_t GetSent() const
    {
        return m_sent;
    }

    /// Number of packets delivered to its node. @return count.
    uint64_t GetReceived() const
    {
        return m_received;
    }

    // of NetDevice
    void SetIfIndex(uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

    // of lossless::FrameSource
    lossless::Frame* Pull(uint8_t cls) override;
    void Reopen(uint16_t queue) override;

    // of lossless::PacketReceiver
    void Start() override;
    void ReceivePacket(lossless::Frame* frame) override;
    void NotifyLink(bool up) override;
    uint32_t GetLargestFrame() const override;

    /// TracedCallback signature of drops.
    /// @param packet the packet; without Ethernet header if it was rejected before one was added
    /// (TOO_LARGE, UNREACHABLE). @param cause cause of the drop.
    typedef void (*DropCallback)(Ptr<const Packet> packet, DeviceDrop cause);

  protected:
    void DoDispose() override;

  private:
    /// Set the attribute DscpMap.
    void SetDscpMap(std::string map);
    /// Get the attribute DscpMap.
    std::string GetDscpMap() const;
    /// The class of a packet, by ClassBy.
    uint8_t ClassOf(const Packet& packet, const PacketFields& fields) const;
    /// The host of an address; a group is all nodes. @return false: nobody has it.
    bool FindHost(Mac48Address address, uint32_t* host) const;
    /// The frame of a packet with its Ethernet header. Precondition: FindHost knows the address.
    lossless::Frame* MakeFrame(Ptr<Packet> packet, uint8_t cls) const;
    /// Count and trace a packet that is dropped.
    void Drop(Ptr<const Packet> packet, DeviceDrop cause);
    /// Hand a packet to the stack, in the context of its node; original: with its Ethernet header.
    void Deliver(Ptr<Packet> packet, Ptr<Packet> original, LinkHeader link);
    /// The port sends a frame: trace it if it is a packet.
    void NoteTransmit(const lossless::Port& port, const lossless::Frame& frame);

    // Attributes
    uint16_t m_mtu;          //!< maximum packet size (B)
    bool m_tagged;           //!< send 802.1Q tags
    uint16_t m_vlan;         //!< VLAN identifier of the tags
    ClassBy m_classBy;       //!< how the class is chosen
    DscpMap m_dscpMap;       //!< class by code point
    uint8_t m_protocolClass; //!< class of non-IP packets
    bool m_routedHops;       //!< switches decrement the TTL of IP

    Ptr<lossless::FabricNode> m_host;                           //!< host it is attached to
    lossless::Port* m_port{nullptr};                            //!< port of the host, from Start on
    Ptr<FabricChannel> m_channel;                               //!< of the fabric
    Ptr<Node> m_node;                                           //!< node it belongs to
    uint32_t m_ifIndex{0};                                      //!< interface index in the node
    std::array<Ptr<TxQueue>, lossless::N_CLASSES> m_queues;     //!< by class
    std::array<lossless::Frame*, lossless::N_CLASSES> m_next{}; //!< ready, held back by the port
    ReceiveCallback m_receive;                                  //!< to the node
    PromiscReceiveCallback m_promiscReceive;                    //!< to the node, everything
    TracedCallback<> m_linkChange;                              //!< link went down or came up
    uint64_t m_sent{0};                                         //!< packets accepted
    uint64_t m_received{0};                                     //!< packets delivered to the node
    std::array<uint64_t, N_DEVICE_DROPS> m_drops{};             //!< by cause

    TracedCallback<Ptr<const Packet>> m_macTxTrace;            //!< MacTx
    TracedCallback<Ptr<const Packet>> m_macTxDropTrace;        //!< MacTxDrop
    TracedCallback<Ptr<const Packet>> m_macPromiscRxTrace;     //!< MacPromiscRx
    TracedCallback<Ptr<const Packet>> m_macRxTrace;            //!< MacRx
    TracedCallback<Ptr<const Packet>> m_phyTxBeginTrace;       //!< PhyTxBegin
    TracedCallback<Ptr<const Packet>> m_phyRxEndTrace;         //!< PhyRxEnd
    TracedCallback<Ptr<const Packet>> m_phyRxDropTrace;        //!< PhyRxDrop
    TracedCallback<Ptr<const Packet>, DeviceDrop> m_dropTrace; //!< Drop
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_NET_DEVICE_H */
