/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-host-faults.h"

#include "facade-arguments.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"
#include "ns3/simulator.h"

#include <algorithm>

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

namespace
{

/// Begin a pause of a storm, or repeat it.
/// @param port of the storm. @param storm the storm.
void
PauseOnce(lossless::Port* port, const Storm& storm)
{
    lossless::FabricNode& node = lossless::FabricNode::Of(*port);
    const int64_t now = lossless::NowPs();
    const bool ends = storm.stop >= 0 || storm.on > 0;
    node.SetPauseStorm(port->GetIndex(), storm.cls, true, !ends);
    int64_t end = storm.stop;
    if (storm.on > 0)
    {
        end = storm.stop < 0 ? now + storm.on : std::min(storm.stop, now + storm.on);
        const int64_t next = now + storm.on + storm.off;
        if (storm.stop < 0 || next < storm.stop)
        {
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(storm.on + storm.off)),
                                &PauseOnce,
                                port,
                                storm);
        }
    }
    if (ends)
    {
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(end - now)),
                            &lossless::FabricNode::SetPauseStorm,
                            &node,
                            port->GetIndex(),
                            storm.cls,
                            false,
                            false);
    }
}

/// Send a frame of a storm that resumes, or repeat it.
/// @param port of the storm. @param storm the storm.
void
ResumeOnce(lossless::Port* port, const Storm& storm)
{
    port->GetChain().SendResume(storm.cls);
    if (storm.stop < 0 || lossless::NowPs() + storm.on < storm.stop)
    {
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(storm.on)), &ResumeOnce, port, storm);
    }
}

} // namespace

void
ScheduleStorm(lossless::Port& port, const Storm& storm)
{
    RequireClass(storm.cls);
    RequireTime("the start of a storm", storm.start);
    if (storm.stop >= 0 && storm.stop <= storm.start)
    {
        Refuse("a storm must stop after its start; it would stop at ",
               storm.stop,
               " ps and start at ",
               storm.start,
               " ps");
    }
    if (storm.on < 0 || storm.off < 0 || (storm.on == 0) != (storm.off == 0 && !storm.resumes))
    {
        Refuse("a storm cannot last for ",
               storm.on,
               " ps and be over for ",
               storm.off,
               " ps; both are above 0, or both 0 for one pause; of one that resumes the first is "
               "the time between two frames");
    }
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(storm.start)),
                        storm.resumes ? &ResumeOnce : &PauseOnce,
                        &port,
                        storm);
}

} // namespace facade
} // namespace ns3
