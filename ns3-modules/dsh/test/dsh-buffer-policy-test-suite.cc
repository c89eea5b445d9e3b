/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-test-network.h"
#include "../../lossless/test/lossless-test-draws.h"

#include "ns3/double.h"
#include "ns3/dsh-buffer-policy.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup dsh-tests
 * Dsh against a second model that recomputes everything with loops over all queues, and against
 * links that fill it as fast and as badly as they can.
 */

namespace ns3
{
namespace dsh
{
namespace tests
{

using lossless::N_CLASSES;
using lossless::tests::Draws;
using Verdict = Dsh::Verdict;

/// A queue as a number: its port times 8, and its class.
using Queues = std::set<std::size_t>;

/// Bytes on the wire of a pause.
constexpr int64_t PAUSE = 84;

/// What ports need that are all alike.
/// @param ports how many. @param headroom after a stop, of each class [B]. @return one demand a
/// port.
static std::vector<lossless::BufferDemand>
Headrooms(std::size_t ports, int64_t headroom)
{
    return {ports, {lossless::BufferDemand::ForEachClass(headroom, "headroom"), {}}};
}

/// Take all queues that a function of the policy gives.
/// @param policy the policy. @param take the function. @return the queues.
static Queues
Take(Dsh& policy, bool (Dsh::*take)(uint16_t&, uint8_t&))
{
    Queues queues;
    uint16_t port = 0;
    uint8_t cls = 0;
    while ((policy.*take)(port, cls))
    {
        queues.insert(port * N_CLASSES + cls);
    }
    return queues;
}

/// @ingroup dsh-tests
/// @brief DSH as its documentation reads, all classes lossless, without heap or running sums.
class BruteDsh
{
  public:
    /// One (port, class).
    struct Queue
    {
        int64_t own{0};     //!< size of its private part
        int64_t priv{0};    //!< private bytes
        int64_t shared{0};  //!< shared bytes
        int64_t insured{0}; //!< bytes in the insurance of its port
        bool off{false};    //!< OFF by itself
    };

    int64_t shared;            //!< Bs
    int64_t eta;               //!< headroom
    double alpha;              //!< dynamic
    int64_t offset;            //!< of a queue
    int64_t portOffset;        //!< of a port
    std::vector<Queue> queues; //!< all
    std::vector<bool> portOff; //!< ports that are OFF as a whole

    /// Add up over queues.
    /// @param part which bytes. @param port of which port; -1: all. @return bytes.
    int64_t Sum(int64_t Queue::* part, int port = -1) const
    {
        int64_t sum = 0;
        for (std::size_t i = 0; i < queues.size(); ++i)
        {
            sum +=
                port < 0 || i / N_CLASSES == static_cast<std::size_t>(port) ? queues[i].*part : 0;
        }
        return sum;
    }

    /// @return T
    int64_t T() const
    {
        const auto free = static_cast<long double>(shared - Sum(&Queue::shared));
        return static_cast<int64_t>(std::floor(alpha * free));
    }

    /// @return the queues whose upstream is to be silent
    Queues Off() const
    {
        Queues off;
        for (std::size_t i = 0; i < queues.size(); ++i)
        {
            if (queues[i].off || portOff[i / N_CLASSES])
            {
                off.insert(i);
            }
        }
        return off;
    }

    /// A frame arrives.
    /// @param index its queue. @param bytes its size. @return whether it was taken.
    bool Admit(std::size_t index, int64_t bytes)
    {
        Queue& queue = queues[index];
        const std::size_t port = index / N_CLASSES;
        const int number = static_cast<int>(port);
        if (queue.priv + bytes <= queue.own)
        {
            queue.priv += bytes;
            return true;
        }
        if (!portOff[port] && Sum(&Queue::shared) + bytes <= shared &&
            Sum(&Queue::shared, number) + bytes <= N_CLASSES * T())
        {
            queue.off = queue.off || queue.shared + bytes > T() - eta;
            queue.shared += bytes;
            return true;
        }
        portOff[port] = true;
        const int64_t insurance = eta + (N_CLASSES - 1) * PAUSE;
        if (Sum(&Queue::insured, number) + bytes > insurance)
        {
            return false;
        }
        queue.insured += bytes;
        return true;
    }

    /// Bytes leave a queue. @param index the queue. @param bytes how many.
    void Release(std::size_t index, int64_t bytes)
    {
        Queue& own = queues[index];
        for (int64_t* part : {&own.insured, &own.shared, &own.priv})
        {
            const int64_t taken = std::min(bytes, *part);
            *part -= taken;
            bytes -= taken;
        }
    }

    /// Turn ON what may be.
    void Resume()
    {
        for (std::size_t port = 0; port < portOff.size(); ++port)
        {
            const int number = static_cast<int>(port);
            const int64_t held = Sum(&Queue::shared, number);
            const bool low = held == 0 || held < N_CLASSES * T() - portOffset;
            portOff[port] = portOff[port] && !(low && Sum(&Queue::insured, number) == 0);
        }
        for (Queue& queue : queues)
        {
            const bool low = queue.shared == 0 || queue.shared < T() - eta - offset;
            queue.off = queue.off && !low;
        }
    }
};

/// @ingroup dsh-tests
/// @brief Random arrivals and departures equal the brute-force model, and "what if" is what becomes
/// of it.
class DshBruteForceTest : public TestCase
{
  public:
    DshBruteForceTest()
        : TestCase("random sequences equal a brute-force model, answers about deadlocks what it "
                   "then does")
    {
    }

  private:
    /// Make two equal models. @param random source of randomness
    void Make(std::mt19937_64& random)
    {
        const double alphas[] = {0.03125, 0.125, 0.3, 0.5, 1, 2.7, 8};
        const uint16_t ports = 1 + random() % 4;
        m_brute = BruteDsh();
        m_brute.alpha = alphas[random() % 7];
        m_brute.offset = static_cast<int64_t>(random() % 3000);
        m_brute.portOffset = static_cast<int64_t>(random() % 3000);
        const int64_t phi = static_cast<int64_t>(random() % 3) * 1500;
        m_brute.eta = 1000 + static_cast<int64_t>(random() % 6000);
        m_brute.shared = 5000 + static_cast<int64_t>(random() % 90'000);
        m_brute.queues.resize(ports * N_CLASSES);
        m_brute.portOff.resize(ports);
        // the port's class that needs most decides on the insurance; some queues are promised more
        // than phi
        std::vector<lossless::BufferDemand> demands = Headrooms(ports, m_brute.eta - 1);
        int64_t own = 0;
        for (std::size_t i = 0; i < m_brute.queues.size(); ++i)
        {
            const int64_t promised = static_cast<int64_t>(random() % 6000) - 3000;
            auto& demand = demands[i / N_CLASSES];
            demand.beyondStop.bytes[i % N_CLASSES] += i % N_CLASSES == 5;
            demand.promised.bytes[i % N_CLASSES] = std::max<int64_t>(promised, 0);
            m_brute.queues[i].own = std::max(phi, promised);
            own += m_brute.queues[i].own;
        }
        const int64_t insurance = m_brute.eta + (N_CLASSES - 1) * PAUSE;
        m_policy =
            CreateObjectWithAttributes<Dsh>("Size",
                                            UintegerValue(m_brute.shared + own + ports * insurance),
                                            "LossyPool",
                                            UintegerValue(0),
                                            "LosslessClasses",
                                            UintegerValue(0xff),
                                            "Private",
                                            UintegerValue(phi),
                                            "Alpha",
                                            DoubleValue(m_brute.alpha),
                                            "XonOffset",
                                            UintegerValue(m_brute.offset),
                                            "PortXonOffset",
                                            UintegerValue(m_brute.portOffset));
        m_policy->Configure(demands);
        // alpha as a buffer rounds it: 20 binary digits
        m_brute.alpha = std::round(m_brute.alpha * (1 << 20)) / (1 << 20);
        NS_TEST_ASSERT_MSG_EQ(m_policy->Check(), "", "the parts fill the buffer exactly");
        NS_TEST_ASSERT_MSG_EQ(m_policy->GetSharedSize(),
                              m_brute.shared,
                              "one insurance a port, the rest is shared");
    }

    /// A frame arrives.
    /// @param queue its queue. @param bytes its size. @return whether it was taken.
    bool Admit(std::size_t queue, int64_t bytes)
    {
        const Queues before = m_brute.Off();
        const auto verdict = m_policy->Admit(queue / N_CLASSES, 0, queue % N_CLASSES, bytes);
        const bool taken = m_brute.Admit(queue, bytes);
        const Queues after = m_brute.Off();
        Queues turned;
        std::set_difference(after.begin(),
                            after.end(),
                            before.begin(),
                            before.end(),
                            std::inserter(turned, turned.end()));
        const auto expected = taken ? (turned.empty() ? Verdict::ADMITTED : Verdict::TURNED_OFF)
                                    : (turned.empty() ? Verdict::REFUSED : Verdict::REFUSED_OFF);
        NS_TEST_EXPECT_MSG_EQ(static_cast<int>(verdict), static_cast<int>(expected), "verdict");
        NS_TEST_EXPECT_MSG_EQ((Take(*m_policy, &Dsh::TakeTurnedOff) == turned),
                              true,
                              "queues turned OFF");
        m_wholePorts += turned.size() > 1;
        return taken;
    }

    /// Bytes leave. @param queue their queue. @param bytes how many.
    void Release(std::size_t queue, int64_t bytes)
    {
        const Queues before = m_brute.Off();
        m_policy->Release(queue / N_CLASSES, 0, queue % N_CLASSES, bytes);
        m_brute.Release(queue, bytes);
        m_brute.Resume();
        const Queues after = m_brute.Off();
        Queues turned;
        std::set_difference(before.begin(),
                            before.end(),
                            after.begin(),
                            after.end(),
                            std::inserter(turned, turned.end()));
        NS_TEST_EXPECT_MSG_EQ((Take(*m_policy, &Dsh::TakeResumed) == turned),
                              true,
                              "queues turned ON");
    }

    /// All bytes and states are equal.
    void Compare()
    {
        const Queues off = m_brute.Off();
        for (std::size_t i = 0; i < m_brute.queues.size(); ++i)
        {
            const auto& usage = m_policy->GetUsage(i / N_CLASSES, i % N_CLASSES);
            const auto& expected = m_brute.queues[i];
            NS_TEST_EXPECT_MSG_EQ((usage.priv == expected.priv && usage.shared == expected.shared &&
                                   usage.headroom == expected.insured &&
                                   usage.off == off.contains(i)),
                                  true,
                                  "segments and state of queue " << i);
        }
    }

    /// Which queues stay OFF when only a part of the bytes stays.
    /// @param random source of randomness
    void Ask(std::mt19937_64& random)
    {
        std::vector<Dsh::Rest> rests;
        BruteDsh left = m_brute;
        for (std::size_t i = 0; i < left.queues.size(); ++i)
        {
            const auto& queue = m_brute.queues[i];
            const int64_t total = queue.priv + queue.shared + queue.insured;
            const int64_t rest =
                random() % 3 == 0 ? total : static_cast<int64_t>(random() % (total + 1));
            const int64_t stays = random() % 4 == 0 ? 0 : rest;
            left.Release(i, total - stays);
            if (stays > 0)
            {
                rests.push_back({static_cast<uint16_t>(i / N_CLASSES),
                                 static_cast<uint8_t>(i % N_CLASSES),
                                 stays});
            }
        }
        left.Resume();
        const Queues off = left.Off();
        for (std::size_t i = 0; i < left.queues.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(m_policy->StaysOff(i / N_CLASSES, i % N_CLASSES, rests),
                                  off.contains(i),
                                  "what would stay OFF, queue " << i);
            m_staysOff += off.contains(i);
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < 100 && IsStatusSuccess(); ++round)
        {
            Make(random);
            std::vector<std::pair<std::size_t, int64_t>> held;
            for (int step = 0; step < 1000 && IsStatusSuccess(); ++step)
            {
                if (held.empty() || random() % 100 < (step / 200 % 2 ? 40U : 65U))
                {
                    const std::size_t few = 1 + random() % m_brute.queues.size();
                    const std::size_t queue = random() % few;
                    const int64_t bytes = 64 + static_cast<int64_t>(random() % 1500);
                    if (Admit(queue, bytes))
                    {
                        held.emplace_back(queue, bytes);
                    }
                }
                else
                {
                    const std::size_t which = random() % held.size();
                    const auto [queue, bytes] = held[which];
                    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
                    Release(queue, bytes);
                }
                Compare();
                if (step % 20 == 0)
                {
                    Ask(random);
                }
            }
        }
        NS_TEST_ASSERT_MSG_GT(m_wholePorts, 100, "whole ports turned OFF");
        NS_TEST_ASSERT_MSG_GT(m_staysOff, 1000, "queues that would stay OFF");
    }

    BruteDsh m_brute;    //!< one model
    Ptr<Dsh> m_policy;   //!< the other
    int m_wholePorts{0}; //!< several queues turned OFF at once
    int m_staysOff{0};   //!< true answers
};

/// @ingroup dsh-tests
/// @brief Upstreams that obey a pause as late as a link allows, and send what hurts most until
/// then.
///
/// A class may go on for a number of bytes of its link after it was turned OFF, and a pause of many
/// classes is a frame each: so the k-th class goes on k frames longer. It is resumed at once. No
/// byte may be refused, whatever T does meanwhile; with less insurance bytes are.
class DshAdversaryTest : public TestCase
{
  public:
    DshAdversaryTest()
        : TestCase("whatever arrives until the pauses are obeyed is taken, and with less insurance "
                   "it is not")
    {
    }

  private:
    static constexpr int64_t FRAME = 1500;  //!< largest frame
    static constexpr int64_t WINDOW = 9000; //!< bytes that still come after a pause

    /// Fill a buffer.
    /// @param seed of all choices. @param eta headroom. @return bytes that were refused.
    int64_t Refused(uint64_t seed, int64_t eta)
    {
        std::mt19937_64 random(seed);
        const double alphas[] = {0.0625, 0.125, 0.5, 1, 4};
        const uint16_t ports = 2 + random() % 7;
        auto policy = CreateObjectWithAttributes<Dsh>(
            "Size",
            UintegerValue(20'000 + random() % 200'000 + ports * (eta + 7 * PAUSE)),
            "LossyPool",
            UintegerValue(0),
            "LosslessClasses",
            UintegerValue(0xff),
            "Headroom",
            UintegerValue(eta),
            "Alpha",
            DoubleValue(alphas[random() % 5]),
            "XonOffset",
            UintegerValue(random() % 3 * 1500),
            "PortXonOffset",
            UintegerValue(random() % 3 * 1500));
        policy->Configure(Headrooms(ports, eta));
        std::vector<int64_t> clock(ports, 0);                     // bytes each link has carried
        std::vector<int64_t> until(ports * N_CLASSES, INT64_MAX); // when each class must be silent
        std::vector<std::pair<std::size_t, int64_t>> held;
        int64_t refused = 0;
        const uint64_t draining = random() % 60; // percent of steps
        const bool allAtOnce = random() % 2;
        for (int step = 0; step < 6000; ++step)
        {
            if (!held.empty() && random() % 100 < draining)
            {
                const std::size_t which = random() % held.size();
                const auto [queue, bytes] = held[which];
                held[which] = held.back();
                held.pop_back();
                policy->Release(queue / N_CLASSES, 0, queue % N_CLASSES, bytes);
                for (const std::size_t on : Take(*policy, &Dsh::TakeResumed))
                {
                    until[on] = INT64_MAX;
                }
                continue;
            }
            // one link after the other, so that all fill T together, or one alone
            const std::size_t port = allAtOnce ? step % ports : random() % (1 + random() % ports);
            const std::size_t queue = port * N_CLASSES + random() % (1 + random() % N_CLASSES);
            if (clock[port] >= until[queue])
            {
                continue;
            }
            const int64_t bytes = random() % 4 ? FRAME : 64 + random() % (FRAME - 63);
            clock[port] += bytes;
            const auto verdict = policy->Admit(port, 0, queue % N_CLASSES, bytes);
            int64_t pauses = 0;
            for (const std::size_t off : Take(*policy, &Dsh::TakeTurnedOff))
            {
                // the last frame begins before the pause is obeyed
                until[off] = clock[off / N_CLASSES] + WINDOW - FRAME + 1 + pauses;
                pauses += PAUSE;
            }
            if (verdict == Verdict::REFUSED || verdict == Verdict::REFUSED_OFF)
            {
                refused += bytes;
                continue;
            }
            held.emplace_back(queue, bytes);
        }
        m_portOffs += policy->IsPortOff(0);
        m_peak = std::max(m_peak, policy->GetPeakHeadroom());
        return refused;
    }

    void DoRun() override
    {
        // WINDOW bytes after the frame that did it
        constexpr int64_t ETA = WINDOW + FRAME;
        int64_t lost = 0;
        for (uint64_t seed = 0; seed < Draws(400); ++seed)
        {
            m_peak = 0;
            NS_TEST_ASSERT_MSG_EQ(Refused(seed, ETA), 0, "bytes refused, seed " << seed);
            const int64_t most = m_peak;
            lost += Refused(seed, ETA - 2 * FRAME) > 0;
            m_most = std::max(m_most, most);
        }
        NS_TEST_ASSERT_MSG_GT(lost, 50, "two frames less of insurance are too little");
        NS_TEST_ASSERT_MSG_GT(m_most, ETA * 9 / 10, "the insurance is needed");
        NS_TEST_ASSERT_MSG_GT(m_portOffs, 50, "ports were OFF");
    }

    int64_t m_peak{0}; //!< most bytes in an insurance
    int64_t m_most{0}; //!< of all buffers that lost nothing
    int m_portOffs{0}; //!< buffers whose first port was OFF at the end
};

/// @ingroup dsh-tests
/// @brief The evaluation's switch, in closed forms.
class DshTomahawkTest : public TestCase
{
  public:
    DshTomahawkTest()
        : TestCase("a Tomahawk saves six of seven headrooms, and sixteen queues fill up to the "
                   "threshold")
    {
    }

  private:
    /// Frames come to 16 ports in turn until one would turn OFF.
    /// @param buffer of the switch. @return bytes taken before.
    int64_t Burst(lossless::BufferPolicy& buffer) const
    {
        constexpr int64_t BYTES = 1500;
        for (int64_t taken = 0;; taken += BYTES)
        {
            const auto port = static_cast<uint16_t>(taken / BYTES % 16);
            if (buffer.Admit(port, 31, 3, BYTES) != Verdict::ADMITTED)
            {
                return taken;
            }
        }
    }

    void DoRun() override
    {
        static constexpr int64_t SIZE = 16'000'000;
        static constexpr int64_t ETA = 56'840;
        static constexpr double ALPHA = 1.0 / 16;
        const auto make = [](auto buffer) {
            buffer->SetAttribute("Size", UintegerValue(SIZE));
            buffer->SetAttribute("LossyPool", UintegerValue(0));
            buffer->SetAttribute("LosslessClasses", UintegerValue(0x7f));
            buffer->SetAttribute("Private", UintegerValue(3000));
            buffer->SetAttribute("Alpha", DoubleValue(ALPHA));
            buffer->Configure(Headrooms(32, ETA));
            return buffer;
        };
        auto sih = make(CreateObject<lossless::SharedBuffer>());
        auto dsh = make(CreateObject<Dsh>());
        const int64_t segments = SIZE - 32 * 7 * 3000;
        NS_TEST_ASSERT_MSG_EQ(sih->GetSharedSize(), segments - 32 * 7 * ETA, "a headroom a queue");
        NS_TEST_ASSERT_MSG_EQ(dsh->GetSharedSize(),
                              segments - 32 * (ETA + 6 * PAUSE),
                              "a headroom a port, and a pause for every other class");
        // w = T of the rest, less eta under DSH; a frame and the private part a queue
        const auto expected = [](int64_t shared, int64_t eta) {
            const double w =
                (ALPHA * static_cast<double>(shared) - static_cast<double>(eta)) / (1 + 16 * ALPHA);
            return 16 * (w + 3000);
        };
        const int64_t ofSih = Burst(*sih);
        const int64_t ofDsh = Burst(*dsh);
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(ofSih),
                                  expected(sih->GetSharedSize(), 0),
                                  2.0 * 16 * 1500,
                                  "burst that static headroom takes");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(ofDsh),
                                  expected(dsh->GetSharedSize(), ETA),
                                  2.0 * 16 * 1500,
                                  "burst that DSH takes");
        NS_TEST_ASSERT_MSG_GT(ofDsh, 4 * ofSih, "more than four times as much (recalled)");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(ofDsh) / SIZE,
                                  0.4,
                                  0.02,
                                  "40 % of the buffer (recalled)");
        auto small = CreateObjectWithAttributes<Dsh>("Size", UintegerValue(1'010'000));
        small->Configure(Headrooms(2, 6000));
        NS_TEST_ASSERT_MSG_NE(small->Check().find("over-committed"),
                              std::string::npos,
                              "10000 B cannot hold two insurances of 6000 B");
    }
};

/// @ingroup dsh-tests
/// @brief Whole networks under PFC: random trees and classes.
class DshNetworkTest : public TestCase
{
  public:
    DshNetworkTest()
        : TestCase("random trees under PFC lose nothing and finish, with any number of classes")
    {
    }

  private:
    void DoRun() override
    {
        double portOffs = 0;
        double queueOffs = 0;
        for (uint64_t seed = 1; seed <= Draws(60); ++seed)
        {
            std::mt19937_64 random(seed);
            const uint32_t hosts = 3 + random() % 6;
            const uint32_t switches = 1 + random() % 3;
            const auto classes = static_cast<uint32_t>(1 + random() % 7);
            const uint64_t rates[] = {10'000'000'000, 25'000'000'000, 100'000'000'000};
            const uint64_t rate = rates[random() % 3];
            facade::tests::Network net(seed);
            const std::string dsh = "ns3::dsh::Dsh";
            net.sim.SetBufferPolicy(dsh);
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.sim.SetAttribute(dsh, "Size", std::to_string(900'000 + random() % 600'000));
            net.sim.SetAttribute(dsh, "LossyPool", "0");
            net.sim.SetAttribute(dsh, "LosslessClasses", std::to_string((1U << classes) - 1));
            net.sim.SetAttribute(dsh, "Alpha", random() % 2 ? "0.0625" : "1");
            net.Set("Port", "ControlDelay", std::to_string(random() % 2000) + "ns");
            net.Nodes(hosts, switches);
            for (uint32_t host = 0; host < hosts; ++host)
            {
                const auto delay = 1000 * static_cast<int64_t>(random() % 2000);
                net.Link(host, hosts + random() % switches, rate, delay);
            }
            for (uint32_t s = 1; s < switches; ++s)
            {
                net.Link(hosts + s, hosts + random() % s, rate, 1'000'000);
            }
            for (uint32_t flow = 0; flow < 6 * hosts; ++flow)
            {
                const uint32_t dst = random() % 3 ? 0 : random() % hosts;
                const uint32_t src = (dst + 1 + random() % (hosts - 1)) % hosts;
                const auto start = static_cast<int64_t>(random() % 20'000'000);
                net.Flow(src, dst, 1 + random() % 300'000, start, random() % classes);
            }
            net.sim.Build();
            NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "the buffer is large enough, seed " << seed);
            net.sim.Run(50'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "a tree finishes, " << seed);
            portOffs += net.Number("dsh_port_offs");
            queueOffs += net.Number("dsh_queue_offs");
        }
        NS_TEST_ASSERT_MSG_GT(portOffs, 20, "ports turned OFF");
        NS_TEST_ASSERT_MSG_GT(queueOffs, Draws(1000), "queues turned OFF");
    }
};

/// @ingroup dsh-tests
/// @brief Tests of Dsh.
class DshTestSuite : public TestSuite
{
  public:
    DshTestSuite()
        : TestSuite("dsh-buffer-policy", Type::UNIT)
    {
        AddTestCase(new DshBruteForceTest, TestCase::Duration::QUICK);
        AddTestCase(new DshAdversaryTest, TestCase::Duration::QUICK);
        AddTestCase(new DshTomahawkTest, TestCase::Duration::QUICK);
        AddTestCase(new DshNetworkTest, TestCase::Duration::QUICK);
    }
};

static DshTestSuite g_dshTestSuite; //!< registers the suite

} // namespace tests
} // namespace dsh
} // namespace ns3
