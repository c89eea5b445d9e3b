/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_PAUSE_H
#define @GUARD@_PAUSE_H

#include "ns3/nstime.h"
#include "ns3/pfc.h"

#include <array>

/**
 * @defgroup @module@ @title@
 *
 * PFC with another way to obey a pause.
 */

namespace ns3
{
namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief PFC that counts long pauses. Change Hold to obey them in another way.
 *
 * All else is PFC's: when a class is paused and resumed, the headroom, the frames, the refreshes.
 */
class @Class@ : public pfc::Pfc
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    void Report(lossless::Summary& summary) const override;

  protected:
    void Hold(uint8_t cls, bool held) override;

  private:
    bool IsLong(uint8_t cls) const;

    Time m_long; //!< attribute: a pause that lasts longer is counted

    std::array<int64_t, lossless::N_CLASSES> m_since{}; //!< when the pause of a class began (ps)
    uint32_t m_held{0};                                 //!< bit c: class c is paused
    uint64_t m_longPauses{0};                           //!< long pauses that have ended
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_PAUSE_H */
