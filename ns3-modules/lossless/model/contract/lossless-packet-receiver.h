/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PACKET_RECEIVER_H
#define LOSSLESS_PACKET_RECEIVER_H

#include "ns3/lossless-frame.h"

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The receiver of a host's frames of the kind PACKET: the network device of another protocol
 * stack.
 */
class PacketReceiver
{
  public:
    virtual ~PacketReceiver() = default;
    /// The ports of the node exist; called once, before the first frame.
    virtual void Start() = 0;
    /// Receive a frame for this host, or a broadcast.
    /// @param frame the frame, counted as taken; to be returned to the FramePool.
    virtual void ReceivePacket(Frame* frame) = 0;
    /// The link of the host went down or came up.
    /// @param up true: up.
    virtual void NotifyLink(bool up) = 0;
    /// Largest frame it sends. @return bytes.
    virtual uint32_t GetLargestFrame() const = 0;
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PACKET_RECEIVER_H */
