/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef CBFC_CREDIT_SERIALIZER_H
#define CBFC_CREDIT_SERIALIZER_H

#include "ns3/observe-frame-serializer.h"

namespace ns3
{
namespace cbfc
{

/**
 * @ingroup cbfc
 * @brief Serializes credit messages, whose counters may have up to 32 bits.
 *
 * Opcode 0x0cbf, a class-enable vector with the bit of the one class (InfiniBand's VL), then two
 * words of 32 bits: FCCL and FCTBS in blocks. The format is ours: InfiniBand's flow-control packet,
 * with 12 bits per counter, is not an Ethernet frame.
 */
class CreditSerializer : public observe::FrameSerializer
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    bool Serialize(const lossless::Frame& frame,
                   uint32_t sender,
                   bool tagged,
                   observe::FrameBytes& bytes) const override;
};

} // namespace cbfc
} // namespace ns3

#endif /* CBFC_CREDIT_SERIALIZER_H */
