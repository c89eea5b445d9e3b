/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "demo-counter.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace demo
{

NS_LOG_COMPONENT_DEFINE("DemoCounter");
NS_OBJECT_ENSURE_REGISTERED(Counter);

TypeId
Counter::GetTypeId()
{
    static TypeId tid = TypeId("ns3::demo::Counter")
                            .SetParent<Object>()
                            .SetGroupName("demo")
                            .AddConstructor<Counter>()
                            .AddAttribute("Step",
                                          "What to add",
                                          UintegerValue(1),
                                          MakeUintegerAccessor(&Counter::m_step),
                                          MakeUintegerChecker<uint32_t>(0, 8));
    return tid;
}

uint32_t
Counter::Next()
{
    NS_LOG_FUNCTION(this);
    m_value += m_step;
    return m_value;
}

} // namespace demo
} // namespace ns3
