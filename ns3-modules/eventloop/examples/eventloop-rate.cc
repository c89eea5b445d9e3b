/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup eventloop
 * @brief How many events a second an event loop can execute when they do nothing.
 *
 * A number of events are pending at any time; each schedules one more, after a random delay. With
 * ns-3's own implementation it is the yardstick that speed is measured by:
 *
 *     eventloop-rate --simulator=ns3::DefaultSimulatorImpl --scheduler=ns3::PriorityQueueScheduler
 */

#include "ns3/command-line.h"
#include "ns3/global-value.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <ctime>
#include <iostream>
#include <string>

namespace
{

uint64_t g_left;       //!< events to schedule
uint64_t g_random = 1; //!< state of a linear congruential generator (Knuth's MMIX)

/// Schedule one more.
void
Tick()
{
    if (g_left == 0)
    {
        return;
    }
    --g_left;
    g_random = g_random * 6364136223846793005ULL + 1442695040888963407ULL;
    ns3::Simulator::Schedule(ns3::TimeStep(1 + (g_random >> 54)), &Tick);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string simulator = "ns3::eventloop::EventLoop";
    std::string scheduler = "ns3::PriorityQueueScheduler";
    uint64_t events = 10'000'000;
    uint32_t pending = 1000;
    ns3::CommandLine command(__FILE__);
    command.AddValue("simulator", "TypeId of the SimulatorImpl", simulator);
    command.AddValue("scheduler",
                     "TypeId of the scheduler, where the simulator uses one",
                     scheduler);
    command.AddValue("events", "how many to execute", events);
    command.AddValue("pending", "how many wait at any time", pending);
    command.Parse(argc, argv);
    if (events < pending)
    {
        std::cerr << "--events=" << events << " must be at least --pending=" << pending << "\n";
        return 2;
    }
    ns3::GlobalValue::Bind("SimulatorImplementationType", ns3::StringValue(simulator));
    ns3::GlobalValue::Bind("SchedulerType", ns3::StringValue(scheduler));
    g_left = events;
    for (uint32_t i = 0; i < pending; ++i)
    {
        Tick();
    }
    const std::clock_t before = std::clock();
    ns3::Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    std::cout.precision(6);
    std::cout << "events " << ns3::Simulator::GetEventCount() << "\nrun_cpu_s " << seconds
              << "\nevents_per_cpu_s " << static_cast<double>(events) / seconds << "\n";
    ns3::Simulator::Destroy();
    return 0;
}
