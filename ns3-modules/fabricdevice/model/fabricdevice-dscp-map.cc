/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-dscp-map.h"

#include "ns3/abort.h"
#include "ns3/lossless-constants.h"

#include <sstream>

namespace ns3
{
namespace fabricdevice
{

void
DscpMap::Set(const std::string& map)
{
    for (uint8_t dscp = 0; dscp < m_classes.size(); ++dscp)
    {
        m_classes[dscp] = dscp >> 3;
    }
    std::istringstream entries(map);
    for (std::string entry; std::getline(entries, entry, ',');)
    {
        std::istringstream text(entry);
        int dscp = -1;
        int cls = -1;
        char colon = 0;
        text >> dscp >> colon >> cls;
        NS_ABORT_MSG_IF(text.fail() || !(text >> std::ws).eof() || colon != ':' || dscp < 0 ||
                            dscp > 63 || cls < 0 || cls >= lossless::N_CLASSES,
                        "DscpMap \"" << map << "\": \"" << entry
                                     << "\" is not DSCP:CLASS with a DSCP of 0..63 and a class of "
                                        "0..7; entries look like \"26:3,46:5\"");
        m_classes[dscp] = static_cast<uint8_t>(cls);
    }
    m_text = map;
}

} // namespace fabricdevice
} // namespace ns3
