/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <set>

/**
 * @file
 * @ingroup lossless-tests
 * SharedBuffer against a second model that recomputes everything with loops over all queues.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// What ports need that are all alike.
/// @param ports how many. @param headroom after a stop, of each class [B]. @return one demand a
/// port.
std::vector<BufferDemand>
Headrooms(std::size_t ports, int64_t headroom)
{
    return {ports, {BufferDemand::ForEachClass(headroom, "headroom"), {}}};
}

/// @ingroup lossless-tests
/// @brief The buffer as its documentation reads, without heap or running sums.
class BruteBuffer
{
  public:
    /// One (port, class).
    struct Queue
    {
        int64_t own{0};      //!< size of its private part
        int64_t counted{0};  //!< of it, promised bytes that Xoff and Xon count
        int64_t priv{0};     //!< private bytes
        int64_t shared{0};   //!< shared bytes
        int64_t headroom{0}; //!< headroom bytes
        bool off{false};     //!< paused
    };

    int64_t shared;            //!< Bs
    int64_t eta;               //!< headroom a queue
    int64_t headroomPool;      //!< headroom of all queues together
    bool isStatic;             //!< static thresholds
    double alpha;              //!< dynamic
    int64_t offset;            //!< Xon = T - offset
    int64_t xoff;              //!< static
    int64_t xon;               //!< static
    std::vector<Queue> queues; //!< all

    /// Sum of the shared bytes. @return bytes
    int64_t Used() const
    {
        int64_t sum = 0;
        for (const auto& queue : queues)
        {
            sum += queue.shared;
        }
        return sum;
    }

    /// T of a queue. @param queue the queue. @return bytes.
    int64_t Xoff(const Queue& queue) const
    {
        const int64_t free = std::max<int64_t>(shared - Used(), 0);
        return isStatic ? std::min(std::max<int64_t>(xoff - queue.counted, 0), queue.shared + free)
                        : static_cast<int64_t>(std::floor(static_cast<long double>(alpha) * free));
    }

    /// A frame arrives. @param index its queue. @param bytes its size. @return what became of it.
    SharedBuffer::Verdict Admit(std::size_t index, int64_t bytes)
    {
        Queue& queue = queues[index];
        if (queue.priv + bytes <= queue.own)
        {
            queue.priv += bytes;
            return SharedBuffer::Verdict::ADMITTED;
        }
        if (queue.shared + bytes <= Xoff(queue))
        {
            queue.shared += bytes;
            return SharedBuffer::Verdict::ADMITTED;
        }
        const bool turned = !queue.off;
        queue.off = true;
        int64_t headrooms = bytes;
        for (const auto& one : queues)
        {
            headrooms += one.headroom;
        }
        if (queue.headroom + bytes > eta || headrooms > headroomPool)
        {
            return turned ? SharedBuffer::Verdict::REFUSED_OFF : SharedBuffer::Verdict::REFUSED;
        }
        queue.headroom += bytes;
        return turned ? SharedBuffer::Verdict::TURNED_OFF : SharedBuffer::Verdict::ADMITTED;
    }

    /// A frame leaves.
    /// @param index its queue. @param bytes its size. @return the queues that turned ON.
    std::set<std::size_t> Release(std::size_t index, int64_t bytes)
    {
        Queue& own = queues[index];
        for (int64_t* part : {&own.headroom, &own.shared, &own.priv})
        {
            const int64_t taken = std::min(bytes, *part);
            *part -= taken;
            bytes -= taken;
        }
        std::set<std::size_t> resumed;
        for (std::size_t i = 0; i < queues.size(); ++i)
        {
            Queue& queue = queues[i];
            const int64_t threshold =
                isStatic ? (Used() < shared ? xon - queue.counted : 0) : Xoff(queue) - offset;
            if (queue.off && queue.headroom == 0 && (queue.shared == 0 || queue.shared < threshold))
            {
                queue.off = false;
                resumed.insert(i);
            }
        }
        return resumed;
    }
};

/// @ingroup lossless-tests
/// @brief Random arrivals and departures: verdicts, segments and resumed queues equal the
/// brute-force model's.
class SharedBufferBruteForceTest : public TestCase
{
  public:
    /// Choose the thresholds. @param isStatic static, else dynamic
    explicit SharedBufferBruteForceTest(bool isStatic)
        : TestCase(std::string("random sequences equal a brute-force model, ") +
                   (isStatic ? "static" : "dynamic") + " thresholds"),
          m_static(isStatic)
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(m_static ? 1 : 2);
        const double alphas[] = {0.03125, 0.125, 0.3, 0.5, 1, 2.7, 8};
        for (int round = 0; round < 60; ++round)
        {
            const uint16_t ports = 1 + random() % 5;
            const int64_t phi = (random() % 3) * 1500;
            const int64_t eta = 2000 + random() % 6000;
            const int64_t pool = 5000 + random() % 60000;
            BruteBuffer brute;
            brute.isStatic = m_static;
            brute.alpha = alphas[random() % 7];
            brute.offset = random() % 3000;
            brute.xoff = 1000 + random() % 20000;
            brute.xon = random() % (brute.xoff + 1);
            brute.eta = eta;
            brute.shared = pool;
            brute.queues.resize(ports * N_CLASSES);
            // every other round some queues are promised something, less than phi or more
            std::vector<BufferDemand> demands = Headrooms(ports, eta);
            int64_t own = 0;
            for (std::size_t i = 0; i < brute.queues.size(); ++i)
            {
                const int64_t promised = round % 2 ? static_cast<int64_t>(random() % 9000) : 0;
                demands[i / N_CLASSES].promised.bytes[i % N_CLASSES] = promised;
                brute.queues[i].own = std::max(phi, promised);
                brute.queues[i].counted = brute.queues[i].own - phi;
                own += brute.queues[i].own;
            }
            const double ratios[] = {1, 1.5, 2, 16};
            const double ratio = ratios[round % 4];
            brute.headroomPool = static_cast<int64_t>(ports * N_CLASSES * eta / ratio);
            const int64_t cells[] = {1, 1, 208, 254};
            const int64_t cell = cells[round / 2 % 4];
            auto buffer = CreateObjectWithAttributes<SharedBuffer>(
                "Size",
                UintegerValue(pool + own + brute.headroomPool),
                "HeadroomRatio",
                DoubleValue(ratio),
                "LossyPool",
                UintegerValue(0),
                "LosslessClasses",
                UintegerValue(0xff),
                "CellSize",
                UintegerValue(cell),
                "Private",
                UintegerValue(phi),
                "Alpha",
                DoubleValue(brute.alpha),
                "XonOffset",
                UintegerValue(brute.offset),
                "Xoff",
                UintegerValue(brute.xoff),
                "Xon",
                UintegerValue(brute.xon),
                "Threshold",
                StringValue(m_static ? "Static" : "Dynamic"));
            buffer->Configure(demands);
            // alpha as the buffer rounds it: 20 binary digits
            brute.alpha = std::round(brute.alpha * (1 << 20)) / (1 << 20);
            NS_TEST_ASSERT_MSG_EQ(buffer->GetSharedSize(),
                                  pool,
                                  "Bs is what the other parts leave");
            std::vector<std::pair<std::size_t, int64_t>> held;
            for (int step = 0; step < 1500; ++step)
            {
                const bool arrive = held.empty() || random() % 100 < (step / 300 % 2 ? 40U : 60U);
                if (arrive)
                {
                    const std::size_t queue = random() % (random() % 2 ? 2 : brute.queues.size());
                    const int64_t bytes = 64 + random() % 1500;
                    const auto got = buffer->Admit(queue / N_CLASSES, 0, queue % N_CLASSES, bytes);
                    const int64_t taken = (bytes / cell + (bytes % cell > 0)) * cell;
                    const auto expected = brute.Admit(queue, taken);
                    NS_TEST_ASSERT_MSG_EQ(static_cast<int>(got),
                                          static_cast<int>(expected),
                                          "verdict in round " << round << ", step " << step);
                    if (got != SharedBuffer::Verdict::REFUSED &&
                        got != SharedBuffer::Verdict::REFUSED_OFF)
                    {
                        held.emplace_back(queue, bytes);
                    }
                }
                else
                {
                    const std::size_t which = random() % held.size();
                    const auto [queue, bytes] = held[which];
                    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
                    buffer->Release(queue / N_CLASSES, 0, queue % N_CLASSES, bytes);
                    std::set<std::size_t> resumed;
                    uint16_t port = 0;
                    uint8_t cls = 0;
                    while (buffer->TakeResumed(port, cls))
                    {
                        resumed.insert(port * N_CLASSES + cls);
                    }
                    const int64_t taken = (bytes / cell + (bytes % cell > 0)) * cell;
                    NS_TEST_ASSERT_MSG_EQ((resumed == brute.Release(queue, taken)),
                                          true,
                                          "queues resumed in round " << round << ", step " << step);
                }
                int64_t total = 0;
                for (std::size_t i = 0; i < brute.queues.size(); ++i)
                {
                    const auto& usage = buffer->GetUsage(i / N_CLASSES, i % N_CLASSES);
                    const auto& expected = brute.queues[i];
                    NS_TEST_ASSERT_MSG_EQ(
                        (usage.priv == expected.priv && usage.shared == expected.shared &&
                         usage.headroom == expected.headroom && usage.off == expected.off),
                        true,
                        "segments of queue " << i << " in round " << round << ", step " << step);
                    total += usage.Total();
                }
                NS_TEST_ASSERT_MSG_EQ(buffer->GetUsed(), total, "all bytes are somewhere");
            }
        }
    }

    bool m_static; //!< static thresholds
};

/// @ingroup lossless-tests
/// @brief n queues that always refill hold alpha Bs / (1 + n alpha) each.
class SharedBufferSteadyStateTest : public TestCase
{
  public:
    SharedBufferSteadyStateTest()
        : TestCase("n equally congested queues hold the share of the dynamic threshold")
    {
    }

  private:
    void DoRun() override
    {
        for (const double alpha : {0.0625, 0.25, 1.0, 4.0})
        {
            for (const uint16_t n : {1, 2, 4, 16})
            {
                constexpr int64_t SHARED = 40'000'000'000; // beyond 32 bits
                auto buffer =
                    CreateObjectWithAttributes<SharedBuffer>("Size",
                                                             UintegerValue(SHARED + n * 2000),
                                                             "LossyPool",
                                                             UintegerValue(0),
                                                             "Alpha",
                                                             DoubleValue(alpha));
                buffer->Configure(Headrooms(n, 2000));
                // each queue takes large frames in turn until it turns OFF
                constexpr int64_t FRAME = 1'000'000;
                bool going = true;
                while (going)
                {
                    going = false;
                    for (uint16_t port = 0; port < n; ++port)
                    {
                        const auto& usage = buffer->GetUsage(port, 3);
                        if (usage.shared + FRAME <= buffer->GetXoff(port, 3))
                        {
                            buffer->Admit(port, 0, 3, FRAME);
                            going = true;
                        }
                    }
                }
                const double expected = alpha * SHARED / (1 + n * alpha);
                for (uint16_t port = 0; port < n; ++port)
                {
                    // the last frame of each queue may not fit, and the threshold falls with every
                    // other queue's
                    NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(buffer->GetUsage(port, 3).shared),
                                              expected,
                                              FRAME * (1 + alpha * n),
                                              "bytes of one of " << n << " queues, alpha "
                                                                 << alpha);
                }
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief Cases that simulators have got wrong.
class SharedBufferTrapsTest : public TestCase
{
  public:
    SharedBufferTrapsTest()
        : TestCase("queues that must resume do; what cannot be is reported; lossy classes drop at "
                   "their threshold")
    {
    }

  private:
    void DoRun() override
    {
        auto buffer = CreateObjectWithAttributes<SharedBuffer>("Size",
                                                               UintegerValue(30'000),
                                                               "LossyPool",
                                                               UintegerValue(10'000),
                                                               "Alpha",
                                                               DoubleValue(1.0),
                                                               "XonOffset",
                                                               UintegerValue(3000));
        buffer->Configure(Headrooms(2, 5000));
        NS_TEST_ASSERT_MSG_EQ(buffer->GetSharedSize(), 10'000, "30000 - 10000 - 2 x 5000");
        // Queue 0 fills the pool; queue 1 turns OFF with its first frame and holds headroom only.
        buffer->Admit(0, 1, 3, 5000);
        NS_TEST_ASSERT_MSG_EQ(static_cast<int>(buffer->Admit(1, 0, 3, 5000)),
                              static_cast<int>(SharedBuffer::Verdict::ADMITTED),
                              "5000 B fit T = 5000");
        NS_TEST_ASSERT_MSG_EQ(static_cast<int>(buffer->Admit(1, 0, 3, 1000)),
                              static_cast<int>(SharedBuffer::Verdict::TURNED_OFF),
                              "the first headroom byte pauses");
        NS_TEST_ASSERT_MSG_EQ(static_cast<int>(buffer->Admit(1, 0, 3, 5000)),
                              static_cast<int>(SharedBuffer::Verdict::REFUSED),
                              "1000 of the headroom's 5000 B are used");
        // It empties while T - XonOffset < 0: with nothing of its own it must resume.
        uint16_t port = 9;
        uint8_t cls = 9;
        buffer->Admit(0, 1, 3, 1000);
        buffer->Release(1, 0, 3, 1000);
        NS_TEST_ASSERT_MSG_EQ(buffer->TakeResumed(port, cls),
                              false,
                              "w = 5000 is not under T - 3000");
        buffer->Release(1, 0, 3, 5000);
        NS_TEST_ASSERT_MSG_EQ(buffer->TakeResumed(port, cls),
                              true,
                              "a queue that holds nothing resumes");
        NS_TEST_ASSERT_MSG_EQ(port, 1, "and it is queue 1");
        // Over-commitment and XON above XOFF are reported.
        auto small = CreateObjectWithAttributes<SharedBuffer>("Size",
                                                              UintegerValue(1000),
                                                              "LossyPool",
                                                              UintegerValue(0));
        small->Configure(Headrooms(1, 2000));
        NS_TEST_ASSERT_MSG_NE(small->Check().find("over-committed"),
                              std::string::npos,
                              "1000 B cannot hold 2000 B");
        auto inverted = CreateObjectWithAttributes<SharedBuffer>("Threshold",
                                                                 StringValue("Static"),
                                                                 "Xoff",
                                                                 UintegerValue(1000),
                                                                 "Xon",
                                                                 UintegerValue(1001));
        inverted->Configure(Headrooms(1, 2000));
        NS_TEST_ASSERT_MSG_NE(inverted->Check().find("Xon"),
                              std::string::npos,
                              "Xon 1001 is above Xoff 1000");
        // Lossy: alpha 1 of what is free, per egress queue.
        auto lossy = CreateObjectWithAttributes<SharedBuffer>("Size",
                                                              UintegerValue(100'000),
                                                              "LossyPool",
                                                              UintegerValue(10'000));
        lossy->Configure(Headrooms(2, 1000));
        int64_t admitted = 0;
        while (lossy->Admit(0, 1, 0, 100) == SharedBuffer::Verdict::ADMITTED)
        {
            admitted += 100;
        }
        NS_TEST_ASSERT_MSG_EQ(admitted, 5000, "q + 100 <= 10000 - q holds up to q = 4900");
        NS_TEST_ASSERT_MSG_EQ(lossy->GetLossyBytes(1, 0), 5000, "held by the egress queue");
    }
};

/// @ingroup lossless-tests
/// @brief Lossless and lossy classes together, in buffers of any size, against sums over all frames
/// held.
class SharedBufferMixedTest : public TestCase
{
  public:
    SharedBufferMixedTest()
        : TestCase("lossless and lossy classes, headroom by port and buffers of up to 100 GB: all "
                   "equals sums over the frames held, in exact arithmetic")
    {
    }

  private:
    /// A frame in the buffer.
    struct Held
    {
        uint16_t ingress; //!< port
        uint16_t egress;  //!< port
        uint8_t cls;      //!< class
        int64_t bytes;    //!< size
    };

    /// floor(numerator / 1000 x bytes), the numerator's error of rounding being the buffer's.
    /// @param alpha in thousandths. @param bytes free. @return bytes.
    static int64_t Share(uint64_t alpha, int64_t bytes)
    {
        // the buffer's alpha: the nearest multiple of 2^-20
        const uint64_t fixed = (alpha * (2U << 20) / 1000 + 1) / 2;
        return bytes <= 0 ? 0
                          : static_cast<int64_t>(static_cast<Uint128>(fixed) *
                                                 static_cast<uint64_t>(bytes) / (1U << 20));
    }

    /// One random buffer and a random sequence. @param seed of both
    void Round(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const auto ports = static_cast<uint16_t>(1 + random() % 6);
        const auto lossless = static_cast<uint32_t>(random() & 0xff);
        const int64_t scale = seed % 3 == 0 ? 1'000'000 : seed % 3 == 1 ? 1000 : 1;
        const int64_t phi = static_cast<int64_t>(random() % 3000) * scale;
        const int64_t lossyPool = static_cast<int64_t>(random() % 40'000) * scale;
        const int64_t pool = static_cast<int64_t>(random() % 60'000) * scale;
        const int64_t offset = static_cast<int64_t>(random() % 3000) * scale;
        const uint64_t alpha = 1 + random() % 5000;      // thousandths
        const uint64_t lossyAlpha = 1 + random() % 5000; // thousandths
        std::vector<int64_t> eta;
        std::vector<BufferDemand> demands;
        int64_t size = lossyPool + pool;
        for (uint16_t port = 0; port < ports; ++port)
        {
            eta.push_back(static_cast<int64_t>(1 + random() % 9000) * scale);
            demands.push_back(Headrooms(1, eta.back()).front());
            size += std::popcount(lossless) * (phi + eta.back());
        }
        auto buffer = CreateObjectWithAttributes<SharedBuffer>(
            "Size",
            UintegerValue(std::max<int64_t>(size, 1)),
            "LossyPool",
            UintegerValue(lossyPool),
            "LosslessClasses",
            UintegerValue(lossless),
            "Private",
            UintegerValue(phi),
            "Alpha",
            DoubleValue(static_cast<double>(alpha) / 1000),
            "LossyAlpha",
            DoubleValue(static_cast<double>(lossyAlpha) / 1000),
            "XonOffset",
            UintegerValue(offset));
        buffer->Configure(demands);
        NS_TEST_ASSERT_MSG_EQ(buffer->Check(), "", "the parts fill the buffer exactly");
        NS_TEST_ASSERT_MSG_EQ(buffer->GetSharedSize(), pool, "Bs, seed " << seed);
        // What each lossless queue holds of its private part, the pool and its headroom.
        std::vector<std::array<int64_t, 3>> parts(ports * N_CLASSES);
        std::vector<bool> off(ports * N_CLASSES);
        std::vector<Held> held;
        int64_t peak = 0;
        int64_t peakQueue = 0;
        int64_t peakHeadroom = 0;
        const auto lossyHeld = [&](int port, int cls) {
            int64_t sum = 0;
            for (const Held& frame : held)
            {
                const bool its = !(lossless >> frame.cls & 1) &&
                                 (port < 0 || (frame.egress == port && frame.cls == cls));
                sum += its ? frame.bytes : 0;
            }
            return sum;
        };
        const auto poolUsed = [&] {
            int64_t sum = 0;
            for (const auto& part : parts)
            {
                sum += part[1];
            }
            return sum;
        };
        for (int step = 0; step < 600; ++step)
        {
            if (held.empty() || random() % 100 < (step / 150 % 2 ? 40U : 65U))
            {
                const Held frame{static_cast<uint16_t>(random() % ports),
                                 static_cast<uint16_t>(random() % ports),
                                 static_cast<uint8_t>(random() % N_CLASSES),
                                 static_cast<int64_t>(64 + random() % 1500) * scale};
                auto expected = SharedBuffer::Verdict::ADMITTED;
                const bool first = held.empty() && (lossless >> frame.cls & 1);
                const int64_t room = first ? buffer->GetRoom(frame.ingress, frame.cls) : 0;
                if (!(lossless >> frame.cls & 1))
                {
                    const int64_t free = lossyPool - lossyHeld(-1, 0);
                    if (frame.bytes > free ||
                        lossyHeld(frame.egress, frame.cls) + frame.bytes > Share(lossyAlpha, free))
                    {
                        expected = SharedBuffer::Verdict::REFUSED;
                    }
                }
                else
                {
                    const std::size_t queue = frame.ingress * N_CLASSES + frame.cls;
                    auto& [priv, shared, headroom] = parts[queue];
                    if (priv + frame.bytes <= phi)
                    {
                        priv += frame.bytes;
                    }
                    else if (shared + frame.bytes <= Share(alpha, pool - poolUsed()))
                    {
                        shared += frame.bytes;
                    }
                    else if (headroom + frame.bytes > eta[frame.ingress])
                    {
                        expected = off[queue] ? SharedBuffer::Verdict::REFUSED
                                              : SharedBuffer::Verdict::REFUSED_OFF;
                        off[queue] = true;
                    }
                    else
                    {
                        headroom += frame.bytes;
                        expected = off[queue] ? expected : SharedBuffer::Verdict::TURNED_OFF;
                        off[queue] = true;
                        peakHeadroom = std::max(peakHeadroom, headroom);
                    }
                    peakQueue = std::max(peakQueue, priv + shared + headroom);
                }
                NS_TEST_ASSERT_MSG_EQ(
                    static_cast<int>(
                        buffer->Admit(frame.ingress, frame.egress, frame.cls, frame.bytes)),
                    static_cast<int>(expected),
                    "verdict, seed " << seed << ", step " << step);
                if (expected != SharedBuffer::Verdict::REFUSED &&
                    expected != SharedBuffer::Verdict::REFUSED_OFF)
                {
                    held.push_back(frame);
                }
                NS_TEST_ASSERT_MSG_EQ((!first || (frame.bytes <= room) == !held.empty()),
                                      true,
                                      "room of an empty buffer, seed " << seed);
            }
            else
            {
                const std::size_t which = random() % held.size();
                const Held frame = held[which];
                held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
                buffer->Release(frame.ingress, frame.egress, frame.cls, frame.bytes);
                std::set<std::size_t> resumed;
                if (lossless >> frame.cls & 1)
                {
                    int64_t rest = frame.bytes;
                    for (int part = 2; part >= 0; --part)
                    {
                        auto& bytes = parts[frame.ingress * N_CLASSES + frame.cls][part];
                        const int64_t taken = std::min(rest, bytes);
                        bytes -= taken;
                        rest -= taken;
                    }
                    const int64_t xon = Share(alpha, pool - poolUsed()) - offset;
                    for (std::size_t i = 0; i < parts.size(); ++i)
                    {
                        if (off[i] && parts[i][2] == 0 && (parts[i][1] == 0 || parts[i][1] < xon))
                        {
                            off[i] = false;
                            resumed.insert(i);
                        }
                    }
                }
                uint16_t port = 0;
                uint8_t cls = 0;
                while (buffer->TakeResumed(port, cls))
                {
                    NS_TEST_ASSERT_MSG_EQ(resumed.erase(port * N_CLASSES + cls),
                                          1,
                                          "it resumes, once, seed " << seed << ", step " << step);
                }
                NS_TEST_ASSERT_MSG_EQ(resumed.size(),
                                      0,
                                      "no other resumes, seed " << seed << ", step " << step);
            }
            int64_t total = 0;
            for (const Held& frame : held)
            {
                total += frame.bytes;
            }
            peak = std::max(peak, total);
            NS_TEST_ASSERT_MSG_EQ(buffer->GetUsed(), total, "bytes held");
            NS_TEST_ASSERT_MSG_EQ(buffer->GetPeak(), peak, "most bytes held");
            NS_TEST_ASSERT_MSG_EQ(buffer->GetPeakQueue(), peakQueue, "most bytes in a queue");
            NS_TEST_ASSERT_MSG_EQ(buffer->GetPeakHeadroom(), peakHeadroom, "fullest headroom");
            NS_TEST_ASSERT_MSG_EQ(buffer->GetSharedUsed(), poolUsed(), "sum of w");
            const auto port = static_cast<uint16_t>(random() % ports);
            const auto cls = static_cast<uint8_t>(random() % N_CLASSES);
            const auto& usage = buffer->GetUsage(port, cls);
            const auto& part = parts[port * N_CLASSES + cls];
            NS_TEST_ASSERT_MSG_EQ((usage.priv == part[0] && usage.shared == part[1] &&
                                   usage.headroom == part[2] &&
                                   usage.off == off[port * N_CLASSES + cls]),
                                  true,
                                  "segments, seed " << seed << ", step " << step);
            NS_TEST_ASSERT_MSG_EQ(buffer->GetXoff(port, cls),
                                  Share(alpha, pool - poolUsed()),
                                  "T, seed " << seed << ", step " << step);
            NS_TEST_ASSERT_MSG_EQ(buffer->GetLossyBytes(port, cls),
                                  lossyHeld(port, cls),
                                  "bytes of a lossy queue");
        }
    }

    void DoRun() override
    {
        for (uint64_t seed = 0; seed < 150 && !IsStatusFailure(); ++seed)
        {
            Round(seed);
        }
    }
};

/// @ingroup lossless-tests
/// @brief The largest numbers.
class SharedBufferLargestTest : public TestCase
{
  public:
    SharedBufferLargestTest()
        : TestCase("the threshold of the largest buffer with the largest alpha does not wrap")
    {
    }

  private:
    void DoRun() override
    {
        // The largest buffer and alpha there are: T is beyond 2^51 B.
        constexpr int64_t SIZE = 1LL << 42;
        auto largest = CreateObjectWithAttributes<SharedBuffer>("Size",
                                                                UintegerValue(SIZE),
                                                                "LossyPool",
                                                                UintegerValue(0),
                                                                "Alpha",
                                                                DoubleValue(1024));
        largest->Configure(Headrooms(1, 5));
        NS_TEST_ASSERT_MSG_EQ(largest->GetXoff(0, 3), 1024 * (SIZE - 5), "T = alpha Bs");
    }
};

/// @ingroup lossless-tests
/// @brief What flow controls demand, in cells: enough for frames of any size, and no more.
class CellDemandTest : public TestCase
{
  public:
    CellDemandTest()
        : TestCase("demands in cells hold what frames of any one size take, and no larger share")
    {
    }

  private:
    void DoRun() override
    {
        for (const int64_t cell : {2, 63, 64, 65, 80, 208, 254, 4096})
        {
            for (const int64_t demand : {1, 1500, 46'612, 1'000'000})
            {
                BufferDemand filled = Headrooms(1, demand).front();
                filled.promised = filled.beyondStop;
                filled.FillCells(cell, 20);
                CheckPart(filled.beyondStop.bytes[3], demand, cell, 20);
                CheckPart(filled.promised.bytes[3], demand, cell, 0);
            }
        }
        BufferDemand none;
        none.FillCells(254, 20);
        NS_TEST_EXPECT_MSG_EQ(none.beyondStop.Most() + none.promised.Most(), 0, "nothing grows");
    }

    /// Compare a demand with frames of each size.
    /// @param filled in cells. @param demand before [B]. @param cell bytes of a cell.
    /// @param overhead of a frame [B].
    void CheckPart(int64_t filled, int64_t demand, int64_t cell, int64_t overhead)
    {
        long double most = 1;
        for (int64_t size = 64; size <= 9216; ++size)
        {
            const int64_t taken = (size / cell + (size % cell > 0)) * cell;
            // Frames of this size on the wire, the last one without what follows it.
            const int64_t frames = (demand + overhead) / (size + overhead);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(filled, frames * taken, "frames of " << size << " B");
            most = std::max(most, static_cast<long double>(taken) / (size + overhead));
        }
        const auto bound = static_cast<int64_t>(most * (demand + overhead)) + 1;
        NS_TEST_EXPECT_MSG_LT_OR_EQ(filled, bound, "cells of " << cell << " B, no more than that");
    }
};

/// @ingroup lossless-tests
/// @brief Tests of SharedBuffer.
class SharedBufferTestSuite : public TestSuite
{
  public:
    SharedBufferTestSuite()
        : TestSuite("lossless-shared-buffer", Type::UNIT)
    {
        AddTestCase(new SharedBufferBruteForceTest(false), TestCase::Duration::QUICK);
        AddTestCase(new SharedBufferBruteForceTest(true), TestCase::Duration::QUICK);
        AddTestCase(new SharedBufferMixedTest, TestCase::Duration::QUICK);
        AddTestCase(new SharedBufferLargestTest, TestCase::Duration::QUICK);
        AddTestCase(new SharedBufferSteadyStateTest, TestCase::Duration::QUICK);
        AddTestCase(new SharedBufferTrapsTest, TestCase::Duration::QUICK);
        AddTestCase(new CellDemandTest, TestCase::Duration::QUICK);
    }
};

static SharedBufferTestSuite g_sharedBufferTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
