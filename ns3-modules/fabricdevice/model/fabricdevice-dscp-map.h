/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_DSCP_MAP_H
#define FABRICDEVICE_DSCP_MAP_H

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{
namespace fabricdevice
{

/**
 * @ingroup fabricdevice
 * @brief The class for each differentiated services code point.
 */
class DscpMap
{
  public:
    /// Parse a map; aborts with advice if it is malformed.
    /// @param map entries such as "26:3,46:5": DSCP 26 maps to class 3. Other code points map to
    /// the class of their class selector, DSCP / 8 (RFC 2474).
    void Set(const std::string& map);

    /// @return the text that was parsed.
    const std::string& Get() const
    {
        return m_text;
    }

    /// The class of a code point.
    /// @param dscp 0..63. @return 0..7.
    uint8_t ClassOf(uint8_t dscp) const
    {
        return m_classes[dscp];
    }

  private:
    std::string m_text;                  //!< text that was parsed
    std::array<uint8_t, 64> m_classes{}; //!< by code point
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_DSCP_MAP_H */
