/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-server.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ns3
{
namespace rdma
{

Server::Server(std::vector<Host*> hosts, std::unique_ptr<ScaleUp> scaleUp, bool failover)
    : m_hosts(std::move(hosts)),
      m_scaleUp(std::move(scaleUp))
{
    if (failover)
    {
        for (Host* host : m_hosts)
        {
            host->SetLinkCallback(MakeCallback(&Server::NotifyLink, this));
        }
    }
}

Host*
Server::FindOther(QueuePairOwner* host, uint32_t flow) const
{
    const auto own = std::find(m_hosts.begin(), m_hosts.end(), host);
    if (own == m_hosts.end() || (*own)->GetPort(0).IsUp())
    {
        return nullptr;
    }
    std::vector<Host*> up;
    std::copy_if(m_hosts.begin(), m_hosts.end(), std::back_inserter(up), [](Host* other) {
        return other->GetPort(0).IsUp();
    });
    return up.empty() ? nullptr : up[flow % up.size()];
}

void
Server::NotifyLink()
{
    const Host& any = *m_hosts.front();
    for (uint32_t flow = 0; flow < any.GetNFlows(); ++flow)
    {
        QueuePair& queuePair = any.GetQueuePair(flow);
        if (queuePair.MayMove())
        {
            Host* src = FindOther(queuePair.GetSource(), flow);
            Host* dst = FindOther(queuePair.GetDestination(), flow);
            if (src || dst)
            {
                queuePair.GetSource()->Forget(queuePair.GetSendQueue());
                queuePair.Move(src ? src : queuePair.GetSource(),
                               dst ? dst : queuePair.GetDestination());
            }
        }
    }
}

} // namespace rdma
} // namespace ns3
