/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-congestion-control.h"

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
CongestionControl::Start(QueuePair* queuePair, uint64_t /* lineRate */)
{
    m_queuePair = queuePair;
}

std::string
CongestionControl::Check() const
{
    return {};
}

std::string
CongestionControl::Warn(const std::vector<Ptr<lossless::SwitchAgent>>& /* agents */) const
{
    return {};
}

void
CongestionControl::NotifySent(const lossless::Frame& /* frame */)
{
}

void
CongestionControl::NotifyAck(const lossless::Frame& /* frame */)
{
}

void
CongestionControl::NotifyCnp(const lossless::Frame& /* frame */)
{
}

bool
CongestionControl::NotifyData(const lossless::Frame& /* frame */)
{
    return false;
}

void
CongestionControl::Report(lossless::Summary& /* summary */) const
{
}

} // namespace rdma
} // namespace ns3
