/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_TABLE_H
#define @GUARD@_TABLE_H

#include "ns3/observe-probe.h"
#include "ns3/nstime.h"

/**
 * @defgroup @module@ @title@
 *
 * A result table.
 */

namespace ns3
{

namespace lossless
{
struct Frame;
}

namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief Fills the table "@name@": a row for each frame that waited long in an egress queue.
 *
 * Columns: time_ps (its first bit is sent), node, peer, class, flow, waited_ps.
 */
class @Class@ : public observe::Probe
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    void Open(lossless::Fabric& fabric, observe::Table& table) override;
    void Watch(lossless::Port& port, uint32_t classes) override;

  private:
    void Record(uint32_t classes, const lossless::Port& port, const lossless::Frame& frame);

    Time m_least; //!< attribute

    observe::PortColumns m_columns;         //!< time, node, peer, class
    observe::ColumnValues<uint32_t>* m_flow{nullptr};  //!< number
    observe::ColumnValues<int64_t>* m_waited{nullptr}; //!< ps
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_TABLE_H */
