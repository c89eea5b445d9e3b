/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-net-device.h"

#include "fabricdevice-channel.h"
#include "fabricdevice-packet.h"
#include "fabricdevice-vlan-tag.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/object-vector.h"
#include "ns3/queue-item.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabricdevice
{

NS_LOG_COMPONENT_DEFINE("FabricNetDevice");

NS_OBJECT_ENSURE_REGISTERED(FabricNetDevice);

using lossless::ALL_NODES;
using lossless::Frame;
using lossless::N_CLASSES;

namespace
{

constexpr uint32_t FCS_BYTES = 4;        //!< frame check sequence
constexpr uint16_t LARGEST_MTU = 65'513; //!< so that the largest frame fits 16 bits
constexpr uint16_t SMALLEST_MTU = 68;    //!< RFC 791
constexpr uint8_t CAPABLE = 1;           //!< Frame::ecn
/// Flow numbers of packets do not overlap those of queue pairs, which start at 0.
constexpr uint32_t PACKET_FLOW = 0x8000'0000;

} // namespace

TypeId
FabricNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::fabricdevice::FabricNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("fabricdevice")
            .AddConstructor<FabricNetDevice>()
            .AddAttribute("Mtu",
                          "Maximum transmission unit: largest packet without Ethernet header and "
                          "FCS. [B]",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&FabricNetDevice::SetMtu, &FabricNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(SMALLEST_MTU, LARGEST_MTU))
            .AddAttribute("Tagged",
                          "Send frames with an IEEE 802.1Q tag whose priority is the class. Tags "
                          "of received frames are removed in any case.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricNetDevice::m_tagged),
                          MakeBooleanChecker())
            .AddAttribute("Vlan",
                          "VLAN identifier of the tags; 0: a priority tag. Switches do not look "
                          "at it.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricNetDevice::m_vlan),
                          MakeUintegerChecker<uint16_t>(0, 4094))
            .AddAttribute("ClassBy",
                          "How the class of an IP packet is chosen: Dscp, by DscpMap, or Priority, "
                          "that of the socket, 0 if there is none.",
                          EnumValue(ClassBy::DSCP),
                          MakeEnumAccessor<ClassBy>(&FabricNetDevice::m_classBy),
                          MakeEnumChecker(ClassBy::DSCP, "Dscp", ClassBy::PRIORITY, "Priority"))
            .AddAttribute(
                "DscpMap",
                "Classes of code points, as \"26:3,46:5\": DSCP 26 maps to class 3. Other code "
                "points map to the class of their class selector, DSCP / 8 (RFC 2474).",
                StringValue(""),
                MakeStringAccessor(&FabricNetDevice::SetDscpMap, &FabricNetDevice::GetDscpMap),
                MakeStringChecker())
            .AddAttribute("ProtocolClass",
                          "Class of non-IP packets, such as ARP, and of IPv6 neighbour discovery. "
                          "These are flooded: choose a lossy class.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricNetDevice::m_protocolClass),
                          MakeUintegerChecker<uint8_t>(0, N_CLASSES - 1))
            .AddAttribute("RoutedHops",
                          "Whether switches act as routers for the TTL of IP packets: each "
                          "decrements it, if its attribute DecrementTtl is true, and drops packets "
                          "whose TTL has expired. Otherwise they are bridges, which leave it. Must "
                          "be the same on all devices of a fabric.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricNetDevice::m_routedHops),
                          MakeBooleanChecker())
            .AddAttribute(
                "TxQueueList",
                "The transmit queues, by class.",
                TypeId::ATTR_GET,
                ObjectVectorValue(),
                MakeObjectVectorAccessor(&FabricNetDevice::GetQueue, &FabricNetDevice::GetNQueues),
                MakeObjectVectorChecker<TxQueue>())
            .AddTraceSource("MacTx",
                            "A packet was accepted for transmission; with its Ethernet header.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_macTxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet was dropped instead of being sent.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_macTxDropTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A packet was received, for any destination; with its Ethernet header.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_macPromiscRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource(
                "MacRx",
                "A packet for this host, or a broadcast, was received; with its Ethernet "
                "header.",
                MakeTraceSourceAccessor(&FabricNetDevice::m_macRxTrace),
                "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxBegin",
                            "A packet starts transmission; with its Ethernet header.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_phyTxBeginTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxEnd",
                            "A packet has been received completely; with its Ethernet header.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_phyRxEndTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxDrop",
                            "A received packet was dropped.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_phyRxDropTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "The device dropped a packet: packet, cause.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_dropTrace),
                            "ns3::fabricdevice::FabricNetDevice::DropCallback");
    return tid;
}

FabricNetDevice::FabricNetDevice() = default;
FabricNetDevice::~FabricNetDevice() = default;

void
FabricNetDevice::DoDispose()
{
    if (m_host)
    {
        m_host->SetPacketReceiver(nullptr);
    }
    m_host = nullptr;
    m_port = nullptr;
    m_channel = nullptr;
    m_node = nullptr;
    for (auto& queue : m_queues)
    {
        if (queue)
        {
            queue->Dispose();
        }
        queue = nullptr;
    }
    m_receive.Nullify();
    m_promiscReceive.Nullify();
    NetDevice::DoDispose();
}

void
FabricNetDevice::Attach(Ptr<lossless::FabricNode> host, Ptr<FabricChannel> channel)
{
    NS_ABORT_MSG_IF(host->GetPacketReceiver(),
                    "host " << host->GetName()
                            << " already has a device; a host has only one link");
    m_host = host;
    m_host->SetPacketReceiver(this);
    m_channel = channel;
    m_channel->Add(this, host->GetId());
}

void
FabricNetDevice::Start()
{
    m_port = &m_host->GetPort(0);
    m_port->GetEgress().AddSource(this);
    m_port->TraceConnectWithoutContext("Transmit",
                                       MakeCallback(&FabricNetDevice::NoteTransmit, this));
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        NS_ABORT_MSG_IF(!m_queues[cls],
                        "the device of " << m_host->GetName() << " has no queue for class " << +cls
                                         << "; install devices with FabricNetDeviceHelper");
        if (!m_queues[cls]->IsEmpty())
        {
            m_port->GetEgress().SetReady(this, cls, true);
            Simulator::ScheduleNow(&lossless::Port::Kick, m_port);
        }
    }
}

void
FabricNetDevice::SetQueue(uint8_t cls, Ptr<TxQueue> queue)
{
    m_queues.at(cls) = queue;
}

Ptr<FabricNetDevice::TxQueue>
FabricNetDevice::GetQueue(uint8_t cls) const
{
    return m_queues.at(cls);
}

uint8_t
FabricNetDevice::GetNQueues() const
{
    return N_CLASSES;
}

Ptr<lossless::FabricNode>
FabricNetDevice::GetHost() const
{
    return m_host;
}

Mac48Address
FabricNetDevice::GetMac(uint32_t host)
{
    const std::array<uint8_t, 6> bytes{0x02,
                                       0x00,
                                       static_cast<uint8_t>(host >> 24),
                                       static_cast<uint8_t>(host >> 16),
                                       static_cast<uint8_t>(host >> 8),
                                       static_cast<uint8_t>(host)};
    Mac48Address address;
    address.CopyFrom(bytes.data());
    return address;
}

bool
FabricNetDevice::FindHost(Mac48Address address, uint32_t* host) const
{
    if (address.IsGroup()) // including broadcast
    {
        *host = ALL_NODES;
        return true;
    }
    std::array<uint8_t, 6> bytes;
    address.CopyTo(bytes.data());
    *host = static_cast<uint32_t>(bytes[2]) << 24 | bytes[3] << 16 | bytes[4] << 8 | bytes[5];
    return bytes[0] == 0x02 && bytes[1] == 0x00 && m_channel->HasDevice(*host);
}

void
FabricNetDevice::SetDscpMap(std::string map)
{
    m_dscpMap.Set(map);
}

std::string
FabricNetDevice::GetDscpMap() const
{
    return m_dscpMap.Get();
}

uint8_t
FabricNetDevice::ClassOf(const Packet& packet, const PacketFields& fields) const
{
    if (!fields.ip || fields.discovery)
    {
        return m_protocolClass;
    }
    if (m_classBy == ClassBy::DSCP)
    {
        return m_dscpMap.ClassOf(fields.dscp);
    }
    SocketPriorityTag tag;
    return packet.PeekPacketTag(tag) ? std::min<uint8_t>(tag.GetPriority(), N_CLASSES - 1) : 0;
}

std::size_t
FabricNetDevice::SelectQueue(Ptr<QueueItem> item) const
{
    return ClassOf(*item->GetPacket(), Inspect(*item));
}

Frame*
FabricNetDevice::MakeFrame(Ptr<Packet> packet, uint8_t cls) const
{
    auto inside = packet->Copy();
    LinkHeader link;
    RemoveLinkHeader(inside, &link);
    const PacketFields fields = Inspect(*inside, link.etherType);
    Frame* frame = lossless::FramePool::TakePacket(packet);
    frame->dscp = fields.ip ? fields.dscp : Frame::NO_DSCP;
    FindHost(link.dest, &frame->dst);
    frame->src = m_host->GetId();
    frame->hash = fields.hash;
    frame->flow = PACKET_FLOW | fields.hash;
    frame->cls = cls;
    frame->payload = static_cast<uint16_t>(inside->GetSize());
    frame->bytes = static_cast<uint16_t>(
        std::max(frame->payload + ETHERNET_BYTES + FCS_BYTES, lossless::MIN_FRAME_BYTES) +
        (m_tagged ? TAG_BYTES : 0));
    frame->ecn = fields.ecn == CONGESTED || fields.ecn == 0 ? fields.ecn : CAPABLE;
    if (m_routedHops && fields.ip && !fields.discovery && frame->dst != ALL_NODES)
    {
        frame->ttl = fields.ttl;
    }
    return frame;
}

void
FabricNetDevice::Drop(Ptr<const Packet> packet, DeviceDrop cause)
{
    ++m_drops[static_cast<std::size_t>(cause)];
    cause == DeviceDrop::MALFORMED ? m_phyRxDropTrace(packet) : m_macTxDropTrace(packet);
    m_dropTrace(packet, cause);
}

bool
FabricNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return SendFrom(packet, GetAddress(), dest, protocolNumber);
}

bool
FabricNetDevice::SendFrom(Ptr<Packet> packet,
                          const Address& source,
                          const Address& dest,
                          uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << source << dest << protocolNumber);
    if (packet->GetSize() > m_mtu)
    {
        Drop(packet, DeviceDrop::TOO_LARGE);
        return false;
    }
    const LinkHeader link{Mac48Address::ConvertFrom(source),
                          Mac48Address::ConvertFrom(dest),
                          protocolNumber};
    uint32_t host = 0;
    if (!FindHost(link.dest, &host))
    {
        Drop(packet, DeviceDrop::UNREACHABLE);
        return false;
    }
    const uint8_t cls = ClassOf(*packet, Inspect(*packet, protocolNumber));
    if (m_tagged)
    {
        packet->AddHeader(VlanTag(cls, m_vlan, link.etherType));
    }
    AddLinkHeader(packet, link, m_tagged);
    if (!m_queues[cls]->Enqueue(packet))
    {
        Drop(packet, DeviceDrop::QUEUE_FULL);
        return false;
    }
    ++m_sent;
    m_macTxTrace(packet);
    if (m_port)
    {
        m_port->GetEgress().SetReady(this, cls, true);
        m_port->Kick();
    }
    return true;
}

Frame*
FabricNetDevice::Pull(uint8_t cls)
{
    TxQueue& queue = *m_queues[cls];
    Frame* frame = std::exchange(m_next[cls], nullptr);
    if (!frame)
    {
        const Ptr<Packet> packet = queue.Dequeue();
        frame = packet ? MakeFrame(packet, cls) : nullptr;
    }
    if (frame && m_port->GetEgress().HasSelectors() &&
        m_port->GetQueues()[m_port->GetEgress().QueueOf(*frame)].GetFrames() > 0)
    {
        m_next[cls] = frame;
        m_port->GetEgress().SetReady(this, cls, false);
        return nullptr;
    }
    if (queue.IsEmpty())
    {
        m_port->GetEgress().SetReady(this, cls, false);
    }
    if (frame)
    {
        m_host->CountMade(frame);
    }
    return frame;
}

void
FabricNetDevice::Reopen(uint16_t /* queue */)
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (m_next[cls])
        {
            m_port->GetEgress().SetReady(this, cls, true);
        }
    }
}

void
FabricNetDevice::NoteTransmit(const lossless::Port& /* port */, const Frame& frame)
{
    if (frame.kind == lossless::FrameKind::PACKET)
    {
        m_phyTxBeginTrace(frame.packet);
    }
}

void
FabricNetDevice::ReceivePacket(Frame* frame)
{
    Ptr<Packet> original(frame->packet);
    auto packet = original->Copy(); // other hosts may share the packet
    LinkHeader link;
    const bool whole = RemoveLinkHeader(packet, &link);
    const bool marked = whole && WriteMarks(packet, link.etherType, *frame, m_routedHops);
    lossless::FramePool::Give(frame);
    if (!whole)
    {
        m_phyRxEndTrace(original);
        Drop(original, DeviceDrop::MALFORMED);
        return;
    }
    if (marked)
    {
        const uint32_t header = original->GetSize() - packet->GetSize();
        original = original->CreateFragment(0, header);
        original->AddAtEnd(packet);
    }
    m_phyRxEndTrace(original);
    // The delivering event belongs to the fabric; events it triggers here belong to the node.
    Simulator::ScheduleWithContext(m_node->GetId(),
                                   Time(0),
                                   &FabricNetDevice::Deliver,
                                   this,
                                   packet,
                                   original,
                                   link);
}

void
FabricNetDevice::Deliver(Ptr<Packet> packet, Ptr<Packet> original, LinkHeader link)
{
    NS_LOG_FUNCTION(this << packet << link.source << link.dest << link.etherType);
    const bool ours = link.dest == GetMac(m_host->GetId());
    const PacketType type = link.dest.IsBroadcast() ? PACKET_BROADCAST
                            : link.dest.IsGroup()   ? PACKET_MULTICAST
                            : ours                  ? PACKET_HOST
                                                    : PACKET_OTHERHOST;
    m_macPromiscRxTrace(original);
    if (!m_promiscReceive.IsNull())
    {
        m_promiscReceive(this, packet, link.etherType, link.source, link.dest, type);
    }
    if (type != PACKET_OTHERHOST)
    {
        ++m_received;
        m_macRxTrace(original);
        m_receive(this, packet, link.etherType, link.source);
    }
}

void
FabricNetDevice::NotifyLink(bool /* up */)
{
    m_linkChange();
}

uint32_t
FabricNetDevice::GetLargestFrame() const
{
    return m_mtu + ETHERNET_BYTES + FCS_BYTES + (m_tagged ? TAG_BYTES : 0);
}

void
FabricNetDevice::SetIfIndex(uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
FabricNetDevice::GetChannel() const
{
    return m_channel;
}

void
FabricNetDevice::SetAddress(Address address)
{
    const Mac48Address mine = GetMac(m_host ? m_host->GetId() : 0);
    NS_ABORT_MSG_IF(!m_host || Mac48Address::ConvertFrom(address) != mine,
                    "the address of a FabricNetDevice says which host of its fabric it is on and "
                    "cannot be "
                        << address << "; it is " << mine);
}

Address
FabricNetDevice::GetAddress() const
{
    NS_ABORT_MSG_IF(!m_host, "a FabricNetDevice has no address before it is attached to a host");
    return GetMac(m_host->GetId());
}

bool
FabricNetDevice::SetMtu(uint16_t mtu)
{
    // Headroom was sized for the largest frame when the fabric was built.
    if (mtu < SMALLEST_MTU || mtu > LARGEST_MTU || (m_port && mtu > m_mtu))
    {
        return false;
    }
    m_mtu = mtu;
    return true;
}

uint16_t
FabricNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
FabricNetDevice::IsLinkUp() const
{
    return m_host && m_host->GetNPorts() > 0 && m_host->GetPort(0).IsUp();
}

void
FabricNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
FabricNetDevice::IsBroadcast() const
{
    return true;
}

Address
FabricNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricNetDevice::IsMulticast() const
{
    return true;
}

Address
FabricNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
FabricNetDevice::IsBridge() const
{
    return false;
}

bool
FabricNetDevice::IsPointToPoint() const
{
    return false;
}

Ptr<Node>
FabricNetDevice::GetNode() const
{
    return m_node;
}

void
FabricNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
FabricNetDevice::NeedsArp() const
{
    return true;
}

void
FabricNetDevice::SetReceiveCallback(ReceiveCallback cb)
{
    m_receive = cb;
}

void
FabricNetDevice::SetPromiscReceiveCallback(PromiscReceiveCallback cb)
{
    m_promiscReceive = cb;
}

bool
FabricNetDevice::SupportsSendFrom() const
{
    return false; // an address identifies its host: replies to another address would not arrive
}

} // namespace fabricdevice
} // namespace ns3
