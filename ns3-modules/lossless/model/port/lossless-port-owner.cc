/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-port-owner.h"

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(PortOwner);

TypeId
PortOwner::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::PortOwner").SetParent<Object>().SetGroupName("lossless");
    return tid;
}

PortOwner::PortOwner() = default;
PortOwner::~PortOwner() = default;

void
PortOwner::DoDispose()
{
    m_agents.clear();
    m_buffer = nullptr;
    Object::DoDispose();
}

void
PortOwner::SetIdentity(uint32_t id, const std::string& name)
{
    m_id = id;
    m_name = name;
}

bool
PortOwner::IsSwitch() const
{
    return false;
}

uint32_t
PortOwner::GetLargestFrame() const
{
    return 0;
}

void
PortOwner::SetBuffer(Ptr<BufferPolicy> buffer)
{
    m_buffer = buffer;
}

void
PortOwner::NotifyLeft(const Frame& /* frame */)
{
}

} // namespace lossless
} // namespace ns3
