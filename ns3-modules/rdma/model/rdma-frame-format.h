/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_FRAME_FORMAT_H
#define RDMA_FRAME_FORMAT_H

#include "ns3/object.h"

#include <cstdint>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief How large the frames of a queue pair are and what stands in their headers, as its
 * attributes say.
 */
class FrameFormat : public Object
{
  public:
    /// Size of the largest frame.
    /// @param collects with telemetry. @return bytes.
    uint32_t GetLargestFrame(bool collects) const;

  protected:
    /// Add the attributes to the type of a class derived from this one.
    /// @param tid type. @return the same.
    static TypeId AddAttributes(TypeId tid);

    /// @return bytes of telemetry in a DATA frame, ACK or NACK that has any.
    uint32_t GetTelemetryBytes() const
    {
        return m_telemetryHeader + m_telemetryHops * m_telemetryHopSize;
    }

    /// @return switches that telemetry has room for.
    uint32_t GetTelemetryHops() const
    {
        return m_telemetryHops;
    }

    uint32_t m_payloadSize; //!< B a packet
    uint32_t m_headerSize;  //!< B a data frame beside its payload
    uint32_t m_minFrame;    //!< B
    uint32_t m_ackSize;     //!< B
    uint32_t m_cnpSize;     //!< B; 0: m_ackSize
    uint32_t m_answerClass; //!< class of ACK, NACK and CNP
    uint32_t m_ttl;         //!< hops
    bool m_ecnCapable;      //!< data frames may be marked

  private:
    uint32_t m_telemetryHops;    //!< that there is room for
    uint32_t m_telemetryHeader;  //!< B
    uint32_t m_telemetryHopSize; //!< B
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_FRAME_FORMAT_H */
