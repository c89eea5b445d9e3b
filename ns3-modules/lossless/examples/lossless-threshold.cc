/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup lossless
 * @brief How much of a shared buffer queues get under a dynamic threshold.
 *
 * Frames come to n queues in turn until each of them has been told to pause its upstream. In the
 * limit of small frames each then holds alpha Bs / (1 + n alpha) of the shared part:
 *
 *     lossless-threshold --queues=8 --alpha=0.125
 *
 * A SharedBuffer is arithmetic: no simulator, no devices, no time.
 */

#include "ns3/command-line.h"
#include "ns3/double.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <iostream>
#include <vector>

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint16_t queues = 8;
    uint64_t size = 12'000'000;
    uint64_t headroom = 40'000;
    double alpha = 0.125;
    int64_t frame = 64;
    CommandLine command(__FILE__);
    command.AddValue("queues", "ports that frames of class 3 come in by", queues);
    command.AddValue("size", "of the buffer [B]", size);
    command.AddValue("headroom", "of each queue [B]", headroom);
    command.AddValue("alpha", "of the dynamic threshold", alpha);
    command.AddValue("frame", "bytes of each frame", frame);
    command.Parse(argc, argv);
    if (queues == 0 || frame <= 0)
    {
        std::cerr << "--queues and --frame have to be 1 or more\n";
        return 2;
    }

    auto buffer = CreateObject<lossless::SharedBuffer>();
    buffer->SetAttribute("Size", UintegerValue(size));
    buffer->SetAttribute("LossyPool", UintegerValue(0));
    buffer->SetAttribute("Headroom", UintegerValue(headroom));
    buffer->SetAttribute("Alpha", DoubleValue(alpha));
    buffer->Configure(std::vector<lossless::BufferDemand>(queues + 1));
    const std::string impossible = buffer->Check();
    if (!impossible.empty())
    {
        std::cerr << impossible;
        return 2;
    }

    constexpr uint8_t CLASS = 3;
    const uint16_t egress = queues; // the last port
    uint16_t paused = 0;
    while (paused < queues)
    {
        for (uint16_t port = 0; port < queues; ++port)
        {
            if (!buffer->GetUsage(port, CLASS).off)
            {
                paused += buffer->Admit(port, egress, CLASS, frame) ==
                          lossless::SharedBuffer::Verdict::TURNED_OFF;
            }
        }
    }
    const auto shared = static_cast<double>(buffer->GetSharedSize());
    std::cout << "shared_bytes " << buffer->GetSharedSize() << "\n"
              << "queue_bytes " << buffer->GetUsage(0, CLASS).shared << "\n"
              << "closed_form_bytes " << alpha * shared / (1 + queues * alpha) << "\n"
              << "unused_bytes " << buffer->GetSharedSize() - buffer->GetSharedUsed() << "\n";
    return 0;
}
