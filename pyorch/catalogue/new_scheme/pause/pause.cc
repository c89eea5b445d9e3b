/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-pause.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-port.h"

namespace ns3
{
namespace @namespace@
{

using lossless::N_CLASSES;

NS_OBJECT_ENSURE_REGISTERED(@Class@);

TypeId
@Class@::GetTypeId()
{
    static TypeId tid = TypeId("ns3::@namespace@::@Class@")
                            .SetParent<pfc::Pfc>()
                            .SetGroupName("@module@")
                            .AddConstructor<@Class@>()
                            .AddAttribute("Long",
                                          "A pause that lasts longer is counted.",
                                          TimeValue(MicroSeconds(50)),
                                          MakeTimeAccessor(&@Class@::m_long),
                                          MakeTimeChecker(Time(0)));
    return tid;
}

bool
@Class@::IsLong(uint8_t cls) const
{
    return lossless::NowPs() - m_since[cls] > m_long.GetPicoSeconds();
}

void
@Class@::Hold(uint8_t cls, bool held)
{
    // Called when a pause begins and when it ends, not when it is repeated.
    m_port->BlockClass(cls, held);
    const uint32_t bit = 1U << cls;
    if (held)
    {
        m_since[cls] = lossless::NowPs();
        m_held |= bit;
        return;
    }
    m_held &= ~bit;
    m_longPauses += IsLong(cls) ? 1 : 0;
}

void
@Class@::Report(lossless::Summary& summary) const
{
    pfc::Pfc::Report(summary);
    uint64_t count = m_longPauses;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls) // and those that have not ended
    {
        count += (m_held >> cls) & 1U && IsLong(cls) ? 1 : 0;
    }
    summary["@name@_long_pauses"] += static_cast<double>(count);
}

} // namespace @namespace@
} // namespace ns3
