/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-egress-queue.h"
#include "ns3/test.h"

#include <algorithm>
#include <list>
#include <random>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * EgressQueue against a list that is searched.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief The queue as its documentation reads: all frames in one list, and who went when.
///
/// Round robin: of the lanes that hold frames, the one goes next that has waited longest since its
/// last frame went or, if later, since it began to hold frames.
class BruteQueue
{
  public:
    /// Start empty. @param lanes as for EgressQueue
    explicit BruteQueue(uint16_t lanes)
        : m_since(lanes, 0)
    {
    }

    /// Lane of a frame. @param frame it. @return lane.
    std::size_t Lane(const Frame* frame) const
    {
        return std::min<std::size_t>(frame->ingress, m_since.size() - 1);
    }

    /// Add a frame. @param frame it
    void Push(Frame* frame)
    {
        const std::size_t lane = Lane(frame);
        if (std::none_of(m_frames.begin(), m_frames.end(), [&](const Frame* other) {
                return Lane(other) == lane;
            }))
        {
            m_since[lane] = ++m_clock;
        }
        m_frames.push_back(frame);
    }

    /// Who goes next. @return its place in the list, or the end
    std::list<Frame*>::iterator Next()
    {
        auto best = m_frames.end();
        for (auto it = m_frames.begin(); it != m_frames.end(); ++it)
        {
            if (best == m_frames.end() || m_since[Lane(*it)] < m_since[Lane(*best)])
            {
                best = it;
            }
        }
        return best;
    }

    /// Take the next. @return it
    Frame* Pop()
    {
        const auto next = Next();
        Frame* frame = *next;
        m_frames.erase(next);
        m_since[Lane(frame)] = ++m_clock;
        return frame;
    }

    /// @return the next, or nullptr
    Frame* Head()
    {
        const auto next = Next();
        return next == m_frames.end() ? nullptr : *next;
    }

    /// @return all frames
    const std::list<Frame*>& GetFrames() const
    {
        return m_frames;
    }

  private:
    std::list<Frame*> m_frames;    //!< in the order of arrival
    std::vector<uint64_t> m_since; //!< per lane, since when it waits
    uint64_t m_clock{0};           //!< counts events
};

/// @ingroup lossless-tests
/// @brief Random pushes and pops.
class EgressQueueTest : public TestCase
{
  public:
    EgressQueueTest()
        : TestCase("FIFO and round robin over ingress ports equal a list that is searched, with "
                   "any number of lanes")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(4);
        for (int round = 0; round < 60; ++round)
        {
            const auto lanes = static_cast<uint16_t>(round % 3 == 0 ? 1 : 2 + random() % 8);
            const uint32_t active = 1 + random() % (lanes + 2);
            EgressQueue queue(static_cast<uint8_t>(round % N_CLASSES), lanes);
            BruteQueue brute(lanes);
            NS_TEST_ASSERT_MSG_EQ(+queue.GetClass(), round % N_CLASSES, "its class");
            for (int step = 0; step < 600; ++step)
            {
                const bool grow = step / 150 % 2 == 0;
                if (brute.GetFrames().empty() || random() % 10 < (grow ? 6U : 4U))
                {
                    Frame* frame = FramePool::Take();
                    frame->bytes = static_cast<uint16_t>(64 + random() % 9000);
                    // ports beyond the lanes, and frames made here, share the last lane
                    frame->ingress =
                        random() % 8 ? static_cast<uint16_t>(random() % active) : NO_PORT;
                    frame->order = static_cast<uint64_t>(step);
                    queue.Push(frame);
                    brute.Push(frame);
                }
                else
                {
                    Frame* frame = queue.Pop();
                    NS_TEST_ASSERT_MSG_EQ(frame,
                                          brute.Pop(),
                                          "who goes, of " << lanes << " lanes, step " << step);
                    FramePool::Give(frame);
                }
                int64_t bytes = 0;
                for (const Frame* frame : brute.GetFrames())
                {
                    bytes += frame->bytes;
                }
                const uint64_t oldest = brute.GetFrames().empty()
                                            ? std::numeric_limits<uint64_t>::max()
                                            : brute.GetFrames().front()->order;
                NS_TEST_ASSERT_MSG_EQ(queue.GetOldest(), oldest, "the one that has waited longest");
                NS_TEST_ASSERT_MSG_EQ(queue.Head(), brute.Head(), "who goes next");
                NS_TEST_ASSERT_MSG_EQ(queue.GetBytes(), bytes, "bytes waiting");
                NS_TEST_ASSERT_MSG_EQ(queue.GetFrames(),
                                      brute.GetFrames().size(),
                                      "frames waiting");
            }
            FramePool::Clear();
        }
    }
};

/// @ingroup lossless-tests
/// @brief Ingress ports that always have frames get one each in turn, whoever else comes and goes.
class EgressQueueFairnessTest : public TestCase
{
  public:
    EgressQueueFairnessTest()
        : TestCase("lanes that always hold frames are served equally often")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint16_t LANES = 6;
        std::mt19937 random(5);
        EgressQueue queue(0, LANES);
        std::vector<int> waiting(LANES, 0);
        std::vector<int> served(LANES, 0);
        for (int step = 0; step < 5000; ++step)
        {
            for (uint16_t lane = 0; lane < LANES; ++lane)
            {
                // lanes 0 to 2 always hold frames, with backlogs 10, 100 and 1000; others at times
                const int target = lane == 0 ? 10 : lane == 1 ? 100 : lane == 2 ? 1000 : 1;
                while (lane <= 2 ? waiting[lane] < target : waiting[lane] == 0 && random() % 3 == 0)
                {
                    Frame* frame = FramePool::Take();
                    frame->bytes = 1000;
                    frame->ingress = lane;
                    queue.Push(frame);
                    ++waiting[lane];
                }
            }
            Frame* frame = queue.Pop();
            --waiting[frame->ingress];
            ++served[frame->ingress];
            FramePool::Give(frame);
            for (int lane = 1; lane <= 2; ++lane)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(served[lane],
                                          served[0],
                                          1,
                                          "after " << step << " frames");
            }
        }
        NS_TEST_ASSERT_MSG_GT(served[5], 100, "the others went too");
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief Tests of EgressQueue.
class EgressQueueTestSuite : public TestSuite
{
  public:
    EgressQueueTestSuite()
        : TestSuite("lossless-egress-queue", Type::UNIT)
    {
        AddTestCase(new EgressQueueTest, TestCase::Duration::QUICK);
        AddTestCase(new EgressQueueFairnessTest, TestCase::Duration::QUICK);
    }
};

static EgressQueueTestSuite g_egressQueueTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
