/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "forwarding-least-queue.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-switch.h"

namespace ns3
{
namespace forwarding
{

NS_OBJECT_ENSURE_REGISTERED(LeastQueue);

TypeId
LeastQueue::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::forwarding::LeastQueue")
            .SetParent<lossless::ForwardingPolicy>()
            .SetGroupName("forwarding")
            .AddConstructor<LeastQueue>()
            .AddAttribute("Refresh",
                          "Time for which a queue length that was read is reused; 0: it is read "
                          "for every frame. Many frames that rely on the same stale length fill "
                          "the same queue.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&LeastQueue::m_refresh),
                          lossless::MakePicosecondsChecker());
    return tid;
}

void
LeastQueue::Start()
{
    m_readings.resize(std::size_t{m_switch->GetNPorts()} * lossless::N_CLASSES);
    m_best.reserve(m_switch->GetNPorts());
}

int64_t
LeastQueue::Read(uint16_t port, uint8_t cls)
{
    if (cls >= lossless::N_CLASSES)
    {
        return 0; // the control queue is never held back: any port will do
    }
    Reading& reading = m_readings[std::size_t{port} * lossless::N_CLASSES + cls];
    const int64_t now = lossless::NowPs();
    if (reading.time < 0 || now - reading.time >= m_refresh.GetTimeStep())
    {
        reading = {now, m_switch->GetPort(port).GetEgressBytes(cls)};
    }
    return reading.bytes;
}

std::size_t
LeastQueue::Choose(const lossless::Frame& frame, lossless::NextHops hops)
{
    int64_t least = 0;
    m_best.clear();
    for (std::size_t place = 0; place < hops.size(); ++place)
    {
        const int64_t bytes = Read(hops[place], frame.cls);
        if (m_best.empty() || bytes < least)
        {
            least = bytes;
            m_best.clear();
        }
        if (bytes == least)
        {
            m_best.push_back(place);
        }
    }
    return m_best.size() == 1 ? m_best.front() : m_best[Draw(m_best.size())];
}

} // namespace forwarding
} // namespace ns3
