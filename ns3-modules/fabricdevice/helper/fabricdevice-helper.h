/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_HELPER_H
#define FABRICDEVICE_HELPER_H

#include "ns3/fabricdevice-net-device.h"
#include "ns3/lossless-fabric.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/trace-helper.h"

#include <string>
#include <utility>

namespace ns3
{
namespace fabricdevice
{

/**
 * @ingroup fabricdevice
 * @brief Installs devices on hosts of a fabric.
 *
 * A device gets one transmit queue per class and a NetDeviceQueueInterface that stops the queue
 * disc above it when one of them is full. After addresses have been assigned, ns-3's
 * NeighborCacheHelper can fill the neighbour caches, so that no ARP or neighbour discovery is
 * needed.
 *
 * EnablePcap and EnableAscii write what devices send and receive, as for other ns-3 devices;
 * observe::FabricPcapHelper captures ports, including pauses and the frames of queue pairs.
 */
class FabricNetDeviceHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    FabricNetDeviceHelper();

    /**
     * @brief Set the transmit queues; DropTailQueue of 16 packets by default. In front of a
     * lossless class they should be short: packets held back by a pause wait in the queue disc.
     *
     * @tparam Ts names and values of attributes.
     * @param type TypeId name of a Queue, without the type of its items.
     * @param args attributes.
     */
    template <typename... Ts>
    void SetQueue(std::string type, Ts&&... args)
    {
        QueueBase::AppendItemTypeIfNotPresent(type, "Packet");
        m_queues.SetTypeId(type);
        m_queues.Set(std::forward<Ts>(args)...);
    }

    /// Set an attribute of the devices.
    /// @param name attribute of FabricNetDevice. @param value its value.
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @brief Add a host without queue pairs to a fabric for each node, and install a device on it.
     * Link the hosts (Fabric::AddLink) before the fabric is built.
     *
     * A host has the name of its node, or "n" and the node's number.
     *
     * @param fabric the fabric, not built yet.
     * @param nodes the nodes.
     * @return the devices, in the same order.
     */
    NetDeviceContainer Install(Ptr<lossless::Fabric> fabric, const NodeContainer& nodes) const;
    /// Install a device on an existing host of the fabric, such as one with queue pairs; the two
    /// share its link frame by frame.
    /// @param fabric the fabric, not built yet. @param host number of the host.
    /// @param node the node that the device belongs to. @return the device.
    Ptr<FabricNetDevice> Install(Ptr<lossless::Fabric> fabric, uint32_t host, Ptr<Node> node) const;

  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> netDevice,
                            bool promiscuous,
                            bool explicitFilename) override;
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> netDevice,
                             bool explicitFilename) override;

    ObjectFactory m_queues;  //!< of the transmit queues
    ObjectFactory m_devices; //!< of the devices
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_HELPER_H */
