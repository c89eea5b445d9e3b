/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SERVER_H
#define RDMA_SERVER_H

#include "rdma-host.h"
#include "rdma-scale-up.h"

#include <memory>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief The hosts of one machine: they may share a scale-up domain, and take over the flows of a
 * host whose link has failed.
 */
class Server
{
  public:
    /// Constructor.
    /// @param hosts its hosts. @param scaleUp their domain, or null.
    /// @param failover whether flows move away from a host whose link has failed.
    Server(std::vector<Host*> hosts, std::unique_ptr<ScaleUp> scaleUp, bool failover);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// @return the domain over which its hosts communicate; nullptr: they use the network.
    ScaleUp* GetScaleUp() const
    {
        return m_scaleUp.get();
    }

  private:
    void NotifyLink();
    Host* FindOther(QueuePairOwner* host, uint32_t flow) const;

    std::vector<Host*> m_hosts;         //!< its hosts
    std::unique_ptr<ScaleUp> m_scaleUp; //!< or null
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SERVER_H */
