/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFFC_PAUSED_QUEUES_H
#define PFFC_PAUSED_QUEUES_H

#include "pffc-message.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-table.h"
#include "ns3/nstime.h"

#include <array>
#include <cstddef>
#include <vector>

namespace ns3
{
namespace lossless
{
class Port;
struct Frame;
} // namespace lossless

namespace pffc
{

/**
 * @ingroup pffc
 * @brief The sender's side of PFFC: which paused egress queue (PEQ) the frames of a flow join, and
 * which queue of a class goes next. Pffc says by what rules.
 */
class PausedQueues
{
  public:
    PausedQueues();

    /// Begin.
    /// @param port whose queues. @param nPeqs PEQs of a class.
    /// @param refresh between repeats of what is said (Pffc's Refresh); 0: none.
    void Start(lossless::Port& port, uint32_t nPeqs, Time refresh);
    /// The link is down: forget what the peer has said.
    void Reset();
    /// Obey the peer; what another message overtook is ignored.
    /// @param message what it says.
    void Receive(const Message& message);

    /// As lossless::QueueSelector::SelectQueue.
    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const;
    /// As lossless::QueueSelector::NotifyJoined.
    void NotifyJoined(uint16_t queue, const lossless::Frame& frame);
    /// As lossless::Gate::NotifySent.
    void NotifySent(uint16_t queue, const lossless::Frame& frame);
    /// As lossless::OrderModel::WaitsFor.
    bool WaitsFor(uint16_t queue, const lossless::Frame& head, uint16_t other) const;

    /// Is a queue the one of its class that goes next?
    /// @param queue its number. @return true if so.
    bool IsNext(uint16_t queue) const;

    /// @return messages ignored.
    uint64_t GetOvertaken() const
    {
        return m_overtaken;
    }

    /// @return flows and pauses forgotten.
    uint64_t GetExpired() const
    {
        return m_expired;
    }

    /// @return most flows that were in PEQs at a time.
    std::size_t GetPeakFlows() const
    {
        return m_peakPlaces;
    }

    /// @return memory of the flows in PEQs (bytes).
    std::size_t GetBytes() const
    {
        return m_places.GetBytes();
    }

    /// @return how long PEQs were paused until now, added up (ps).
    int64_t GetPausedTime() const;

  private:
    /// What the sender's side knows of a flow that is not in the DEQ.
    struct Place
    {
        int64_t confirmed{0}; //!< when MIGRATE was last heard (ps)
        uint32_t held{0};     //!< its frames in PEQs
        uint8_t peq{0};       //!< that its frames join
        bool leaving{false};  //!< they join the DEQ as soon as `held` is 0
    };

    /// What the sender's side knows of a PEQ.
    struct Lane
    {
        uint64_t mark{0};    //!< Frame::order when a flow last came here from another queue
        uint64_t resumed{0}; //!< Frame::order when it was last resumed
        uint32_t behind{0};  //!< bit q: what queue q held at the mark goes first; q = 0: DEQ
        int64_t paused{-1};  //!< since when it is paused (ps); -1: it is not
    };

    const Lane& LaneOf(uint8_t cls, uint32_t peq) const;
    Lane& LaneOf(uint8_t cls, uint32_t peq);
    static uint16_t QueueNumber(uint8_t cls, uint32_t peq);
    uint32_t NextQueue(uint8_t cls) const;
    bool MayServe(uint8_t cls, uint32_t peq) const;
    bool AreEmpty(uint8_t cls) const;
    void SetState(const Message& message, int64_t now);
    void Migrate(uint8_t cls, uint32_t flow, uint8_t peq, int64_t now);
    void MigrateBack(uint8_t cls, uint32_t flow);
    void Forget(uint8_t cls, uint32_t flow);
    void Expire();
    void StartExpiry();
    void SetPaused(uint8_t cls, uint32_t peq, bool paused, int64_t now);

    lossless::Port* m_port{nullptr}; //!< whose queues
    uint32_t m_nPeqs{0};             //!< of a class
    Time m_refresh;                  //!< between repeats; 0: none

    lossless::FlowTable<Place> m_places;                  //!< by class, flow
    std::vector<Lane> m_lanes;                            //!< by class and PEQ
    std::array<uint32_t, lossless::N_CLASSES> m_placed{}; //!< entries of the class in m_places
    std::array<uint16_t, lossless::N_CLASSES> m_heard{};  //!< sequence number heard last
    std::array<int64_t, lossless::N_CLASSES> m_heardAt{}; //!< when PAUSE, RESUME was heard (ps)
    uint8_t m_heardClasses{0};                            //!< bit c: m_heard[c] is one
    bool m_expiring{false};                         //!< an occurrence of m_expiry is scheduled
    uint64_t m_overtaken{0};                        //!< messages ignored
    uint64_t m_expired{0};                          //!< flows and pauses forgotten
    int64_t m_pausedTime{0};                        //!< of ended pauses (ps)
    std::size_t m_peakPlaces{0};                    //!< most flows in PEQs
    lossless::ReusableEvent<PausedQueues> m_expiry; //!< forget what was not said again
};

} // namespace pffc
} // namespace ns3

#endif /* PFFC_PAUSED_QUEUES_H */
