/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_CLASS_MAPS_H
#define LOSSLESS_CLASS_MAPS_H

#include "ns3/lossless-frame.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The maps of a switch's port: from code point to class and priority group for what it
 * receives, from class to queue and code point for what it sends.
 */
struct ClassMaps
{
    /// No maps: a class is its group and its queue.
    ClassMaps();
    /// Read maps.
    /// @param dscpClasses DSCP=CLASS, separated by commas. @param classGroups CLASS=GROUP.
    /// @param classQueues CLASS=QUEUE. @param classMarks CLASS=DSCP.
    ClassMaps(const std::string& dscpClasses,
              const std::string& classGroups,
              const std::string& classQueues,
              const std::string& classMarks);

    /// @param frame a frame as it arrives by the port. @return its class.
    uint8_t ClassOf(const Frame& frame) const
    {
        return trustsDscp ? classes[frame.GetDscp()] : frame.cls;
    }

    /// Do they change nothing?
    /// @return true if so.
    bool AreEmpty() const;

    bool trustsDscp{false};                //!< else a frame has the class on the wire
    std::array<uint8_t, N_DSCPS> classes;  //!< by code point
    std::array<uint8_t, N_CLASSES> groups; //!< by class
    std::array<uint8_t, N_CLASSES> queues; //!< by class
    std::array<uint8_t, N_CLASSES> marks;  //!< by class; Frame::NO_DSCP: none
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_CLASS_MAPS_H */
