/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_QUEUE_SCHEDULER_H
#define LOSSLESS_QUEUE_SCHEDULER_H

#include <cstdint>
#include <vector>

namespace ns3
{
namespace lossless
{

/// Maximum number of a scheme's own egress queues of a class at a port.
inline constexpr uint32_t MAX_OWN_QUEUES = 1024;

/**
 * @ingroup lossless
 * @brief Chooses the next one of a class's own egress queues.
 *
 * It identifies queues by index, 0 .. n - 1, and is notified which are active: not empty and not
 * blocked. Select() may be called any number of times before a frame is sent, so it changes
 * nothing; NotifySent() does. Derive from it for another discipline: constant time per frame,
 * whatever the number of queues.
 */
class QueueScheduler
{
  public:
    /// Information about active queues.
    class Heads
    {
      public:
        virtual ~Heads() = default;
        /// Do the gates of the port allow a queue's head to be sent now?
        /// @param place index of the queue. @return true if so.
        virtual bool MayGo(uint32_t place) = 0;
        /// Size of a queue's head.
        /// @param place index of the queue. @return bytes.
        virtual uint32_t GetBytes(uint32_t place) const = 0;
    };

    static constexpr uint32_t NONE = UINT32_MAX; //!< no queue

    virtual ~QueueScheduler() = default;
    /// Initialise, with no active queue; called once.
    /// @param queues number of queues.
    virtual void Configure(uint32_t queues) = 0;
    /// A queue may be served from now on.
    /// @param place index of a queue that was not active.
    virtual void Activate(uint32_t place) = 0;
    /// A queue has become empty or was blocked.
    /// @param place index of a queue that was active.
    virtual void Deactivate(uint32_t place) = 0;
    /// Choose a queue.
    /// @param heads information about the active queues.
    /// @return index of one that may be served; NONE if none may.
    virtual uint32_t Select(Heads& heads) = 0;
    /// The head of a queue has started transmission; called before Deactivate if it was the last
    /// frame.
    /// @param place index of the queue, the last result of Select. @param bytes size of the frame.
    virtual void NotifySent(uint32_t place, uint32_t bytes);
};

/**
 * @ingroup lossless
 * @brief Strict priority, lowest index first.
 */
class StrictScheduler : public QueueScheduler
{
  public:
    void Configure(uint32_t queues) override;
    void Activate(uint32_t place) override;
    void Deactivate(uint32_t place) override;
    uint32_t Select(Heads& heads) override;

  private:
    std::vector<uint64_t> m_words; //!< bit p % 64 of word p / 64: queue p is active
    uint64_t m_summary{0};         //!< bit w: word w is not 0
};

/**
 * @ingroup lossless
 * @brief Round robin: one frame of each active queue in turn.
 */
class RoundRobinScheduler : public QueueScheduler
{
  public:
    void Configure(uint32_t queues) override;
    void Activate(uint32_t place) override;
    void Deactivate(uint32_t place) override;
    uint32_t Select(Heads& heads) override;
    void NotifySent(uint32_t place, uint32_t bytes) override;

  protected:
    /// Move the first queue of the ring to the end.
    void Rotate()
    {
        m_first = m_links[m_first].next;
    }

    /// Neighbours in the ring of active queues.
    struct Links
    {
        uint32_t next; //!< index of the next queue
        uint32_t last; //!< index of the previous queue
    };

    std::vector<Links> m_links; //!< by index
    uint32_t m_first{NONE};     //!< index of the next queue to serve, or NONE
    uint32_t m_active{0};       //!< number of queues in the ring
};

/**
 * @ingroup lossless
 * @brief Deficit round robin over the active queues (Shreedhar and Varghese, SIGCOMM 1995).
 *
 * In its turn a queue may send its remaining deficit plus a quantum; the deficit is reset when it
 * becomes empty, is blocked, or is passed over because a gate holds its head back. With a quantum
 * of at least the largest frame it takes constant time per frame.
 */
class DrrScheduler : public RoundRobinScheduler
{
  public:
    /// Constructor.
    /// @param quantum bytes per round, above 0.
    explicit DrrScheduler(uint32_t quantum);
    void Configure(uint32_t queues) override;
    void Deactivate(uint32_t place) override;
    uint32_t Select(Heads& heads) override;
    void NotifySent(uint32_t place, uint32_t bytes) override;

  private:
    uint32_t m_quantum;    //!< bytes per round
    bool m_granted{false}; //!< the first of the ring has received its quantum of this round
    std::vector<int64_t> m_deficit; //!< by index: remaining bytes
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_QUEUE_SCHEDULER_H */
