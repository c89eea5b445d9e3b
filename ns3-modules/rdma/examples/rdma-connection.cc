/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup rdma
 * @brief Messages on one connection, and on a connection each: the module without the facade.
 *
 * A host sends n equal messages to another one over one link, all from time 0. On one connection
 * they arrive one after the other; with a connection each, the host serves them in turn, and all
 * arrive at the end:
 *
 *     rdma-connection --messages=4
 *     rdma-connection --messages=4 --shared=0
 */

#include "ns3/command-line.h"
#include "ns3/data-rate.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/nstime.h"
#include "ns3/rdma-host.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <iostream>
#include <vector>

using namespace ns3;

int
main(int argc, char* argv[])
{
    lossless::UsePicoseconds();
    uint32_t messages = 4;
    uint64_t size = 1'000'000;
    bool shared = true;
    DataRate rate("100Gbps");
    Time delay = MicroSeconds(1);
    CommandLine command(__FILE__);
    command.AddValue("messages", "number of messages", messages);
    command.AddValue("size", "payload of each message [B]", size);
    command.AddValue("shared", "one connection for all messages", shared);
    command.AddValue("rate", "of the link", rate);
    command.AddValue("delay", "of the link", delay);
    command.Parse(argc, argv);
    if (messages == 0 || size == 0)
    {
        std::cerr << "--messages and --size have to be 1 or more\n";
        return 2;
    }

    // Hosts share the queue pairs of all flows, by number.
    std::vector<Ptr<rdma::QueuePair>> queuePairs;
    rdma::Progress progress;
    auto fabric = CreateObject<lossless::Fabric>();
    std::vector<Ptr<rdma::Host>> hosts;
    for (const char* name : {"h0", "h1"})
    {
        hosts.push_back(CreateObject<rdma::Host>());
        hosts.back()->SetShared(&queuePairs, &progress);
        fabric->AddHost(name, hosts.back());
    }
    fabric->AddLink(0, 1, rate, delay);
    for (uint32_t flow = 0; flow < messages; ++flow)
    {
        queuePairs.push_back(CreateObject<rdma::QueuePair>());
    }
    for (const auto& host : hosts)
    {
        host->SetLargestFrame(queuePairs.front()->GetLargestFrame(false));
    }
    fabric->Build();
    if (const std::string impossible = fabric->Check(); !impossible.empty())
    {
        std::cerr << impossible;
        return 2;
    }

    progress.finite = messages;
    progress.stopWhenDone = true;
    progress.whenFinished = Callback<void, uint32_t>([](uint32_t flow) {
        std::cout << "message " << flow << " arrived_ps " << lossless::NowPs() << "\n";
    });
    constexpr uint8_t CLASS = 3;
    for (uint32_t flow = 0; flow < messages; ++flow)
    {
        rdma::QueuePair& queuePair = *queuePairs[flow];
        queuePair.Connect(flow,
                          PeekPointer(hosts[0]),
                          PeekPointer(hosts[1]),
                          {.bytes = size, .cls = CLASS},
                          nullptr,
                          false);
        if (shared && flow > 0)
        {
            queuePair.Join(*queuePairs.front());
        }
    }
    for (const auto& host : hosts)
    {
        host->ConnectSource();
    }
    for (const auto& queuePair : queuePairs)
    {
        Simulator::ScheduleNow(&rdma::QueuePair::Start, PeekPointer(queuePair));
    }
    Simulator::Run();

    const std::string problems = fabric->Finish();
    std::cerr << problems;
    queuePairs.clear();
    Simulator::Destroy();
    fabric->Dispose();
    return problems.empty() ? 0 : 1;
}
