/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-link-agreement.h"

#include "lossless-port-owner.h"

#include "ns3/lossless-flow-control.h"
#include "ns3/string.h"

#include <sstream>

namespace ns3
{
namespace lossless
{

std::string
FindDifferences(const FlowControl& flowControl,
                const Port& port,
                std::initializer_list<const char*> keys)
{
    std::ostringstream problems;
    const Port& peer = port.GetPeer();
    for (const auto& other : peer.GetChain().GetMembers())
    {
        if (port.GetNode().GetId() > peer.GetNode().GetId() ||
            other->GetInstanceTypeId() != flowControl.GetInstanceTypeId())
        {
            continue;
        }
        for (const char* key : keys)
        {
            StringValue here;
            StringValue there;
            flowControl.GetAttribute(key, here);
            other->GetAttribute(key, there);
            if (here.Get() != there.Get())
            {
                problems << flowControl.GetInstanceTypeId().GetName() << ": " << key << " is "
                         << here.Get() << " at " << port.GetNode().GetName() << ", but "
                         << there.Get() << " at " << peer.GetNode().GetName()
                         << "; both ends of a link must have the same value\n";
            }
        }
    }
    return problems.str();
}

} // namespace lossless
} // namespace ns3
