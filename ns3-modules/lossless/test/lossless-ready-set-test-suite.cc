/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-draws.h"

#include "ns3/lossless-ready-set.h"
#include "ns3/test.h"

#include <array>
#include <random>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * ReadySet: against a list of what is true of each queue, from which every answer follows.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Queues are filled, blocked and ignored, and classes blocked, at random.
class ReadySetTest : public TestCase
{
  public:
    ReadySetTest()
        : TestCase("the masks follow from what is filled, blocked and ignored, by brute force, and "
                   "changes of active queues are returned")
    {
    }

  private:
    /// What is true of a queue.
    struct Queue
    {
        bool filled{false};  //!< it holds frames
        bool ignored{false}; //!< it is sent regardless of blocks
        uint32_t blocks{0};  //!< of itself
    };

    /// Number of flow controls that block a queue.
    uint32_t BlocksOf(uint16_t queue) const
    {
        return m_queues[queue].blocks + (queue < N_CLASSES ? m_classBlocks[queue] : 0);
    }

    /// Whether a queue is active.
    bool IsActive(uint16_t queue) const
    {
        return m_queues[queue].filled && (BlocksOf(queue) == 0 || m_queues[queue].ignored);
    }

    /// Whether a queue may be asked.
    bool MayAsk(uint16_t queue) const
    {
        const bool blocked = BlocksOf(queue) > 0 || m_classBlocks[queue % N_CLASSES] > 0;
        return m_queues[queue].filled && (!blocked || m_queues[queue].ignored);
    }

    /// The masks, from their definition.
    void Compare(const ReadySet& ready, int step)
    {
        uint32_t mask = 0;
        uint32_t filled = 0;
        for (uint16_t queue = 0; queue < m_queues.size(); ++queue)
        {
            const uint32_t bit = queue < N_CLASSES ? queue : N_CLASSES + queue % N_CLASSES;
            mask |= uint32_t{MayAsk(queue)} << bit;
            filled |= queue < N_CLASSES && m_queues[queue].filled ? 1U << queue : 0;
            const bool blocked = BlocksOf(queue) > 0 || m_classBlocks[queue % N_CLASSES] > 0;
            NS_TEST_ASSERT_MSG_EQ(ready.IsBlocked(queue), blocked, "queue " << queue);
            NS_TEST_ASSERT_MSG_EQ(ready.GetBlocks(queue), BlocksOf(queue), "queue " << queue);
            NS_TEST_ASSERT_MSG_EQ(ready.IsIgnored(queue), m_queues[queue].ignored, "by itself");
            if (queue >= N_CLASSES)
            {
                NS_TEST_ASSERT_MSG_EQ(ready.IsActive(queue), IsActive(queue), "queue " << queue);
                NS_TEST_ASSERT_MSG_EQ((IsActive(queue) && ready.MayAsk(queue)),
                                      MayAsk(queue),
                                      "queue " << queue << ", step " << step);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(ready.Get(), mask, "may be asked, step " << step);
        NS_TEST_ASSERT_MSG_EQ(ready.GetFilled(), filled, "class queues, step " << step);
    }

    void DoRun() override
    {
        std::mt19937_64 random(31);
        for (int round = 0; round < Draws(60); ++round)
        {
            const std::size_t own = random() % 4;
            m_queues.assign((own + 1) * N_CLASSES, Queue{});
            m_classBlocks.fill(0);
            ReadySet ready;
            ready.Start(m_queues.size());
            Compare(ready, -1);
            for (int step = 0; step < 300; ++step)
            {
                const auto queue = static_cast<uint16_t>(random() % m_queues.size());
                const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
                const bool was = IsActive(queue);
                Queue& truth = m_queues[queue];
                bool changed = false;
                switch (random() % 6)
                {
                case 0:
                    truth.filled = random() % 2;
                    changed = ready.SetFilled(queue, truth.filled);
                    break;
                case 1:
                    truth.ignored = random() % 3 == 0;
                    changed = ready.SetIgnored(queue, truth.ignored);
                    break;
                case 2:
                    ++truth.blocks;
                    changed = ready.Block(queue);
                    break;
                case 3:
                    if (truth.blocks > 0)
                    {
                        --truth.blocks;
                        changed = ready.Unblock(queue);
                    }
                    break;
                case 4:
                    ++m_classBlocks[cls];
                    ready.BlockClass(cls);
                    break;
                default:
                    if (m_classBlocks[cls] > 0)
                    {
                        --m_classBlocks[cls];
                        ready.UnblockClass(cls);
                    }
                }
                NS_TEST_ASSERT_MSG_EQ(changed,
                                      (queue >= N_CLASSES && IsActive(queue) != was),
                                      "what a scheduler is told, step " << step);
                Compare(ready, step);
            }
        }
    }

    std::vector<Queue> m_queues;                     //!< by number
    std::array<uint32_t, N_CLASSES> m_classBlocks{}; //!< by class
};

/// @ingroup lossless-tests
/// @brief Tests of ReadySet.
class ReadySetTestSuite : public TestSuite
{
  public:
    ReadySetTestSuite()
        : TestSuite("lossless-ready-set", Type::UNIT)
    {
        AddTestCase(new ReadySetTest, TestCase::Duration::QUICK);
    }
};

static ReadySetTestSuite g_readySetTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
