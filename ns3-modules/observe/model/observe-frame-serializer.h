/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_FRAME_SERIALIZER_H
#define OBSERVE_FRAME_SERIALIZER_H

#include "observe-frame-bytes.h"

#include "ns3/object.h"

#include <memory>
#include <vector>

namespace ns3
{
namespace lossless
{

class FabricNode;
class Port;

/// UDP port of a SIGNAL frame that no serializer knows (RFC 6335, first dynamic port).
inline constexpr uint16_t SIGNAL_PORT = 49152;

/**
 * @ingroup observe
 * @brief Knows the bytes of some frames: what a module derives, once, for the frames it makes.
 *
 * Every derived class that has a constructor and is registered is found by its TypeId and asked;
 * no list of them is kept anywhere. MAC control frames whose words fit 16 bits need none: they are
 * serialized as SerializeMacControl does.
 */
class FrameSerializer : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    /// The nodes of the network; called before Serialize.
    /// @param nodes node n at index n, null where it is not known.
    virtual void SetNodes(const std::vector<const FabricNode*>& nodes);
    /**
     * @brief Append the bytes of a frame, as the standards have them, from the destination address
     * up to, but not including, padding and FCS.
     *
     * @param frame it. The wire has room for Frame::bytes, the FCS included.
     * @param sender node from whose port it goes.
     * @param tagged with an 802.1Q tag, where such frames have one.
     * @param bytes empty, where to; stays empty if it is not known.
     * @return false if this class does not know such frames.
     */
    virtual bool Serialize(const Frame& frame,
                           uint32_t sender,
                           bool tagged,
                           FrameBytes& bytes) const = 0;
};

/**
 * @ingroup observe
 * @brief All serializers of a network.
 */
class FrameSerializers
{
  public:
    /// Make one of each registered class.
    /// @param nodes node n at index n, null where it is not known.
    explicit FrameSerializers(const std::vector<const FabricNode*>& nodes);
    /// Those of the network that a port is part of.
    /// @param port it; all links are there.
    /// @return serializers that know the nodes that links lead to from here.
    static std::shared_ptr<const FrameSerializers> Of(const Port& port);
    /**
     * @brief Serialize a frame.
     *
     * It gets the length that the model gave it: shorter frames are padded with zeros. Where the
     * headers of the standards need more than the model has, the bytes are cut off, as by a capture
     * with a snap length.
     *
     * @param frame it.
     * @param sender node from whose port it goes.
     * @param tagged with an 802.1Q tag, where such frames have one.
     * @param fcs with the FCS.
     * @param bytes where to; emptied before. Frame::bytes long, or four less without the FCS.
     * @return length of the frame by the standards, the FCS counted if `fcs`: that of `bytes`, or
     * more if it was cut. [B]
     */
    uint32_t Serialize(const Frame& frame,
                       uint32_t sender,
                       bool tagged,
                       bool fcs,
                       FrameBytes& bytes) const;

  private:
    std::vector<Ptr<FrameSerializer>> m_serializers; //!< by name
};

} // namespace lossless
} // namespace ns3

#endif /* OBSERVE_FRAME_SERIALIZER_H */
