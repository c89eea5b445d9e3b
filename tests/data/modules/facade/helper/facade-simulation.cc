/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "facade-simulation.h"

#include "ns3/demo-counter.h"

namespace ns3
{
namespace facade
{

Simulation::Simulation(uint64_t seed)
    : m_seed(seed)
{
}

uint64_t
Simulation::Count() const
{
    return m_seed + CreateObject<demo::Counter>()->Next();
}

std::string
Simulation::Describe(const std::string& groups)
{
    return R"([{"name": "ns3::demo::Counter", "parent": "ns3::Object", "group": ")" + groups +
           R"(", "abstract": false, "attributes": [{"name": "Step", )"
           R"("help": "What to add", "type": "ns3::UintegerValue", "default": "1", )"
           R"("allowed": "uint32_t 0:8"}], "traces": []}])";
}

} // namespace facade
} // namespace ns3
