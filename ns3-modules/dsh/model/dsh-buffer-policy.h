/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DSH_BUFFER_POLICY_H
#define DSH_BUFFER_POLICY_H

#include "ns3/lossless-buffer-policy.h"
#include "ns3/lossless-resume-heap.h"

#include <string>
#include <vector>

namespace ns3
{
namespace dsh
{

/**
 * @ingroup dsh
 * @brief DSH, dynamic and shared headroom (ICDCS 2023): one headroom per port instead of one per
 * queue.
 *
 * Each port has an insurance of one headroom eta for all its classes together; the rest of the
 * buffer is shared under a dynamic threshold T = alpha (Bs - sum w). A queue turns OFF at T - eta,
 * so that frames in flight fit below T. As T may shrink meanwhile, there is a second threshold for
 * the whole port: when its queues together hold more than Nq T, or the pool has no room for a
 * frame, all its Nq lossless classes turn OFF, and further frames are charged to the insurance. One
 * headroom is enough, since a link delivers at most one eta after a pause, whatever its classes.
 *
 * The thresholds and the insurance are recalled from notes on the paper, not read in the paper. The
 * following is ours, where the notes are silent:
 *
 * - The private part of a queue is Private or, if larger, what the flow controls of its port have
 *   promised to the upstream. eta is the headroom that they demand, of the class that needs most.
 * - A frame is charged as a whole when it arrives: to the private part if it fits there; else,
 *   while its port is ON, to the shared pool as long as the pool has room, below T or not; else to
 *   the insurance.
 * - A queue turns OFF with the shared frame that takes w above T - eta. It turns ON when w < T -
 *   eta - XonOffset, or w = 0.
 * - A port turns OFF with the frame that would take the shared bytes of its queues above Nq T, or
 *   for which the pool has no room; this frame is charged to the insurance. The port turns ON when
 *   the insurance is empty and they are below Nq T - PortXonOffset, or 0.
 * - The upstream is paused for a class while its queue or its port is OFF.
 */
class Dsh : public lossless::BufferPolicy
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Dsh();

    std::string Check() const override;
    int64_t GetHeadroom(uint16_t port, uint8_t cls) const override;
    int64_t GetOwn(uint16_t port, uint8_t cls) const override;
    bool StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const override;
    bool StaysOn(int64_t used, int64_t queue) const override;
    void Report(lossless::Summary& summary) const override;

    /// Is a port OFF as a whole?
    /// @param port ingress port. @return true if so.
    bool IsPortOff(uint16_t port) const;

  private:
    /// A port.
    struct PortState
    {
        int64_t eta{0};       //!< eta (B): distance of the queues' Xoff below T
        int64_t insurance{0}; //!< size of the insurance (B)
        int64_t shared{0};    //!< shared bytes of its queues (B)
        int64_t insured{0};   //!< bytes in the insurance (B)
        bool off{false};      //!< OFF as a whole
    };

    void DoConfigure(const std::vector<lossless::BufferDemand>& demands) override;
    bool DoAdmit(uint32_t queue, int64_t bytes) override;
    void DoRelease(uint32_t queue, int64_t shared, int64_t headroom) override;

    bool Insure(uint32_t queue, int64_t bytes);
    void Resume(uint32_t member);
    int64_t QueueLevel(int64_t shared, int64_t eta) const;
    int64_t PortLevel(int64_t shared, int64_t insured) const;
    int64_t LevelAbove(int64_t threshold) const;

    uint32_t PortMember(uint16_t port) const
    {
        return static_cast<uint32_t>(m_usage.size()) + port;
    }

    // Attributes
    int64_t m_private{0};       //!< phi (B)
    int64_t m_headroom{0};      //!< eta (B); 0: as demanded
    double m_alpha{0};          //!< alpha of T
    int64_t m_xonOffset{0};     //!< of a queue (B)
    int64_t m_portXonOffset{0}; //!< of a port (B)

    // State
    int64_t m_classes{0};          //!< Nq: lossless classes
    uint64_t m_alphaFixed{0};      //!< Fixed
    std::vector<PortState> m_port; //!< ports
    std::vector<int64_t> m_own;    //!< private parts, by Index (B)
    std::vector<bool> m_queueOff;  //!< by Index: the queue itself is OFF
    lossless::ResumeHeap m_off;    //!< OFF queues, followed by OFF ports
    uint64_t m_queueOffs{0};       //!< times a queue itself turned OFF
    uint64_t m_portOffs{0};        //!< times a port turned OFF
};

} // namespace dsh
} // namespace ns3

#endif /* DSH_BUFFER_POLICY_H */
