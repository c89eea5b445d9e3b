/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-helper.h"

#include "ns3/abort.h"
#include "ns3/fabricdevice-channel.h"
#include "ns3/fabricdevice-host.h"
#include "ns3/names.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace fabricdevice
{

namespace
{

constexpr uint32_t LINKTYPE_ETHERNET = 1; //!< of pcap files

} // namespace

FabricNetDeviceHelper::FabricNetDeviceHelper()
{
    m_devices.SetTypeId("ns3::fabricdevice::FabricNetDevice");
    SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("16p"));
}

void
FabricNetDeviceHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    m_devices.Set(name, value);
}

NetDeviceContainer
FabricNetDeviceHelper::Install(Ptr<lossless::Fabric> fabric, const NodeContainer& nodes) const
{
    NetDeviceContainer devices;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        std::string name = Names::FindName(*node);
        if (name.empty())
        {
            name = std::string("n").append(std::to_string((*node)->GetId()));
        }
        const uint32_t host =
            fabric->AddHost(name,
                            fabric->Make<lossless::FabricNode>("ns3::fabricdevice::PlainHost"));
        devices.Add(Install(fabric, host, *node));
    }
    return devices;
}

Ptr<FabricNetDevice>
FabricNetDeviceHelper::Install(Ptr<lossless::Fabric> fabric, uint32_t host, Ptr<Node> node) const
{
    NS_ABORT_MSG_IF(host >= fabric->GetNNodes() || fabric->GetRoutes().IsSwitch(host),
                    "devices are installed on hosts, but node " << host
                                                                << " is not a host of the fabric");
    auto device = m_devices.Create<FabricNetDevice>();
    auto interface =
        CreateObjectWithAttributes<NetDeviceQueueInterface>("NTxQueues",
                                                            UintegerValue(lossless::N_CLASSES));
    for (uint8_t cls = 0; cls < lossless::N_CLASSES; ++cls)
    {
        auto queue = m_queues.Create<FabricNetDevice::TxQueue>();
        device->SetQueue(cls, queue);
        interface->GetTxQueue(cls)->ConnectQueueTraces(queue);
    }
    interface->SetSelectQueueCallback(
        [raw = PeekPointer(device)](Ptr<QueueItem> item) { return raw->SelectQueue(item); });
    device->AggregateObject(interface);
    device->Attach(Ptr<lossless::FabricNode>(&fabric->GetNode(host)),
                   FabricChannel::Of(PeekPointer(fabric)));
    node->AddDevice(device);
    return device;
}

void
FabricNetDeviceHelper::EnablePcapInternal(std::string prefix,
                                          Ptr<NetDevice> netDevice,
                                          bool promiscuous,
                                          bool explicitFilename)
{
    const auto device = DynamicCast<FabricNetDevice>(netDevice);
    if (!device)
    {
        return; // containers may hold devices of other types
    }
    PcapHelper helper;
    const std::string name =
        explicitFilename ? prefix : helper.GetFilenameFromDevice(prefix, netDevice);
    const auto file = CreateObject<PcapFileWrapper>();
    file->Open(name, std::ios::out);
    NS_ABORT_MSG_IF(file->Fail(), "EnablePcap: " << name << " cannot be written");
    file->Init(LINKTYPE_ETHERNET);
    helper.HookDefaultSink<FabricNetDevice>(device, "PhyTxBegin", file);
    helper.HookDefaultSink<FabricNetDevice>(device, promiscuous ? "MacPromiscRx" : "MacRx", file);
}

void
FabricNetDeviceHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                           std::string prefix,
                                           Ptr<NetDevice> netDevice,
                                           bool explicitFilename)
{
    const auto device = DynamicCast<FabricNetDevice>(netDevice);
    if (!device)
    {
        return;
    }
    Packet::EnablePrinting();
    AsciiTraceHelper helper;
    if (!stream)
    {
        stream = helper.CreateFileStream(
            explicitFilename ? prefix : helper.GetFilenameFromDevice(prefix, netDevice));
    }
    const std::string path = "/NodeList/" + std::to_string(device->GetNode()->GetId()) +
                             "/DeviceList/" + std::to_string(device->GetIfIndex()) +
                             "/$ns3::fabricdevice::FabricNetDevice/";
    helper.HookDefaultReceiveSinkWithContext<FabricNetDevice>(device,
                                                              path + "MacRx",
                                                              "MacRx",
                                                              stream);
    for (uint8_t cls = 0; cls < device->GetNQueues(); ++cls)
    {
        using TxQueue = FabricNetDevice::TxQueue;
        const auto queue = device->GetQueue(cls);
        const std::string here = path + "TxQueueList/" + std::to_string(cls) + "/";
        helper.HookDefaultEnqueueSinkWithContext<TxQueue>(queue, here, "Enqueue", stream);
        helper.HookDefaultDequeueSinkWithContext<TxQueue>(queue, here, "Dequeue", stream);
        helper.HookDefaultDropSinkWithContext<TxQueue>(queue, here, "Drop", stream);
    }
}

} // namespace fabricdevice
} // namespace ns3
