/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/forwarding-flowlet.h"
#include "ns3/forwarding-least-queue.h"
#include "ns3/forwarding-spray.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-switch.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup forwarding-tests
 * Each policy alone, asked about frames and next hops drawn at random, against a second model.
 */

namespace ns3
{
namespace forwarding
{
namespace tests
{

using lossless::Fabric;
using lossless::ForwardingPolicy;
using lossless::Frame;
using lossless::NowPs;

/// @ingroup forwarding-tests
/// @brief Two switches, each with a host, a policy and links to eight switches between them.
class Bundle
{
  public:
    static constexpr uint16_t LINKS = 8; //!< next hops

    /// Make one.
    /// @param policy TypeId name. @param set attribute and value, or none. @param seed RngRun.
    explicit Bundle(const std::string& policy,
                    const std::vector<std::pair<std::string, std::string>>& set = {},
                    uint64_t seed = 1)
    {
        lossless::UsePicoseconds();
        RngSeedManager::SetRun(seed);
        fabric = CreateObject<Fabric>();
        for (const auto& [name, value] : set)
        {
            fabric->SetAttribute(policy, name, value);
        }
        fabric->SetForwarding(policy);
        const uint32_t west = fabric->AddSwitch("west");
        const uint32_t east = fabric->AddSwitch("east");
        const auto link = [this](uint32_t a, uint32_t b) {
            fabric->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1));
        };
        for (uint16_t i = 0; i < LINKS; ++i)
        {
            const uint32_t middle = fabric->AddSwitch("middle" + std::to_string(i));
            link(west, middle);
            link(east, middle);
        }
        for (const uint32_t side : {west, east})
        {
            link(fabric->AddHost("h" + std::to_string(side),
                                 CreateObject<lossless::tests::TestNode>()),
                 side);
        }
        fabric->Build();
        for (const uint32_t side : {west, east})
        {
            auto& node = dynamic_cast<lossless::Switch&>(fabric->GetNode(side));
            (side == west ? here : there) = &node.GetForwarding();
        }
    }

    ~Bundle()
    {
        Simulator::Destroy();
        fabric->Dispose();
        RngSeedManager::SetRun(1);
    }

    /// Some of the ports, in order. @param random draws them. @return two at least.
    static std::vector<uint16_t> DrawHops(std::mt19937_64& random)
    {
        std::vector<uint16_t> hops;
        while (hops.size() < 2)
        {
            hops.clear();
            const uint64_t bits = random();
            for (uint16_t port = 0; port < LINKS; ++port)
            {
                if (bits >> port & 1U)
                {
                    hops.push_back(port);
                }
            }
        }
        return hops;
    }

    Ptr<Fabric> fabric;               //!< it
    ForwardingPolicy* here{nullptr};  //!< of the switch west
    ForwardingPolicy* there{nullptr}; //!< of the switch east
};

/// How far counts are from being equal. @param counts they. @return chi-square.
double
ChiSquare(const std::vector<double>& counts)
{
    double all = 0;
    for (const double count : counts)
    {
        all += count;
    }
    const double expected = all / static_cast<double>(counts.size());
    double sum = 0;
    for (const double count : counts)
    {
        sum += (count - expected) * (count - expected) / expected;
    }
    return sum;
}

/// @ingroup forwarding-tests
/// @brief Round robin: the ports of every set have the same number of frames, up to one.
class RoundRobinTest : public TestCase
{
  public:
    RoundRobinTest()
        : TestCase("round robin: every set of next hops in turn, however sets alternate")
    {
    }

  private:
    void DoRun() override
    {
        Bundle bundle("ns3::forwarding::Spray", {{"Order", "RoundRobin"}});
        std::mt19937_64 random(1);
        std::vector<std::vector<uint16_t>> sets;
        for (int i = 0; i < 20; ++i)
        {
            sets.push_back(Bundle::DrawHops(random));
        }
        std::map<std::vector<uint16_t>, std::map<uint16_t, int>> counts;
        std::map<std::vector<uint16_t>, std::size_t> before;
        std::set<std::size_t> firsts;
        for (int i = 0; i < 20'000; ++i)
        {
            const auto& hops = sets[random() % sets.size()];
            const std::size_t place = bundle.here->Choose(Frame{}, hops);
            NS_TEST_ASSERT_MSG_LT(place, hops.size(), "one of them");
            if (before.contains(hops))
            {
                NS_TEST_ASSERT_MSG_EQ(place, (before[hops] + 1) % hops.size(), "the next one");
            }
            else
            {
                firsts.insert(place);
            }
            before[hops] = place;
            ++counts[hops][hops[place]];
        }
        for (const auto& [hops, count] : counts)
        {
            const auto [low, high] =
                std::minmax_element(count.begin(), count.end(), [](const auto& a, const auto& b) {
                    return a.second < b.second;
                });
            NS_TEST_ASSERT_MSG_EQ(count.size(), hops.size(), "every port of the set");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(high->second - low->second, 1, "equally often");
        }
        NS_TEST_ASSERT_MSG_GT(firsts.size(), 1, "not every set begins with its first port");
    }
};

/// @ingroup forwarding-tests
/// @brief Random spraying: equally likely, without memory, other numbers for other switches and
/// seeds.
class RandomTest : public TestCase
{
  public:
    RandomTest()
        : TestCase("random spraying: uniform, without memory, its own numbers at each switch")
    {
    }

  private:
    /// Ask a policy again and again. @param policy it. @return places among four hops.
    static std::vector<std::size_t> Ask(ForwardingPolicy& policy)
    {
        const std::vector<uint16_t> hops{0, 2, 3, 7};
        std::vector<std::size_t> places(40'000);
        std::generate(places.begin(), places.end(), [&] { return policy.Choose(Frame{}, hops); });
        return places;
    }

    void DoRun() override
    {
        std::vector<std::size_t> here;
        {
            Bundle bundle("ns3::forwarding::Spray");
            here = Ask(*bundle.here);
            NS_TEST_ASSERT_MSG_EQ((here != Ask(*bundle.there)), true, "another switch");
        }
        std::vector<double> single(4);
        std::vector<double> pairs(16);
        for (std::size_t i = 0; i < here.size(); ++i)
        {
            ++single[here[i]];
            if (i % 2 == 1)
            {
                ++pairs[here[i - 1] * 4 + here[i]];
            }
        }
        // Exceeded by chance once in a thousand: 3 and 15 degrees of freedom.
        NS_TEST_ASSERT_MSG_LT(ChiSquare(single), 16.27, "each equally likely");
        NS_TEST_ASSERT_MSG_LT(ChiSquare(pairs), 37.70, "whatever came before");
        Bundle same("ns3::forwarding::Spray");
        NS_TEST_ASSERT_MSG_EQ((here == Ask(*same.here)), true, "the same seed, the same choices");
    }
};

/// @ingroup forwarding-tests
/// @brief Another seed draws something else.
class SeedTest : public TestCase
{
  public:
    SeedTest()
        : TestCase("another seed draws other next hops")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<uint16_t> hops{0, 1, 2, 3, 4, 5, 6, 7};
        std::set<std::vector<std::size_t>> seen;
        for (uint64_t seed = 1; seed <= 5; ++seed)
        {
            Bundle bundle("ns3::forwarding::Spray", {}, seed);
            std::vector<std::size_t> places(20);
            std::generate(places.begin(), places.end(), [&] {
                return bundle.here->Choose(Frame{}, hops);
            });
            seen.insert(places);
        }
        NS_TEST_ASSERT_MSG_EQ(seen.size(), 5, "five seeds, five sequences");
    }
};

/// @ingroup forwarding-tests
/// @brief Flowlets against a list of all frames that is searched backwards.
class FlowletTest : public TestCase
{
  public:
    FlowletTest()
        : TestCase("flowlets: a new one after Gap, or where its next hop is gone; else none")
    {
    }

  private:
    /// A frame that came.
    struct Came
    {
        uint32_t hash; //!< of its flow
        int64_t time;  //!< ps
        uint16_t port; //!< where it went
    };

    /// Ask about a frame, and compare. @param random draws its flow and its next hops
    void Offer(std::mt19937_64& random)
    {
        Frame frame;
        frame.hash = m_hashes[random() % m_hashes.size()];
        const auto all = std::vector<uint16_t>{0, 1, 2, 3, 4, 5, 6, 7};
        const auto hops = random() % 8 == 0 ? Bundle::DrawHops(random) : all;
        const std::size_t place = m_bundle->here->Choose(frame, hops);
        NS_TEST_ASSERT_MSG_LT(place, hops.size(), "one of them");
        const auto last = std::find_if(m_came.rbegin(), m_came.rend(), [&](const Came& came) {
            return m_shared || came.hash == frame.hash;
        });
        const bool stays = last != m_came.rend() && NowPs() - last->time < GAP &&
                           std::find(hops.begin(), hops.end(), last->port) != hops.end();
        if (stays)
        {
            NS_TEST_ASSERT_MSG_EQ(hops[place], last->port, "it stays, at " << NowPs() << " ps");
        }
        else
        {
            ++m_flowlets;
            m_fresh[place] += hops.size() == all.size();
        }
        m_came.push_back({frame.hash, NowPs(), hops[place]});
    }

    void DoRun() override
    {
        for (m_shared = false;; m_shared = true)
        {
            std::mt19937_64 random(7);
            Bundle bundle("ns3::forwarding::Flowlet",
                          {{"Gap", "5us"}, {"TableSize", m_shared ? "1" : "65536"}});
            m_bundle = &bundle;
            m_came.clear();
            m_flowlets = 0;
            m_fresh.assign(Bundle::LINKS, 0);
            m_hashes = {1'000'000'001, 2'000'000'002, 3'000'000'003, 4'000'000'004};
            int64_t time = 0;
            for (int i = 0; i < 6000; ++i)
            {
                // Shorter than Gap as often as longer, between frames of a flow or of all flows;
                // and exactly Gap, which is long enough.
                const int64_t mean = m_shared ? GAP : GAP / 4;
                time += random() % 20 == 0 ? GAP : static_cast<int64_t>(random() % (2 * mean));
                Simulator::Schedule(TimeStep(time), &FlowletTest::Offer, this, std::ref(random));
            }
            Simulator::Run();
            lossless::Summary summary;
            bundle.here->Report(summary);
            NS_TEST_ASSERT_MSG_EQ(summary["flowlets"], m_flowlets, "all are counted");
            NS_TEST_ASSERT_MSG_GT(m_flowlets, 1000, "often enough");
            NS_TEST_ASSERT_MSG_LT(m_flowlets, 5000, "nor always");
            NS_TEST_ASSERT_MSG_LT(ChiSquare(m_fresh),
                                  24.32,
                                  "a new one goes anywhere"); // 7 degrees
            if (m_shared)
            {
                break;
            }
        }
    }

    static constexpr int64_t GAP = 5'000'000; //!< ps

    bool m_shared{false};           //!< all flows share an entry
    Bundle* m_bundle{nullptr};      //!< the policy's fabric
    std::vector<uint32_t> m_hashes; //!< of the flows
    std::vector<Came> m_came;       //!< all frames so far
    double m_flowlets{0};           //!< of the second model
    std::vector<double> m_fresh;    //!< where new ones went
};

/// @ingroup forwarding-tests
/// @brief Least queue against a search of all queues, and a list of those that were read.
class LeastQueueTest : public TestCase
{
  public:
    LeastQueueTest()
        : TestCase("least queue: the shortest of the class, ties at random, readings that age")
    {
    }

  private:
    /// Let some frames join queues, then ask. @param random draws them
    void Offer(std::mt19937_64& random)
    {
        lossless::FabricNode& node = m_bundle->fabric->GetNode(0);
        for (uint64_t i = random() % 4; i > 0; --i)
        {
            Frame* frame = lossless::FramePool::Take();
            frame->dst = m_bundle->fabric->GetNNodes() - 1;
            frame->bytes = static_cast<uint16_t>(64 + random() % 1400);
            frame->cls = static_cast<uint8_t>(random() % 3);
            frame->ingress = lossless::NO_PORT;
            node.CountMade(frame);
            node.GetPort(static_cast<uint16_t>(random() % Bundle::LINKS)).Enqueue(frame);
        }
        Frame asked;
        asked.cls = static_cast<uint8_t>(random() % 3);
        const auto hops = Bundle::DrawHops(random);
        std::vector<int64_t> lengths;
        for (const uint16_t port : hops)
        {
            auto& [time, bytes] = m_read.try_emplace({port, asked.cls}, -1, 0).first->second;
            if (time < 0 || NowPs() - time >= m_refresh)
            {
                time = NowPs();
                bytes = node.GetPort(port).GetQueues()[asked.cls].GetBytes();
            }
            lengths.push_back(bytes);
        }
        const std::size_t place = m_bundle->here->Choose(asked, hops);
        const int64_t least = *std::min_element(lengths.begin(), lengths.end());
        NS_TEST_ASSERT_MSG_EQ(lengths.at(place), least, "the shortest, at " << NowPs() << " ps");
        m_longer += least < *std::max_element(lengths.begin(), lengths.end());
        if (std::count(lengths.begin(), lengths.end(), least) == 2)
        {
            // which of the two
            ++m_ties[std::find(lengths.begin(), lengths.end(), least) - lengths.begin() !=
                     static_cast<std::ptrdiff_t>(place)];
        }
    }

    void DoRun() override
    {
        for (const int64_t refresh : {0, 3'000'000})
        {
            std::mt19937_64 random(3);
            Bundle bundle("ns3::forwarding::LeastQueue",
                          {{"Refresh", std::to_string(refresh) + "ps"}});
            m_bundle = &bundle;
            m_refresh = refresh;
            m_read.clear();
            m_longer = 0;
            m_ties.assign(2, 0);
            int64_t time = 0;
            for (int i = 0; i < 8000; ++i)
            {
                time += static_cast<int64_t>(random() % 400'000);
                Simulator::Schedule(TimeStep(time), &LeastQueueTest::Offer, this, std::ref(random));
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_GT(m_longer, 2000, "queues differed");
            NS_TEST_ASSERT_MSG_GT(m_ties[0] + m_ties[1], 500, "and were equal");
            NS_TEST_ASSERT_MSG_LT(ChiSquare(m_ties), 10.83, "either one then"); // 1 degree
            NS_TEST_ASSERT_MSG_EQ(bundle.fabric->Finish(), "", "frames are conserved");
        }
        Bundle bundle("ns3::forwarding::LeastQueue");
        Frame control;
        control.cls = lossless::CONTROL_CLASS;
        const std::vector<uint16_t> hops{0, 1};
        std::set<std::size_t> places;
        for (int i = 0; i < 50; ++i)
        {
            places.insert(bundle.here->Choose(control, hops));
        }
        NS_TEST_ASSERT_MSG_EQ(places.size(), 2, "the control queue has no length");
    }

    Bundle* m_bundle{nullptr};                                                  //!< the fabric
    int64_t m_refresh{0};                                                       //!< ps
    std::map<std::pair<uint16_t, uint8_t>, std::pair<int64_t, int64_t>> m_read; //!< when, bytes
    uint32_t m_longer{0};       //!< times that some queue was longer than another
    std::vector<double> m_ties; //!< of two that were equal, the first and the second
};

/// @ingroup forwarding-tests
/// @brief What is refused, in words.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("what is not a policy, or comes too late, is refused with a list of policies")
    {
    }

  private:
    void DoRun() override
    {
        auto fabric = CreateObject<Fabric>();
        std::string said;
        try
        {
            fabric->SetForwarding("ns3::forwarding::Sprai");
        }
        catch (const std::invalid_argument& error)
        {
            said = error.what();
        }
        for (const char* name : {"Ecmp", "Spray", "Flowlet", "LeastQueue"})
        {
            NS_TEST_ASSERT_MSG_NE(said.find(name), std::string::npos, said);
        }
        fabric->AddSwitch("s");
        said.clear();
        try
        {
            fabric->SetForwarding("ns3::forwarding::Spray");
        }
        catch (const std::logic_error& error)
        {
            said = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(said.find("before adding switches"), std::string::npos, said);
        fabric->Dispose();
    }
};

/// @ingroup forwarding-tests
/// @brief Tests of the policies alone.
class PolicyTestSuite : public TestSuite
{
  public:
    PolicyTestSuite()
        : TestSuite("forwarding-policy", Type::UNIT)
    {
        AddTestCase(new RoundRobinTest, TestCase::Duration::QUICK);
        AddTestCase(new RandomTest, TestCase::Duration::QUICK);
        AddTestCase(new SeedTest, TestCase::Duration::QUICK);
        AddTestCase(new FlowletTest, TestCase::Duration::QUICK);
        AddTestCase(new LeastQueueTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static PolicyTestSuite g_policyTestSuite; //!< registers the suite

} // namespace tests
} // namespace forwarding
} // namespace ns3
