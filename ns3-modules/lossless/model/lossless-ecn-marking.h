/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_ECN_MARKING_H
#define LOSSLESS_ECN_MARKING_H

#include "ns3/data-rate.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The switch's part of an end-to-end congestion control: RED on the instantaneous length of
 * an egress queue, marking only, never dropping.
 *
 * With q bytes in the egress queue that a data frame joins or leaves, it is marked with probability
 * 0 for q <= Kmin, Pmax (q - Kmin) / (Kmax - Kmin) up to Kmax, and 1 above. At enqueue q includes
 * the frame itself, at dequeue it does not. Only ECN-capable data frames (Frame::ecn 1) are marked,
 * by setting the field to 3. Each switch has its own random stream, so that the draws of switches
 * are independent.
 */
class EcnMarking : public SwitchAgent, public QueueAgent, public RestingAgent
{
  public:
    /// When the queue length is read and the frame is marked.
    enum class At
    {
        ENQUEUE, ///< the frame joins: its mark waits in the queue with it
        DEQUEUE, ///< the frame starts transmission: its mark reflects the current queue
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    EcnMarking();
    ~EcnMarking() override;

    /// Use a given random stream instead of the default one of this node. Precondition: not
    /// started.
    /// @param stream its number. @return number of streams used: 1.
    int64_t AssignStreams(int64_t stream);

    void Start() override;
    std::string Check() const override;
    void NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame) override;
    void NotifyDequeue(Port& egress, uint16_t queue, Frame& frame) override;
    int64_t GetRestingDepth(uint16_t port) const override;
    void Report(Summary& summary) const override;

    /// When frames are marked. @return ENQUEUE or DEQUEUE.
    At GetAt() const;
    /// Frames marked so far. @return count.
    uint64_t GetMarked() const;

    /// TracedCallback signature of marks.
    /// @param egress port. @param frame the marked frame. @param depth bytes of its egress queue.
    typedef void (*MarkCallback)(const Port& egress, const Frame& frame, int64_t depth);

  private:
    /// Thresholds of a port.
    struct Thresholds
    {
        int64_t kmin; //!< B
        int64_t kmax; //!< B
    };

    Thresholds GetThresholds(const Port& egress) const;
    void Look(Port& egress, uint16_t queue, Frame& frame);

    // Attributes
    At m_at;                  //!< when to mark
    int64_t m_kmin;           //!< B
    int64_t m_kmax;           //!< B
    double m_pmax;            //!< 0 to 1
    DataRate m_referenceRate; //!< port rate for which the thresholds are given; 0: any

    int64_t m_stream{-1};                                           //!< of m_random; -1: by node
    std::vector<Thresholds> m_thresholds;                           //!< by egress port
    Ptr<UniformRandomVariable> m_random;                            //!< in [0, 1)
    uint64_t m_marked{0};                                           //!< marked frames
    TracedCallback<const Port&, const Frame&, int64_t> m_markTrace; //!< Mark
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_ECN_MARKING_H */
