/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-channel.h"

#include "ns3/channel-list.h"

namespace ns3
{
namespace fabricdevice
{

NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabricdevice::FabricChannel")
                            .SetParent<Channel>()
                            .SetGroupName("fabricdevice")
                            .AddConstructor<FabricChannel>();
    return tid;
}

FabricChannel::FabricChannel() = default;
FabricChannel::~FabricChannel() = default;

void
FabricChannel::DoDispose()
{
    m_fabric = nullptr;
    m_devices.clear();
    Channel::DoDispose();
}

Ptr<FabricChannel>
FabricChannel::Of(const lossless::Fabric* fabric)
{
    for (uint32_t i = 0; i < ChannelList::GetNChannels(); ++i)
    {
        auto channel = DynamicCast<FabricChannel>(ChannelList::GetChannel(i));
        if (channel && channel->m_fabric == fabric)
        {
            return channel;
        }
    }
    auto channel = CreateObject<FabricChannel>();
    channel->m_fabric = fabric;
    return channel;
}

void
FabricChannel::Add(Ptr<NetDevice> device, uint32_t host)
{
    m_devices.push_back(device);
    if (host >= m_hasDevice.size())
    {
        m_hasDevice.resize(host + 1, false);
    }
    m_hasDevice[host] = true;
}

bool
FabricChannel::HasDevice(uint32_t host) const
{
    return host < m_hasDevice.size() && m_hasDevice[host];
}

std::size_t
FabricChannel::GetNDevices() const
{
    return m_devices.size();
}

Ptr<NetDevice>
FabricChannel::GetDevice(std::size_t i) const
{
    return m_devices[i];
}

} // namespace fabricdevice
} // namespace ns3
