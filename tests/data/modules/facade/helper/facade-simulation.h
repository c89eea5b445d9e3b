/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FACADE_SIMULATION_H
#define FACADE_SIMULATION_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace facade
{

/**
 * @brief Stands in for the real facade.
 */
class Simulation
{
  public:
    /// Start. @param seed added to every count.
    explicit Simulation(uint64_t seed);
    /// Count once. @return the seed and the first number of a Counter.
    uint64_t Count() const;
    /// Describe types. @param groups repeated as the group of the only type. @return JSON.
    static std::string Describe(const std::string& groups);

  private:
    uint64_t m_seed; //!< the seed
};

} // namespace facade
} // namespace ns3

#endif // FACADE_SIMULATION_H
