/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Witness);
NS_OBJECT_ENSURE_REGISTERED(Eraser);

std::map<uint32_t, Witness::Log> Witness::g_logs;
bool Witness::g_keepsGaps = false;
std::function<bool(const Frame&)> Eraser::g_choose;
uint64_t Eraser::g_erased = 0;

TypeId
Witness::GetTypeId()
{
    static TypeId tid = TypeId("ns3::facade::tests::Witness")
                            .SetParent<rdma::CongestionControl>()
                            .SetGroupName("tests")
                            .AddConstructor<Witness>();
    return tid;
}

void
Witness::Install(Network& net, bool keepsGaps)
{
    g_logs.clear();
    g_keepsGaps = keepsGaps;
    net.sim.SetCongestionControl("ns3::facade::tests::Witness");
}

void
Witness::Start(rdma::Sender& sender, uint64_t lineRate)
{
    rdma::CongestionControl::Start(sender, lineRate);
    g_logs[m_connection->GetFlow()] = Log{};
}

void
Witness::NotifySent(const Frame& frame)
{
    Log& log = g_logs[frame.flow];
    log.sent.emplace_back(NowPs(), frame.psn);
    log.highest = std::max<uint64_t>(log.highest, frame.psn + 1);
    const uint64_t acked = log.acked.empty() ? 0 : *std::ranges::max_element(log.acked);
    log.mostInFlight = std::max(log.mostInFlight, log.highest - acked);
}

void
Witness::NotifyAck(const rdma::Acknowledgement& ack)
{
    const Frame& frame = ack.frame;
    Log& log = g_logs[frame.flow];
    log.acked.push_back(frame.word[0]);
    log.ecn.push_back(frame.ecn);
    ++(frame.kind == FrameKind::NACK ? log.nacks : log.acks);
    log.wrongAnswers += frame.word[0] > log.expected;
}

std::unique_ptr<rdma::CongestionReceiver>
Witness::MakeReceiver() const
{
    return Hearing([](const Frame& frame) {
        Log& log = g_logs[frame.flow];
        log.received.emplace_back(NowPs(), frame.psn);
        if (frame.truncated)
        {
            return false;
        }
        if (frame.psn == log.expected || (g_keepsGaps && frame.psn > log.expected))
        {
            log.kept.insert(frame.psn);
        }
        while (log.kept.erase(log.expected) > 0)
        {
            ++log.expected;
            log.lastDelivery = NowPs();
        }
        return false;
    });
}

TypeId
Eraser::GetTypeId()
{
    static TypeId tid = TypeId("ns3::facade::tests::Eraser")
                            .SetParent<lossless::SwitchAgent>()
                            .SetGroupName("tests")
                            .AddConstructor<Eraser>();
    return tid;
}

void
Eraser::NotifyDequeue(lossless::Port& /* egress */, uint16_t /* queue */, Frame& frame)
{
    if (g_choose(frame))
    {
        frame.lost = true;
        ++g_erased;
    }
}

void
Eraser::Install(Network& net, std::function<bool(const Frame&)> choose)
{
    g_choose = std::move(choose);
    g_erased = 0;
    net.sim.SetAllowLoss(true);
    net.sim.AddAgent("ns3::facade::tests::Eraser");
}

} // namespace tests
} // namespace facade
} // namespace ns3
