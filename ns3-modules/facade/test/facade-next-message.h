/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_NEXT_MESSAGE_H
#define FACADE_NEXT_MESSAGE_H

#include "facade-test-network.h"

namespace ns3
{
namespace facade
{
namespace tests
{

/// Rates of two messages from one host, with a silence between them.
struct NextMessage
{
    static constexpr int64_t LINE = 25'000'000'000; //!< rate of the links (bit/s)

    int64_t left{-1};   //!< of the first one when it was acknowledged (bit/s)
    int64_t begins{-1}; //!< of the second one when it starts (bit/s)
    int64_t silent{0};  //!< changes of the rate that were reported in between, but for that to 0
};

/// Run a message that competes with another host's, and a second one 5 ms later.
/// @param net with all but nodes and flows. @param shared the second message uses the connection of
/// the first one. @return the rates.
inline NextMessage
RunNextMessage(Network& net, bool shared)
{
    constexpr int64_t START = 5'000 * US;
    net.Star(3, NextMessage::LINE, US);
    net.Flow(1, 2, 600'000);
    const uint32_t first = net.Flow(0, 2, 600'000);
    const uint32_t second = net.Flow(0, 2, 20'000, START);
    if (shared)
    {
        net.sim.SetConnections(&second, &first, 1);
    }
    net.sim.Build();
    net.Trace("flow_rate", 0, -1);
    net.sim.Run(2 * START);
    net.sim.Finish();
    const auto times = net.Column("flow_rate", "time_ps");
    const auto rates = net.Column("flow_rate", "rate_bps");
    NextMessage message;
    const int64_t acked = net.Column("flow", "acked_ps")[first];
    for (std::size_t row = 0; row < times.size(); ++row)
    {
        if (times[row] < START && rates[row] > 0)
        {
            message.left = rates[row];
            message.silent += times[row] >= acked;
        }
        else if (times[row] == START && message.begins < 0)
        {
            message.begins = rates[row];
        }
    }
    return message;
}

} // namespace tests
} // namespace facade
} // namespace ns3

#endif /* FACADE_NEXT_MESSAGE_H */
