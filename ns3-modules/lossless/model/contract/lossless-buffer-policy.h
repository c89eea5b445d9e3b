/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_BUFFER_POLICY_H
#define LOSSLESS_BUFFER_POLICY_H

#include "lossless-buffer-demand.h"
#include "lossless-flow-control.h"

#include "ns3/assert.h"
#include "ns3/lossless-constants.h"
#include "ns3/object.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class StateVisitor;

/**
 * @ingroup lossless
 * @brief Manages a node's packet buffer: decides which frames are admitted, and which upstreams are
 * to be paused.
 *
 * Arithmetic only: no events, no devices. This class has the parts common to all policies. A
 * lossless queue is an (ingress port, class); its bytes are charged to three segments, private,
 * shared and headroom. A policy decides their sizes (DoConfigure), the segment of an arriving frame
 * (DoAdmit), and which queues turn ON when bytes are released (DoRelease). Bytes are released from
 * headroom first, then shared, then private. A lossy queue is an (egress port, class) with a
 * dynamic threshold on the lossy pool.
 */
class BufferPolicy : public Object
{
  public:
    /// Result of an admission.
    enum class Verdict : uint8_t
    {
        ADMITTED,    ///< charged
        TURNED_OFF,  ///< charged, and queues turned OFF: TakeTurnedOff
        REFUSED,     ///< not charged: drop it
        REFUSED_OFF, ///< not charged, and queues turned OFF: even if a headroom cannot hold a
                     ///< single frame, the pause is needed
    };

    /// Bytes of one lossless queue.
    struct Usage
    {
        int64_t priv{0};     //!< in its private part
        int64_t shared{0};   //!< in the shared part (w)
        int64_t headroom{0}; //!< in its headroom
        bool off{false};     //!< OFF: its upstream is to be paused

        /// Total. @return bytes.
        int64_t Total() const
        {
            return priv + shared + headroom;
        }
    };

    /// Bytes that remain in a lossless queue.
    struct Rest
    {
        uint16_t port; //!< ingress port
        uint8_t cls;   //!< class
        int64_t bytes; //!< those of whole cells, at most its current ones
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Fix the geometry. Attributes are not read afterwards.
    /// @param demands demand of the flow controls of each port, one entry per port.
    void Configure(const std::vector<BufferDemand>& demands);
    /// The configured demand of the flow controls of a port.
    /// @param port ingress port. @return the demand.
    const BufferDemand& GetDemand(uint16_t port) const;

    /// Errors of the configuration. Precondition: configured.
    /// @return one problem per line; empty if none.
    virtual std::string Check() const;
    /// Room for frames that arrive after a queue has turned OFF.
    /// @param port ingress port. @param cls class. @return guaranteed bytes.
    virtual int64_t GetHeadroom(uint16_t port, uint8_t cls) const = 0;
    /// Room of a queue before it turns OFF, whatever the other queues hold.
    /// @param port ingress port. @param cls class. @return bytes; by default 0.
    virtual int64_t GetOwn(uint16_t port, uint8_t cls) const;
    /// The largest frame that a queue can take while all queues are empty. A frame is charged to
    /// one segment as a whole.
    /// @param port ingress port. @param cls class. @return bytes; by default the larger of GetOwn,
    /// GetHeadroom and the shared segment.
    virtual int64_t GetRoom(uint16_t port, uint8_t cls) const;

    /// A frame has arrived.
    /// @param ingress port by which it arrived. @param egress port by which it will leave.
    /// @param cls its class, 0..7. @param bytes its size. @return what was done with it.
    Verdict Admit(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes);
    /// An admitted frame has left. Afterwards get the queues that turned ON by TakeResumed().
    /// @param ingress port by which it arrived. @param egress port by which it left.
    /// @param cls its class, 0..7. @param bytes its size.
    void Release(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes);

    /// Get a queue that the last Admit turned OFF; each is returned once.
    /// @param port its port. @param cls its class. @return false if there is none.
    bool TakeTurnedOff(uint16_t& port, uint8_t& cls)
    {
        return Take(m_turnedOff, port, cls);
    }

    /// Get a queue that has turned ON; each is returned once.
    /// @param port its port. @param cls its class. @return false if there is none.
    bool TakeResumed(uint16_t& port, uint8_t& cls)
    {
        return Take(m_resumed, port, cls);
    }

    /**
     * @brief Would a queue that is OFF stay OFF if most bytes were released?
     *
     * Called by the deadlock analyzer. Precondition: releasing more bytes never turns false into
     * true.
     *
     * @param port its port.
     * @param cls its class.
     * @param rests all remaining lossless bytes, each queue once; queues not listed are empty.
     * @return true if so; false for a queue that is ON.
     */
    virtual bool StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const = 0;

    /// With all queues ON, would they stay so however much of this is admitted first?
    /// @param used most bytes of the buffer. @param queue most bytes of a queue.
    /// @return false, by default: it is not known.
    virtual bool StaysOn(int64_t used, int64_t queue) const;
    /// Visit the state: all queues are ON. @param visitor visitor.
    void Visit(StateVisitor& visitor) const;

    /// Raise the peaks of the total and of a lossless queue.
    /// @param used of the total (B). @param queue of the queue (B).
    void RaisePeaks(int64_t used, int64_t queue)
    {
        m_peak = std::max(m_peak, used);
        m_peakQueue = std::max(m_peakQueue, queue);
    }

    /// Is a class lossless?
    /// @param cls class. @return true if so.
    bool IsLossless(uint8_t cls) const
    {
        return (m_losslessClasses >> cls) & 1U;
    }

    /// @return the lossless classes: bit c is set for class c.
    uint32_t GetLosslessClasses() const
    {
        return m_losslessClasses;
    }

    /// Bytes of the buffer that a frame takes: those of whole cells.
    /// @param bytes its size. @return bytes.
    int64_t InCells(int64_t bytes) const
    {
        return m_cellSize > 1 ? (bytes + m_cellSize - 1) / m_cellSize * m_cellSize : bytes;
    }

    /// @return bytes of a cell; 1: frames take their bytes.
    int64_t GetCellSize() const
    {
        return m_cellSize;
    }

    /// Bytes of a lossless queue.
    /// @param port ingress port. @param cls class. @return usage.
    const Usage& GetUsage(uint16_t port, uint8_t cls) const
    {
        return m_usage[Index(port, cls)];
    }

    /// Bytes of a lossy queue.
    /// @param egress egress port. @param cls class. @return bytes.
    int64_t GetLossyBytes(uint16_t egress, uint8_t cls) const
    {
        return m_lossy[Index(egress, cls)];
    }

    /// Size of the shared segment, Bs.
    /// @return bytes; negative by the amount that the buffer is over-committed.
    int64_t GetSharedSize() const
    {
        return m_sharedSize;
    }

    /// The sum of w. @return bytes.
    int64_t GetSharedUsed() const
    {
        return m_sharedUsed;
    }

    /// Current total. @return bytes.
    int64_t GetUsed() const
    {
        return m_used;
    }

    /// Peak of the total. @return bytes.
    int64_t GetPeak() const
    {
        return m_peak;
    }

    /// Peak of any lossless queue. @return bytes.
    int64_t GetPeakQueue() const
    {
        return m_peakQueue;
    }

    /// Peak of any headroom. @return bytes.
    int64_t GetPeakHeadroom() const
    {
        return m_peakHeadroom;
    }

    /// Add to the summary of the run; by default the peaks over all nodes.
    /// @param summary values by name.
    virtual void Report(Summary& summary) const;

  protected:
    /// Fractional bits of alpha.
    static constexpr uint32_t ALPHA_SHIFT = 20;
    /// Largest buffer that the fixed-point thresholds represent exactly.
    static constexpr uint64_t MAX_BUFFER = 1ULL << 42;

    /// Size the policy's own segments, and Bs.
    /// @param demands see Configure.
    virtual void DoConfigure(const std::vector<BufferDemand>& demands) = 0;
    /// A frame of a lossless class has arrived: charge its bytes to a segment of its queue
    /// (ToPrivate, ToShared, ToHeadroom), or to none to refuse it; turn queues OFF (TurnOff).
    /// @param queue Index of its queue. @param bytes its size. @return false: refused.
    virtual bool DoAdmit(uint32_t queue, int64_t bytes) = 0;
    /// Bytes of a lossless queue have been released and are in no segment any more: turn queues ON
    /// (TurnOn), possibly others as well.
    /// @param queue its Index. @param shared bytes released from the shared segment.
    /// @param headroom bytes released from its headroom.
    virtual void DoRelease(uint32_t queue, int64_t shared, int64_t headroom) = 0;

    /// Index of a queue: port * 8 + class.
    /// @param port port. @param cls class. @return number.
    static uint32_t Index(uint16_t port, uint8_t cls)
    {
        return static_cast<uint32_t>(port) * N_CLASSES + cls;
    }

    /// Charge bytes to the private part.
    /// @param queue Index. @param bytes bytes.
    void ToPrivate(uint32_t queue, int64_t bytes)
    {
        m_usage[queue].priv += bytes;
    }

    /// Charge bytes to the shared part.
    /// @param queue Index. @param bytes bytes.
    void ToShared(uint32_t queue, int64_t bytes)
    {
        m_usage[queue].shared += bytes;
        m_sharedUsed += bytes;
    }

    /// Charge bytes to the headroom.
    /// @param queue Index. @param bytes bytes.
    void ToHeadroom(uint32_t queue, int64_t bytes)
    {
        m_usage[queue].headroom += bytes;
        m_headroomUsed += bytes;
    }

    /// Turn a queue OFF.
    /// @param queue Index of a queue that is ON.
    void TurnOff(uint32_t queue)
    {
        m_usage[queue].off = true;
        m_turnedOff.push_back(queue);
    }

    /// Turn a queue ON.
    /// @param queue Index of a queue that is OFF.
    void TurnOn(uint32_t queue)
    {
        m_usage[queue].off = false;
        m_resumed.push_back(queue);
    }

    /// Describe the demands on an over-committed buffer. Precondition: configured.
    /// @param missing shortage of the buffer in bytes.
    /// @return the largest demands with their formulas, and the maximum that could be promised.
    std::string DescribeDemands(int64_t missing) const;

    /// The usage of a queue after a partial release.
    /// @param rest remaining bytes. @return its usage then, OFF if it is OFF now.
    Usage Shrink(const Rest& rest) const;

    /// Alpha as a fixed-point number with 20 fractional bits.
    /// @param alpha alpha. @return fixed-point.
    static uint64_t Fixed(double alpha);

    /// The dynamic threshold T = floor(alpha free); 0 for a pool that is over its size.
    /// @param alpha fixed-point. @param free bytes. @return bytes.
    static int64_t Threshold(uint64_t alpha, int64_t free)
    {
        return free <= 0 ? 0
                         : static_cast<int64_t>(
                               (static_cast<Uint128>(alpha) * static_cast<uint64_t>(free)) >>
                               ALPHA_SHIFT);
    }

    /// The inverse: free bytes needed for a threshold.
    /// @param alpha fixed-point. @param threshold bytes.
    /// @return bytes, the least with Threshold(alpha, free) >= threshold.
    static int64_t FreeFor(uint64_t alpha, int64_t threshold);

    // Attributes
    int64_t m_size{0};      //!< whole buffer (B)
    int64_t m_cellSize{1};  //!< what frames take is a multiple of this (B)
    int64_t m_lossyPool{0}; //!< lossy pool (B)

    // State
    std::vector<Usage> m_usage; //!< by Index
    int64_t m_sharedSize{0};    //!< Bs; DoConfigure sets it
    int64_t m_sharedUsed{0};    //!< sum w
    int64_t m_headroomUsed{0};  //!< bytes in all headrooms
    int64_t m_peakHeadroom{0};  //!< most bytes in one headroom, as defined by the policy

  private:
    static bool Take(std::vector<uint32_t>& queues, uint16_t& port, uint8_t& cls)
    {
        if (queues.empty())
        {
            return false;
        }
        port = static_cast<uint16_t>(queues.back() / N_CLASSES);
        cls = static_cast<uint8_t>(queues.back() % N_CLASSES);
        queues.pop_back();
        return true;
    }

    bool AdmitLossy(uint32_t queue, int64_t bytes);

    std::vector<BufferDemand> m_demands; //!< by port
    uint32_t m_losslessClasses{0};       //!< bit c: class c is lossless
    double m_lossyAlpha{0};              //!< alpha of the lossy pool
    uint64_t m_lossyAlphaFixed{0};       //!< Fixed
    std::vector<int64_t> m_lossy;        //!< per (egress port, class)
    int64_t m_lossyUsed{0};              //!< bytes in the lossy pool
    int64_t m_used{0};                   //!< total bytes
    int64_t m_peak{0};                   //!< peak of the total (B)
    int64_t m_peakQueue{0};              //!< peak of one lossless queue (B)
    std::vector<uint32_t> m_turnedOff;   //!< turned OFF by the last Admit, and not taken yet
    std::vector<uint32_t> m_resumed;     //!< queues that turned ON, and not taken yet
};

// Called for every frame at every hop, so inline

inline BufferPolicy::Verdict
BufferPolicy::Admit(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes)
{
    bytes = InCells(bytes);
    if (!IsLossless(cls))
    {
        if (!AdmitLossy(Index(egress, cls), bytes))
        {
            return Verdict::REFUSED;
        }
        m_used += bytes;
        m_peak = std::max(m_peak, m_used);
        return Verdict::ADMITTED;
    }
    m_turnedOff.clear();
    const uint32_t queue = Index(ingress, cls);
    if (!DoAdmit(queue, bytes))
    {
        return m_turnedOff.empty() ? Verdict::REFUSED : Verdict::REFUSED_OFF;
    }
    m_used += bytes;
    m_peak = std::max(m_peak, m_used);
    m_peakQueue = std::max(m_peakQueue, m_usage[queue].Total());
    return m_turnedOff.empty() ? Verdict::ADMITTED : Verdict::TURNED_OFF;
}

inline void
BufferPolicy::Release(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes)
{
    bytes = InCells(bytes);
    m_used -= bytes;
    if (!IsLossless(cls))
    {
        m_lossy[Index(egress, cls)] -= bytes;
        m_lossyUsed -= bytes;
        NS_ASSERT_MSG(m_lossyUsed >= 0, "more lossy bytes released than admitted");
        return;
    }
    const uint32_t queue = Index(ingress, cls);
    Usage& usage = m_usage[queue];
    const int64_t fromHeadroom = std::min(bytes, usage.headroom);
    usage.headroom -= fromHeadroom;
    m_headroomUsed -= fromHeadroom;
    const int64_t fromShared = std::min(bytes - fromHeadroom, usage.shared);
    usage.shared -= fromShared;
    m_sharedUsed -= fromShared;
    usage.priv -= bytes - fromHeadroom - fromShared;
    NS_ASSERT_MSG(usage.priv >= 0, "more bytes released than admitted on port " << ingress);
    DoRelease(queue, fromShared, fromHeadroom);
}

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_BUFFER_POLICY_H */
