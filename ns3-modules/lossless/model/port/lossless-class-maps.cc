/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-class-maps.h"

#include "ns3/lossless-attribute.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace lossless
{

namespace
{

/// Enter what a text has into a map.
/// @tparam Map array of numbers. @param text KEY=VALUE, separated by commas. @param map the map.
template <class Map>
void
Enter(const std::string& text, Map& map)
{
    const auto values = *ReadByClass(text, map.size());
    for (std::size_t key = 0; key < map.size(); ++key)
    {
        map[key] = values[key].empty() ? map[key] : static_cast<uint8_t>(std::stoul(values[key]));
    }
}

} // namespace

ClassMaps::ClassMaps()
{
    for (std::size_t dscp = 0; dscp < classes.size(); ++dscp)
    {
        classes[dscp] = static_cast<uint8_t>(dscp / 8);
    }
    std::iota(groups.begin(), groups.end(), uint8_t{0});
    queues = groups;
    marks.fill(Frame::NO_DSCP);
}

ClassMaps::ClassMaps(const std::string& dscpClasses,
                     const std::string& classGroups,
                     const std::string& classQueues,
                     const std::string& classMarks)
    : ClassMaps()
{
    trustsDscp = !dscpClasses.empty();
    Enter(dscpClasses, classes);
    Enter(classGroups, groups);
    Enter(classQueues, queues);
    Enter(classMarks, marks);
}

bool
ClassMaps::AreEmpty() const
{
    const ClassMaps none;
    return !trustsDscp && groups == none.groups && queues == none.queues && marks == none.marks;
}

} // namespace lossless
} // namespace ns3
