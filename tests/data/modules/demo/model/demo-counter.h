/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef DEMO_COUNTER_H
#define DEMO_COUNTER_H

#include "ns3/object.h"

namespace ns3
{
namespace demo
{

/// What every count starts from; the tests of the build edit this line.
constexpr uint32_t START = 0;

/**
 * @brief The smallest module that has everything a build must deal with.
 */
class Counter : public Object
{
  public:
    /**
     * @brief Get the TypeId.
     * @return the TypeId.
     */
    static TypeId GetTypeId();

    /**
     * @brief Count.
     * @return the next number.
     */
    uint32_t Next();

  private:
    uint32_t m_step{1};      //!< what to add
    uint32_t m_value{START}; //!< the last number
};

} // namespace demo
} // namespace ns3

#endif // DEMO_COUNTER_H
