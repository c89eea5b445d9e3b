/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef GFC_QUEUE_LENGTH_SERIALIZER_H
#define GFC_QUEUE_LENGTH_SERIALIZER_H

#include "ns3/observe-frame-serializer.h"

namespace ns3
{
namespace gfc
{

/**
 * @ingroup gfc
 * @brief Serializes the feedback of conceptual GFC, whose words do not fit 16 bits.
 *
 * Opcode 0x0fc0, class-enable vector, then eight words of 32 bits: the queue length of each class
 * in bytes, 0 for classes that are not addressed. The format is ours; the paper has none. (Stage
 * messages have a stage where PFC has a time and need no serializer.)
 */
class QueueLengthSerializer : public observe::FrameSerializer
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    bool Serialize(const lossless::Frame& frame,
                   uint32_t sender,
                   bool tagged,
                   observe::FrameBytes& bytes) const override;
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_QUEUE_LENGTH_SERIALIZER_H */
