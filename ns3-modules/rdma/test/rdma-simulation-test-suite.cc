/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-test-network.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-port.h"
#include "ns3/rdma-simulation.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>

/**
 * @file
 * @ingroup rdma-tests
 * Whole runs against closed forms: completion times, retransmission, slow receivers, conservation
 * in random fabrics.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

/**
 * @ingroup rdma-tests
 * @brief A flow control that does nothing but check that it is called in order.
 */
class OrderProbe : public lossless::FlowControl
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::rdma::tests::OrderProbe")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<OrderProbe>();
        return tid;
    }

    uint32_t GetHooks() const override
    {
        return BYTES | PRESSURE | SELECT | GATE | SENT;
    }

    void Start() override
    {
        Expect(!m_started && m_port, "started once, tied to a port");
        m_started = true;
    }

    void NotifyReceived(const lossless::Frame& frame, int64_t queueBytes) override
    {
        m_held[frame.cls] += frame.bytes;
        Expect(m_started && queueBytes == m_held[frame.cls], "bytes after an arrival");
    }

    void NotifyReleased(uint8_t cls,
                        uint32_t /* flow */,
                        uint32_t bytes,
                        int64_t queueBytes) override
    {
        m_held[cls] -= bytes;
        Expect(m_held[cls] >= 0 && queueBytes == m_held[cls], "bytes after a departure");
    }

    void NotifyPressure(uint8_t cls, bool off) override
    {
        Expect(off != m_off[cls], "OFF and ON take turns");
        Expect(!off || m_held[cls] > 0, "a queue that turns OFF holds something");
        m_off[cls] = off;
    }

    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) override
    {
        Expect(m_started && queue == frame.cls, "the queue of the class is offered");
        ++m_queued;
        return queue;
    }

    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override
    {
        Expect(head.cls == queue && now == lossless::NowPs(), "asked for the head of a queue, now");
        m_asked = &head;
        return now;
    }

    void NotifySent(uint16_t queue, const lossless::Frame& frame, int64_t now) override
    {
        Expect(now == lossless::NowPs() && frame.cls == queue, "told when it goes");
        Expect(m_port->IsUp() && !m_port->IsPaused(frame.cls), "nothing goes from a paused class");
        Expect(m_asked != nullptr, "asked before");
        Expect(m_queued > 0, "a frame that goes was queued");
        --m_queued;
    }

    static uint64_t g_violations; //!< calls out of order
    static uint64_t g_calls;      //!< calls

  private:
    static void Expect(bool condition, const char* /* rule */)
    {
        ++g_calls;
        g_violations += !condition;
    }

    std::array<int64_t, lossless::N_CLASSES> m_held{}; //!< ingress bytes
    std::array<bool, lossless::N_CLASSES> m_off{};     //!< OFF
    mutable const lossless::Frame* m_asked{nullptr};   //!< last head asked for
    uint64_t m_queued{0};                              //!< frames in the egress queues
    bool m_started{false};                             //!< Start was called
};

uint64_t OrderProbe::g_violations = 0;
uint64_t OrderProbe::g_calls = 0;
NS_OBJECT_ENSURE_REGISTERED(OrderProbe);

/**
 * @ingroup rdma-tests
 * @brief Completion times on idle paths equal store-and-forward arithmetic to the picosecond.
 */
class CompletionTimeTest : public TestCase
{
  public:
    CompletionTimeTest()
        : TestCase("messages across one and five switches finish when arithmetic says, to the "
                   "picosecond")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t switches : {1U, 5U})
        {
            for (const uint64_t rate :
                 {10'000'000'000ULL, 25'000'000'000ULL, 40'000'000'000ULL, 100'000'000'000ULL})
            {
                for (const uint64_t bytes : {1ULL, 999ULL, 1000ULL, 1001ULL, 10'000'000ULL})
                {
                    for (const int64_t overhead : {0, 20})
                    {
                        Network net;
                        net.sim.SetAttribute("ns3::lossless::Port",
                                             "Overhead",
                                             std::to_string(overhead));
                        net.sim.SetAttribute("ns3::lossless::Switch", "Latency", "300ns");
                        net.sim.AddFlowControl("ns3::lossless::Pfc");
                        net.sim.SetStopWhenDone(true);
                        net.Nodes(2, switches);
                        net.Link(0, 2, rate, 1'000'000);
                        for (uint32_t s = 2; s + 1 < 2 + switches; ++s)
                        {
                            net.Link(s, s + 1, rate, 1'000'000);
                        }
                        net.Link(1 + switches, 1, rate, 1'000'000);
                        net.Flow(0, 1, bytes, 5000);
                        net.sim.Build();
                        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "the configuration is possible");
                        net.sim.Run(1'000'000'000'000);
                        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
                        const int64_t perByte = 8'000'000'000'000 / static_cast<int64_t>(rate);
                        const int64_t packets = (static_cast<int64_t>(bytes) + 999) / 1000;
                        const int64_t tail = static_cast<int64_t>(bytes) - (packets - 1) * 1000;
                        const int64_t full = (1048 + overhead) * perByte;
                        const int64_t last =
                            (std::max<int64_t>(tail + 48, 64) + overhead) * perByte;
                        const int64_t links = switches + 1;
                        // first link: all packets back to back; every further link adds the last
                        // packet, which waits for its predecessor where that is longer
                        int64_t expected = 5000 + (packets - 1) * full + last + links * 1'000'000 +
                                           switches * 300'000;
                        expected += switches * (packets > 1 ? full : last);
                        // Behind a longer predecessor the last packet leaves hop i when that has
                        // left, plus itself.
                        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0],
                                              expected,
                                              bytes << " B over " << switches << " switches at "
                                                    << rate);
                        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "ideal_ps")[0],
                                              expected - 5000,
                                              "ideal_ps agrees");
                        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "delivered_bytes")[0],
                                              static_cast<int64_t>(bytes),
                                              "every byte once");
                    }
                }
            }
        }
    }
};

/**
 * @ingroup rdma-tests
 * @brief Lost packets are repeated, and every byte arrives once and in order.
 */
class RetransmissionTest : public TestCase
{
  public:
    /**
     * @brief Choose the scheme.
     *
     * @param scheme value of QueuePair's Retransmit
     */
    explicit RetransmissionTest(const std::string& scheme)
        : TestCase("flows survive a lossy bottleneck and a failing link, " + scheme),
          m_scheme(scheme)
    {
    }

  private:
    /**
     * @brief Four senders into one port of a lossy class, and a link that fails in between.
     *
     * @param seed of the start times
     * @return payload bytes repeated
     */
    double RunOnce(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        Network net(seed);
        net.sim.SetAttribute("ns3::rdma::QueuePair", "Retransmit", m_scheme);
        net.sim.SetAttribute("ns3::rdma::QueuePair", "Timeout", "100us");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", "30000");
        net.sim.SetAllowLoss(true);
        net.sim.SetStopWhenDone(true);
        net.Nodes(5, 2);
        for (uint32_t host = 0; host < 4; ++host)
        {
            net.Link(host, 5, 10'000'000'000, 1'000'000);
        }
        net.Link(4, 6, 10'000'000'000, 1'000'000);
        net.Link(5, 6, 40'000'000'000, 1'000'000);
        net.sim.FailLink(5, 20'000'000 + static_cast<int64_t>(random() % 100'000'000), 300'000'000);
        for (uint32_t host = 0; host < 4; ++host)
        {
            net.Flow(host,
                     4,
                     100'000 + random() % 50'000,
                     static_cast<int64_t>(random() % 10'000'000),
                     0);
        }
        net.sim.Build();
        net.sim.Run(1'000'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);
        NS_TEST_EXPECT_MSG_GT(net.Number("dropped_lossy_frames"),
                              0,
                              "the bottleneck dropped, seed " << seed);
        const auto sizes = net.Column("flow", "size_bytes");
        const bool repeats = m_scheme != "None";
        NS_TEST_EXPECT_MSG_EQ((net.Column("flow", "delivered_bytes") == sizes),
                              repeats,
                              "every byte was delivered once, seed " << seed);
        NS_TEST_EXPECT_MSG_EQ((net.Number("flows_unfinished") == 0),
                              repeats,
                              "flows finished, seed " << seed);
        return net.Number("retransmitted_bytes");
    }

    void DoRun() override
    {
        double repeated = 0;
        for (uint64_t seed = 1; seed <= 40; ++seed)
        {
            repeated += RunOnce(seed);
        }
        if (m_scheme == "Selective")
        {
            const std::string own = m_scheme;
            double goBack = 0;
            m_scheme = "GoBackN";
            for (uint64_t seed = 1; seed <= 40; ++seed)
            {
                goBack += RunOnce(seed);
            }
            m_scheme = own;
            NS_TEST_ASSERT_MSG_LT(repeated,
                                  goBack,
                                  "selective repeat sends less again than go-back-N");
        }
        NS_TEST_ASSERT_MSG_EQ((repeated > 0), (m_scheme != "None"), "something was repeated");
    }

    std::string m_scheme; //!< of QueuePair
};

/**
 * @ingroup rdma-tests
 * @brief Limits of a sender: rate cap, window, bursts, and turns of the queue pairs of a NIC.
 */
class SenderLimitsTest : public TestCase
{
  public:
    SenderLimitsTest()
        : TestCase("rate caps, windows, bursts and round robin limit a sender as arithmetic says")
    {
    }

  private:
    /**
     * @brief Two hosts and a switch, 100 Gb/s, 1 us, no overhead.
     *
     * @param net where
     */
    static void Pair(Network& net)
    {
        net.sim.SetAttribute("ns3::lossless::Port", "Overhead", "0");
        net.sim.AddFlowControl("ns3::lossless::Pfc");
        net.Nodes(2, 1);
        net.Link(0, 2, 100'000'000'000, 1'000'000);
        net.Link(1, 2, 100'000'000'000, 1'000'000);
    }

    void DoRun() override
    {
        {
            Network net;
            Pair(net);
            net.Flow(0, 1, 100'000, 0, 3, 7'000'000'000);
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            net.sim.Finish();
            // 99 gaps of 1048 B at 7 Gb/s, each rounded up to a ps as the next packet may not be
            // early
            const int64_t gap = (1048LL * 8 * 1000 + 6) / 7;
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0],
                                  99 * gap + 2 * 83'840 + 2'000'000,
                                  "packets at 7 Gb/s are spaced to the ps");
        }
        {
            Network net;
            Pair(net);
            net.Flow(0, 1, 50'000, 0, 3, 0, 5000);
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            net.sim.Finish();
            // A window of 5 packets a round trip: data 2 x 83.84 ns and ACK 2 x 5.12 ns over 4 us
            // of wire.
            const int64_t trip = 2 * 83'840 + 2 * 5'120 + 4'000'000;
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0],
                                  9 * trip + 2 * 83'840 + 2'000'000 + 4 * 83'840,
                                  "ten windows of five packets");
        }
        {
            Network net;
            Pair(net);
            net.Flow(0, 1, 0, 0, 3, 0, 0, 1'000'000'000);
            net.sim.SetOnOff(0, 10'000'000, 30'000'000);
            net.sim.Build();
            net.sim.Run(1'100'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            // 25 cycles of 40 us in 1 ms, 10 us of each at line rate; a frame begun in a burst
            // completes after it
            const double packets =
                static_cast<double>(net.Column("flow", "delivered_bytes")[0]) / 1000;
            NS_TEST_ASSERT_MSG_EQ_TOL(packets,
                                      25 * 10'000.0 / 83.84,
                                      2 * 25,
                                      "a quarter of the line rate");
        }
        {
            Network net;
            Pair(net);
            for (int i = 0; i < 4; ++i)
            {
                net.Flow(0, 1, 0, 0, 3, 0, 0, 500'000'000);
            }
            net.sim.Build();
            net.sim.Run(600'000'000);
            net.sim.Finish();
            const auto delivered = net.Column("flow", "delivered_bytes");
            const auto [least, most] = std::minmax_element(delivered.begin(), delivered.end());
            // The first is alone when it starts, and the end may fall inside a turn.
            NS_TEST_ASSERT_MSG_LT_OR_EQ(*most - *least,
                                        2000,
                                        "four queue pairs take turns packet by packet");
            NS_TEST_ASSERT_MSG_GT(*least, 1'400'000, "and share the whole line");
        }
    }
};

/**
 * @ingroup rdma-tests
 * @brief A slow receiver and a NIC that pauses without cause hold their switch back, losslessly.
 */
class FaultsTest : public TestCase
{
  public:
    FaultsTest()
        : TestCase("slow receivers drain at their rate; a pause storm silences its port and ends")
    {
    }

  private:
    void DoRun() override
    {
        {
            Network net;
            net.sim.AddFlowControl("ns3::lossless::Pfc");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            net.Nodes(2, 1);
            net.Link(0, 2, 25'000'000'000, 1'000'000);
            net.Link(1, 2, 25'000'000'000, 1'000'000);
            net.Flow(0, 1, 0);
            net.sim.SetReceiveRate(1, 5'000'000'000, 0);
            net.sim.Build();
            net.sim.Run(10'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");
            // 5 Gb/s of frames of 1048 B with 1000 B of payload, for 10 ms
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(net.Column("flow", "delivered_bytes")[0]),
                                      5e9 / 8 * 0.01 * 1000 / 1048,
                                      20'000,
                                      "payload taken at 5 Gb/s");
            NS_TEST_ASSERT_MSG_GT(net.Number("pauses_sent"), 10, "the host paused its switch");
        }
        for (const std::string mode : {"Timer", "OnOff"})
        {
            Network net;
            net.sim.AddFlowControl("ns3::lossless::Pfc");
            net.sim.SetAttribute("ns3::lossless::Pfc", "Mode", mode);
            net.sim.SetAttribute("ns3::lossless::Pfc", "PauseQuanta", "100");
            net.Nodes(2, 1);
            net.Link(0, 2, 100'000'000'000, 1'000'000);
            net.Link(1, 2, 100'000'000'000, 1'000'000);
            net.Flow(0, 1, 0, 0, 3, 0, 0, 900'000'000);
            net.sim.AddPauseStorm(1, 3, 100'000'000, 600'000'000);
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost in a storm");
            const auto delivered = static_cast<double>(net.Column("flow", "delivered_bytes")[0]);
            // 500 us of 1000 at line rate: what the switch held when the source stopped follows it
            NS_TEST_ASSERT_MSG_EQ_TOL(delivered,
                                      500e-6 * 12.5e9 * 1000 / 1068,
                                      60'000,
                                      "silent for 500 us, mode " << mode);
        }
    }
};

/**
 * @ingroup rdma-tests
 * @brief Random fabrics: nothing lossless is lost at automatic headroom, frames are conserved, runs
 * repeat exactly.
 */
class RandomFabricTest : public TestCase
{
  public:
    RandomFabricTest()
        : TestCase("random fabrics lose nothing at automatic headroom, conserve frames and repeat "
                   "exactly")
    {
    }

  private:
    /**
     * @brief Make a random connected fabric with random traffic and run it.
     *
     * @param seed of everything
     * @return finish times, delivered bytes and the number of events
     */
    std::vector<int64_t> RunOnce(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const uint32_t switches = 1 + random() % 5;
        const uint32_t hosts = 2 + random() % 8;
        const uint64_t rates[] = {10'000'000'000, 25'000'000'000, 33'333'333'333, 100'000'000'000};
        Network net(seed);
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Size",
                             std::to_string(2'000'000 + random() % 4'000'000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "24");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Threshold",
                             random() % 2 ? "Static" : "Dynamic");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Xoff",
                             std::to_string(2000 + random() % 60'000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", std::to_string(random() % 2000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Alpha",
                             random() % 2 ? "0.0078125" : "0.5");
        net.sim.SetAttribute("ns3::lossless::Port",
                             "ControlDelay",
                             std::to_string(random() % 2000) + "ns");
        net.sim.SetAttribute("ns3::lossless::Port",
                             "QueueService",
                             random() % 2 ? "Fifo" : "RoundRobin");
        const char* const services[] = {"Strict", "Dwrr", "Fifo"};
        net.sim.SetAttribute("ns3::lossless::Port", "ClassService", services[random() % 3]);
        net.sim.SetAttribute("ns3::lossless::Port", "ReleaseAt", random() % 2 ? "End" : "Start");
        net.sim.SetAttribute("ns3::lossless::Pfc", "Mode", random() % 2 ? "Timer" : "OnOff");
        net.sim.SetAttribute("ns3::rdma::QueuePair", "AnswerClass", random() % 2 ? "8" : "4");
        net.sim.AddFlowControl("ns3::rdma::tests::OrderProbe");
        net.sim.AddFlowControl("ns3::lossless::Pfc");
        net.Nodes(hosts, switches);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            net.Link(host,
                     hosts + random() % switches,
                     rates[random() % 4],
                     1000 * static_cast<int64_t>(random() % 3000));
        }
        for (uint32_t s = 1; s < switches; ++s)
        {
            net.Link(hosts + s,
                     hosts + random() % s,
                     rates[random() % 4],
                     1000 * static_cast<int64_t>(random() % 3000));
        }
        for (uint32_t flow = 0; flow < 3 * hosts; ++flow)
        {
            const uint32_t src = random() % hosts;
            const uint32_t dst = (src + 1 + random() % (hosts - 1)) % hosts;
            net.Flow(src,
                     dst,
                     1 + random() % 200'000,
                     static_cast<int64_t>(random() % 50'000'000),
                     3 + random() % 2);
        }
        if (random() % 3 == 0)
        {
            net.sim.SetReceiveRate(random() % hosts, 3'000'000'000, 0);
        }
        net.sim.Build();
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", "the configuration is possible, seed " << seed);
        net.sim.Run(20'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(),
                              "",
                              "nothing is lost and frames are conserved, seed " << seed);
        NS_TEST_EXPECT_MSG_EQ(net.Number("flows_unfinished"),
                              0,
                              "a tree cannot deadlock, seed " << seed);
        auto outcome = net.Column("flow", "finish_ps");
        const auto ideal = net.Column("flow", "ideal_ps");
        const auto start = net.Column("flow", "start_ps");
        for (std::size_t i = 0; i < ideal.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(outcome[i] - start[i],
                                        ideal[i],
                                        "no flow beats the ideal, seed " << seed);
        }
        outcome.push_back(static_cast<int64_t>(net.sim.GetEventCount()));
        return outcome;
    }

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 150; ++seed)
        {
            const auto first = RunOnce(seed);
            if (seed % 10 == 0)
            {
                NS_TEST_ASSERT_MSG_EQ((RunOnce(seed) == first),
                                      true,
                                      "the same seed gives the same run, seed " << seed);
            }
        }
        NS_TEST_ASSERT_MSG_GT(OrderProbe::g_calls, 100'000, "the probe was called");
        NS_TEST_ASSERT_MSG_EQ(OrderProbe::g_violations,
                              0,
                              "no flow control was called out of order");
    }
};

/**
 * @ingroup rdma-tests
 * @brief Impossible configurations are reported, routing loops end by TTL, descriptions are
 * complete.
 */
class ChecksTest : public TestCase
{
  public:
    ChecksTest()
        : TestCase("impossible configurations are reported, a routing loop ends by TTL, types are "
                   "described")
    {
    }

  private:
    void DoRun() override
    {
        {
            Network net;
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Headroom", "1000");
            net.sim.AddFlowControl("ns3::lossless::Pfc");
            net.Nodes(3, 2);
            net.Link(0, 3, 10'000'000'000, 1'000'000);
            net.Link(1, 3, 10'000'000'000, 1'000'000);
            net.Link(2, 4, 10'000'000'000, 1'000'000);
            net.Flow(0, 2, 1000);
            net.sim.Build();
            const std::string problems = net.sim.Check();
            NS_TEST_ASSERT_MSG_NE(problems.find("eta'"),
                                  std::string::npos,
                                  "headroom of 1000 B is too little");
            NS_TEST_ASSERT_MSG_NE(problems.find("no way leads from h0 to h2"),
                                  std::string::npos,
                                  "two islands");
        }
        {
            // The path of the flow goes round a triangle of switches.
            Network net;
            net.sim.SetAllowLoss(true);
            net.sim.SetAttribute("ns3::rdma::QueuePair", "Ttl", "4");
            net.sim.SetAttribute("ns3::rdma::QueuePair", "Retransmit", "None");
            net.Nodes(2, 3);
            net.Link(0, 2, 10'000'000'000, 1000);
            net.Link(1, 4, 10'000'000'000, 1000);
            net.Link(2, 3, 10'000'000'000, 1000);
            net.Link(3, 4, 10'000'000'000, 1000);
            net.Link(4, 2, 10'000'000'000, 1000);
            net.Flow(0, 1, 5000);
            const uint32_t path[] = {0, 2, 3, 4, 2, 3, 4, 1};
            net.sim.SetPath(0, path, 8);
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(net.Number("dropped_ttl_frames"),
                                  5,
                                  "the fourth switch counts 4 down to 0");
        }
        const std::string types = Simulation::Describe("lossless,rdma");
        for (const char* name : {"ns3::lossless::Pfc",
                                 "PauseQuanta",
                                 "Timer|OnOff",
                                 "ns3::rdma::QueuePair",
                                 "EnumValue"})
        {
            NS_TEST_ASSERT_MSG_NE(types.find(name), std::string::npos, name << " is described");
        }
        NS_TEST_ASSERT_MSG_EQ(types.find('<'),
                              std::string::npos,
                              "types are named without template arguments");
    }
};

/**
 * @ingroup rdma-tests
 * @brief Tests of Simulation and of what it puts together.
 */
class SimulationTestSuite : public TestSuite
{
  public:
    SimulationTestSuite()
        : TestSuite("rdma-simulation", Type::UNIT)
    {
        AddTestCase(new CompletionTimeTest, TestCase::Duration::QUICK);
        for (const char* scheme : {"None", "GoBackN", "Selective"})
        {
            AddTestCase(new RetransmissionTest(scheme), TestCase::Duration::QUICK);
        }
        AddTestCase(new SenderLimitsTest, TestCase::Duration::QUICK);
        AddTestCase(new FaultsTest, TestCase::Duration::QUICK);
        AddTestCase(new RandomFabricTest, TestCase::Duration::QUICK);
        AddTestCase(new ChecksTest, TestCase::Duration::QUICK);
    }
};

static SimulationTestSuite g_simulationTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
