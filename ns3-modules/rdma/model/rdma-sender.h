/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SENDER_H
#define RDMA_SENDER_H

#include "rdma-connection.h"

#include <cstdint>

namespace ns3
{
namespace rdma
{

class QueuePairOwner;

/**
 * @ingroup rdma
 * @brief The sender's end of a queue pair as its congestion control sees it.
 */
class Sender
{
  public:
    /// Constructor.
    /// @param connection what both ends know; it outlives this.
    explicit Sender(const Connection& connection)
        : m_connection(connection)
    {
    }

    virtual ~Sender() = default;

    /// A limit of the sender has changed.
    virtual void Reconsider() = 0;
    /// Send nothing until a time; a later call can only extend it.
    /// @param until ps.
    /// @return by how much this extends the remaining hold (ps).
    virtual int64_t HoldUntil(int64_t until) = 0;
    /// Will it send nothing more? @return true if all messages are acknowledged.
    virtual bool IsDone() const = 0;

    /// @return what both ends know.
    const Connection& GetConnection() const
    {
        return m_connection;
    }

    /// @return the host that sends; null before set-up.
    QueuePairOwner* GetHost() const
    {
        return m_host;
    }

  protected:
    const Connection& m_connection;  //!< what both ends know
    QueuePairOwner* m_host{nullptr}; //!< sends
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SENDER_H */
