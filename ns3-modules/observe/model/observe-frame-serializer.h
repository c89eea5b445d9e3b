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
} // namespace lossless

namespace observe
{

/// UDP port of a SIGNAL frame without a serializer (RFC 6335, first dynamic port).
inline constexpr uint16_t SIGNAL_PORT = 49152;

/**
 * @ingroup observe
 * @brief Serializes some kinds of frames: each module derives one class for the frames it sends.
 *
 * Every registered derived class with a constructor is found by its TypeId; there is no list of
 * them. MAC control frames whose words fit 16 bits need none: they are serialized by
 * SerializeMacControl.
 */
class FrameSerializer : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    /// Set the nodes of the network; called before Serialize.
    /// @param nodes node n at index n, null if it is not known.
    virtual void SetNodes(const std::vector<const lossless::FabricNode*>& nodes);
    /**
     * @brief Append the bytes of a frame, in the format of the standards, from the destination
     * address up to, but not including, padding and FCS.
     *
     * @param frame the frame. The wire has room for Frame::bytes, FCS included.
     * @param sender sending node.
     * @param tagged whether to add an 802.1Q tag, if such frames have one.
     * @param bytes output, empty; stays empty if the frame is not supported.
     * @return false if this class does not support such frames.
     */
    virtual bool Serialize(const lossless::Frame& frame,
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
    /// @param nodes node n at index n, null if it is not known.
    explicit FrameSerializers(const std::vector<const lossless::FabricNode*>& nodes);
    /// The serializers of the network that a port belongs to.
    /// @param port the port; all links have been added.
    /// @return serializers that know the nodes reachable from here.
    static std::shared_ptr<const FrameSerializers> Of(const lossless::Port& port);
    /**
     * @brief Serialize a frame.
     *
     * The output has the length of the frame in the model: shorter frames are padded with zeros. If
     * the headers of the standards need more bytes than the model has, the output is truncated, as
     * by a capture with a snap length.
     *
     * @param frame the frame.
     * @param sender sending node.
     * @param tagged whether to add an 802.1Q tag, if such frames have one.
     * @param fcs whether to add the FCS.
     * @param bytes output; cleared first. Frame::bytes long, or four less without the FCS.
     * @return length of the frame by the standards, including the FCS if `fcs`: that of `bytes`, or
     * more if it was truncated. [B]
     */
    uint32_t Serialize(const lossless::Frame& frame,
                       uint32_t sender,
                       bool tagged,
                       bool fcs,
                       FrameBytes& bytes) const;

  private:
    std::vector<Ptr<FrameSerializer>> m_serializers; //!< by name
};

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_FRAME_SERIALIZER_H */
