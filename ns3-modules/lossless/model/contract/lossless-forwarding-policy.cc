/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-forwarding-policy.h"

#include "ns3/boolean.h"
#include "ns3/lossless-fabric-node.h"

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(ForwardingPolicy);
NS_OBJECT_ENSURE_REGISTERED(Ecmp);

TypeId
ForwardingPolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::ForwardingPolicy")
            .SetParent<Object>()
            .SetGroupName("lossless")
            .AddAttribute("Answers",
                          "Apply the policy to ACK, NACK, CNP and the routed messages of schemes, "
                          "too; otherwise they use ECMP.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&ForwardingPolicy::m_answers),
                          MakeBooleanChecker());
    return tid;
}

ForwardingPolicy::ForwardingPolicy()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

ForwardingPolicy::~ForwardingPolicy() = default;

void
ForwardingPolicy::SetSwitch(FabricNode* node)
{
    m_switch = node;
}

void
ForwardingPolicy::Start()
{
}

int64_t
ForwardingPolicy::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

std::string
ForwardingPolicy::Check() const
{
    return {};
}

void
ForwardingPolicy::Report(Summary& /* summary */) const
{
}

TypeId
Ecmp::GetTypeId()
{
    static TypeId tid = TypeId("ns3::lossless::Ecmp")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("lossless")
                            .AddConstructor<Ecmp>();
    return tid;
}

std::size_t
Ecmp::Choose(const Frame& frame, NextHops hops)
{
    return m_switch->GetRoutes().HashTo(m_switch->GetId(), frame, hops.size());
}

} // namespace lossless
} // namespace ns3
