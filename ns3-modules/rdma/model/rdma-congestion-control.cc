/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-congestion-control.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::CongestionControl").SetParent<Object>().SetGroupName("rdma");
    return tid;
}

void
CongestionControl::Start(Sender& sender, uint64_t /* lineRate */)
{
    m_sender = &sender;
    m_connection = &sender.GetConnection();
}

std::string
CongestionControl::Check() const
{
    return {};
}

std::string
CongestionControl::GetSignaller() const
{
    return {};
}

bool
CongestionControl::WantsTelemetry() const
{
    return false;
}

std::string
CongestionControl::Warn(const std::vector<Ptr<lossless::SwitchAgent>>& agents) const
{
    const std::string signaller = GetSignaller();
    if (signaller.empty() || std::ranges::any_of(agents, [&signaller](const auto& agent) {
            const TypeId type = agent->GetInstanceTypeId();
            const TypeId wanted = TypeId::LookupByName(signaller);
            return type == wanted || type.IsChildOf(wanted);
        }))
    {
        return {};
    }
    return GetInstanceTypeId().GetName() + ": no switch has the agent " + signaller +
           ", so rates are never cut unless another agent sends its signal\n";
}

void
CongestionControl::NotifyPath()
{
}

void
CongestionControl::NotifySent(const lossless::Frame& /* frame */)
{
}

bool
CongestionControl::WantsRtt() const
{
    return false;
}

void
CongestionControl::NotifyAck(const Acknowledgement& /* ack */)
{
}

void
CongestionControl::NotifyTimeout()
{
}

void
CongestionControl::NotifyCnp(const lossless::Frame& /* frame */)
{
}

bool
CongestionControl::IsAtRest() const
{
    return false;
}

std::unique_ptr<CongestionReceiver>
CongestionControl::MakeReceiver() const
{
    return nullptr;
}

void
CongestionControl::Report(lossless::Summary& /* summary */) const
{
}

bool
CongestionReceiver::NotifyData(const lossless::Frame& /* frame */)
{
    return false;
}

void
CongestionReceiver::NotifyAnswer(const QueuePairOwner& /* host */,
                                 const lossless::Frame& /* data */,
                                 lossless::Frame& /* answer */)
{
}

void
CongestionReceiver::Report(lossless::Summary& /* summary */) const
{
}

} // namespace rdma
} // namespace ns3
