/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-table.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-port.h"

namespace ns3
{
namespace @namespace@
{

NS_OBJECT_ENSURE_REGISTERED(@Class@);

TypeId
@Class@::GetTypeId()
{
    static TypeId tid = TypeId("ns3::@namespace@::@Class@")
                            .SetParent<observe::Probe>()
                            .SetGroupName("@module@")
                            .AddConstructor<@Class@>()
                            .AddAttribute("Least",
                                          "Shortest wait that is recorded.",
                                          TimeValue(MicroSeconds(10)),
                                          MakeTimeAccessor(&@Class@::m_least),
                                          lossless::MakePicosecondsChecker());
    return tid;
}

/// "@name@": each frame that waited long in an egress queue.
void
@Class@::Open(lossless::Fabric& /* fabric */, observe::Table& table)
{
    m_columns.Open(table);
    // number of the flow
    m_flow = table.Add<uint32_t>("flow");
    // in the queue
    m_waited = table.Add<int64_t>("waited_ps");
}

void
@Class@::Watch(lossless::Port& port, uint32_t classes)
{
    port.TraceConnectWithoutContext("Transmit",
                                    MakeCallback(&@Class@::Record, this, Claim(port, classes)));
}

void
@Class@::Record(uint32_t classes, const lossless::Port& port, const lossless::Frame& frame)
{
    const int64_t waited = lossless::NowPs() - frame.queued;
    // control frames are of no class below 8
    if ((classes >> frame.cls) & 1U && waited >= m_least.GetTimeStep())
    {
        const auto row = m_columns.Append(port, frame.cls);
        m_flow->push_back(frame.flow);
        m_waited->push_back(waited);
    }
}

} // namespace @namespace@
} // namespace ns3
