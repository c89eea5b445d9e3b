/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-host-faults.h"

#include "facade-arguments.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace facade
{

using rdma::Host;

using lossless::Refuse;

void
ScheduleReceiveRate(lossless::Fabric& fabric, uint32_t host, uint64_t rate, int64_t start)
{
    Host& node = RequireHost(fabric, host, "a slow receiver");
    RequireTime("the start of a slow receiver", start);
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(start)), &Host::SetReceiveRate, &node, rate);
}

void
SchedulePauseStorm(lossless::Fabric& fabric,
                   uint32_t host,
                   uint8_t cls,
                   int64_t start,
                   int64_t stop)
{
    Host& node = RequireHost(fabric, host, "the source of a pause storm");
    RequireClass(cls);
    RequireTime("the start of a pause storm", start);
    if (stop >= 0 && stop <= start)
    {
        Refuse("a pause storm must stop after its start; it would stop at ",
               stop,
               " ps and start at ",
               start,
               " ps");
    }
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(start)),
                        &Host::SetPauseStorm,
                        &node,
                        cls,
                        true,
                        stop < 0);
    if (stop >= 0)
    {
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(stop)),
                            &Host::SetPauseStorm,
                            &node,
                            cls,
                            false,
                            false);
    }
}

} // namespace facade
} // namespace ns3
