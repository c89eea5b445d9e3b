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

/// Most egress queues of its own that a class of a port can have.
inline constexpr uint32_t MAX_OWN_QUEUES = 1024;

/**
 * @ingroup lossless
 * @brief Which of a class's own egress queues goes next.
 *
 * It knows the queues by their place, 0 .. n - 1, and is told which are active: hold frames and are
 * not blocked. Select() may be asked any number of times before a frame goes, so it takes nothing
 * away; NotifySent() does. Derive from it for an order of your own: constant time a frame, however
 * many queues there are.
 */
class QueueScheduler
{
  public:
    /// What it may ask of active queues.
    class Heads
    {
      public:
        virtual ~Heads() = default;
        /// Do the gates of the port let a queue's head go now?
        /// @param place of the queue. @return true if so.
        virtual bool MayGo(uint32_t place) = 0;
        /// Size of a queue's head.
        /// @param place of the queue. @return bytes.
        virtual uint32_t GetBytes(uint32_t place) const = 0;
    };

    static constexpr uint32_t NONE = UINT32_MAX; //!< no queue

    virtual ~QueueScheduler() = default;
    /// Set it up, with no queue active; called once.
    /// @param queues how many there are.
    virtual void Configure(uint32_t queues) = 0;
    /// A queue may be served from now on.
    /// @param place of a queue that was not active.
    virtual void Activate(uint32_t place) = 0;
    /// A queue has run empty or was blocked.
    /// @param place of a queue that was active.
    virtual void Deactivate(uint32_t place) = 0;
    /// Choose.
    /// @param heads to ask of the active queues.
    /// @return place of one that may go; NONE if none may.
    virtual uint32_t Select(Heads& heads) = 0;
    /// The head of a queue has begun to go; called before Deactivate if it was the last.
    /// @param place of the queue, the one that Select named last. @param bytes its size.
    virtual void NotifySent(uint32_t place, uint32_t bytes);
};

/**
 * @ingroup lossless
 * @brief The lowest place first.
 */
class StrictScheduler : public QueueScheduler
{
  public:
    void Configure(uint32_t queues) override;
    void Activate(uint32_t place) override;
    void Deactivate(uint32_t place) override;
    uint32_t Select(Heads& heads) override;

  private:
    std::vector<uint64_t> m_words; //!< bit p % 64 of word p / 64: place p is active
    uint64_t m_summary{0};         //!< bit w: word w is not 0
};

/**
 * @ingroup lossless
 * @brief One frame of each active queue in turn.
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
    /// Put the first of the ring behind all others.
    void Rotate()
    {
        m_first = m_links[m_first].next;
    }

    /// Neighbours in the ring of active queues.
    struct Links
    {
        uint32_t next; //!< place behind it
        uint32_t last; //!< place before it
    };

    std::vector<Links> m_links; //!< by place
    uint32_t m_first{NONE};     //!< place whose turn it is, or NONE
    uint32_t m_active{0};       //!< queues in the ring
};

/**
 * @ingroup lossless
 * @brief Deficit round robin over the active queues (Shreedhar and Varghese, SIGCOMM 1995).
 *
 * In its turn a queue may send what it has left and a quantum more; what is left is lost when it
 * runs empty, is blocked, or is passed over because a gate holds its head back. With a quantum of
 * at least the largest frame it takes constant time a frame.
 */
class DrrScheduler : public RoundRobinScheduler
{
  public:
    /// Make one.
    /// @param quantum bytes a turn, above 0.
    explicit DrrScheduler(uint32_t quantum);
    void Configure(uint32_t queues) override;
    void Deactivate(uint32_t place) override;
    uint32_t Select(Heads& heads) override;
    void NotifySent(uint32_t place, uint32_t bytes) override;

  private:
    uint32_t m_quantum;             //!< bytes a turn
    bool m_granted{false};          //!< the first of the ring has its quantum of this turn
    std::vector<int64_t> m_deficit; //!< by place: bytes it may still send
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_QUEUE_SCHEDULER_H */
