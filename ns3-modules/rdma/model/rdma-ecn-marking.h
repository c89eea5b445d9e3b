/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_ECN_MARKING_H
#define RDMA_ECN_MARKING_H

#include "rdma-dcqcn.h"

#include "ns3/lossless-switch-agent.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief The switch's part of an end-to-end congestion control: RED on the instantaneous depth of
 * an egress queue, which marks and never drops.
 *
 * With q bytes in the egress queue that a data frame joins or leaves, it is marked with probability
 * 0 for q <= Kmin, Pmax (q - Kmin) / (Kmax - Kmin) up to Kmax, and 1 above. At enqueue q holds the
 * frame itself, at dequeue it does not. Only data frames that are capable of it (Frame::ecn 1) are
 * marked; they then carry 3. Random numbers come from a stream of the switch's own, so that what
 * one switch draws does not depend on another.
 */
class EcnMarking : public lossless::SwitchAgent
{
  public:
    /// When the depth is looked at and the frame is marked.
    enum class At
    {
        SET,     ///< as the parameter set says
        ENQUEUE, ///< the frame joins: its mark waits in the queue with it
        DEQUEUE, ///< the frame begins to go: its mark says how the queue is now
    };

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    EcnMarking();
    ~EcnMarking() override;

    uint32_t GetHooks() const override;
    void Start() override;
    std::string Check() const override;
    void NotifyEnqueue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void NotifyDequeue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief Kmin of a port, scaled.
     *
     * @param rate of the port in bit/s.
     * @return bytes.
     */
    int64_t GetKmin(uint64_t rate) const;
    /**
     * @brief Kmax of a port, scaled.
     *
     * @param rate of the port in bit/s.
     * @return bytes.
     */
    int64_t GetKmax(uint64_t rate) const;
    /**
     * @brief Probability at Kmax.
     *
     * @return 0 to 1.
     */
    double GetPmax() const;
    /**
     * @brief When frames are marked.
     *
     * @return ENQUEUE or DEQUEUE.
     */
    At GetAt() const;
    /**
     * @brief Frames marked so far.
     *
     * @return count.
     */
    uint64_t GetMarked() const;

    /**
     * @brief TracedCallback signature of marks.
     *
     * @param egress port.
     * @param frame the frame, marked.
     * @param depth bytes of its egress queue.
     */
    typedef void (*MarkCallback)(const lossless::Port& egress,
                                 const lossless::Frame& frame,
                                 int64_t depth);

  private:
    /// Thresholds of a port.
    struct Thresholds
    {
        int64_t kmin; //!< B
        int64_t kmax; //!< B
    };

    int64_t Threshold(int64_t given, int64_t DcqcnValues::* ofSet, uint64_t rate) const;
    void Look(lossless::Port& egress, uint16_t queue, lossless::Frame& frame);

    // Attributes
    DcqcnSet m_set;           //!< where values come from that are not given
    At m_at;                  //!< when to mark
    int64_t m_kmin;           //!< B; -1: of the set
    int64_t m_kmax;           //!< B; -1: of the set
    double m_pmax;            //!< 0 to 1; -1: of the set
    DcqcnScale m_scale;       //!< with the port's rate?
    DataRate m_referenceRate; //!< at which thresholds hold that scale

    std::vector<Thresholds> m_thresholds; //!< by egress port
    double m_mostLikely{0};               //!< Pmax in force
    bool m_atEnqueue{false};              //!< else at dequeue
    Ptr<UniformRandomVariable> m_random;  //!< in [0, 1)
    uint64_t m_marked{0};                 //!< frames
    TracedCallback<const lossless::Port&, const lossless::Frame&, int64_t> m_markTrace; //!< Mark
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_ECN_MARKING_H */
