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
 * @brief The sizes of a queue pair's frames and the contents of their headers, as attributes.
 */
class FrameFormat : public Object
{
  public:
    /// Size of the largest frame.
    /// @param collects whether it has telemetry. @return bytes.
    uint32_t GetLargestFrame(bool collects) const;

  protected:
    /// Add the attributes to the type of a class derived from this one.
    /// @param tid type. @return the same.
    static TypeId AddAttributes(TypeId tid);

    /// @return bytes of telemetry in a DATA frame, ACK or NACK with telemetry.
    uint32_t GetTelemetryBytes() const
    {
        return m_telemetryHeader + m_telemetryHops * m_telemetryHopSize;
    }

    /// @return maximum number of switches in the telemetry.
    uint32_t GetTelemetryHops() const
    {
        return m_telemetryHops;
    }

    uint32_t m_payloadSize; //!< B per packet
    uint32_t m_headerSize;  //!< B per data frame besides its payload
    uint32_t m_minFrame;    //!< B
    uint32_t m_ackSize;     //!< B
    uint32_t m_cnpSize;     //!< B; 0: m_ackSize
    uint32_t m_answerClass; //!< class of ACK, NACK and CNP
    uint32_t m_dscp;        //!< code point of data frames
    uint32_t m_ttl;         //!< hops
    bool m_ecnCapable;      //!< data frames may be marked

  private:
    uint32_t m_telemetryHops;    //!< maximum number
    uint32_t m_telemetryHeader;  //!< B
    uint32_t m_telemetryHopSize; //!< B
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_FRAME_FORMAT_H */
