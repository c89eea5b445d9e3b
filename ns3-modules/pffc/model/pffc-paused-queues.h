/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFFC_PAUSED_QUEUES_H
#define PFFC_PAUSED_QUEUES_H

#include "pffc-message.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-flow-table.h"
#include "ns3/lossless-single-event.h"
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
 * which queue of a class is served next. The rules are described at Pffc.
 */
class PausedQueues
{
  public:
    PausedQueues();

    /// Initialise.
    /// @param port owner of the queues. @param nPeqs PEQs per class.
    /// @param refresh period at which the peer repeats its state (Pffc's Refresh); 0: never.
    void Start(lossless::Port& port, uint32_t nPeqs, Time refresh);
    /// The link is down: discard the peer's state.
    void Reset();
    /// Apply a message of the peer; one that arrives out of order is ignored.
    /// @param message the message.
    void Receive(const Message& message);

    /// As lossless::QueueSelector::SelectQueue.
    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const;
    /// As lossless::QueueSelector::NotifyJoined.
    void NotifyJoined(uint16_t queue, const lossless::Frame& frame);
    /// As lossless::Gate::NotifySent.
    void NotifySent(uint16_t queue, const lossless::Frame& frame);
    /// As lossless::OrderModel::WaitsFor.
    bool WaitsFor(uint16_t queue, const lossless::Frame& head, uint16_t other) const;

    /// Is a queue the next one of its class to be served?
    /// @param queue its number. @return true if so.
    bool IsNext(uint16_t queue) const;

    /// @return the number of messages ignored.
    uint64_t GetOvertaken() const
    {
        return m_overtaken;
    }

    /// @return the number of flows and pauses discarded.
    uint64_t GetExpired() const
    {
        return m_expired;
    }

    /// @return the largest number of flows in PEQs.
    std::size_t GetPeakFlows() const
    {
        return m_peakPlaces;
    }

    /// @return the memory used by flows in PEQs (bytes).
    std::size_t GetBytes() const
    {
        return m_places.GetBytes();
    }

    /// @return the total time that PEQs were paused so far (ps).
    int64_t GetPausedTime() const;

  private:
    /// The sender's side's state of a flow that is not in the DEQ.
    struct Place
    {
        int64_t confirmed{0}; //!< when MIGRATE was last received (ps)
        uint32_t held{0};     //!< its frames in PEQs
        uint8_t peq{0};       //!< PEQ that its frames join
        bool leaving{false};  //!< they join the DEQ as soon as `held` is 0
    };

    /// The sender's side's state of a PEQ.
    struct Lane
    {
        uint64_t mark{0};    //!< Frame::order when a flow last came here from another queue
        uint64_t resumed{0}; //!< Frame::order when it was last resumed
        uint32_t behind{0};  //!< bit q: frames of queue q up to the mark go first; q = 0: DEQ
        int64_t paused{-1};  //!< start of the current pause (ps); -1: not paused
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

    lossless::Port* m_port{nullptr}; //!< owner of the queues
    uint32_t m_nPeqs{0};             //!< PEQs per class
    Time m_refresh;                  //!< period of the peer's repeats; 0: none

    lossless::FlowTable<Place> m_places; //!< by class, flow
    std::vector<Lane> m_lanes;           //!< by class and PEQ
    std::array<uint32_t, lossless::N_CLASSES>
        m_placed{}; //!< number of entries of the class in m_places
    std::array<uint16_t, lossless::N_CLASSES> m_heard{}; //!< last sequence number received
    std::array<int64_t, lossless::N_CLASSES>
        m_heardAt{};                              //!< when PAUSE or RESUME was last received (ps)
    uint8_t m_heardClasses{0};                    //!< bit c: m_heard[c] is valid
    uint64_t m_overtaken{0};                      //!< messages ignored
    uint64_t m_expired{0};                        //!< flows and pauses discarded
    int64_t m_pausedTime{0};                      //!< total of pauses that ended (ps)
    std::size_t m_peakPlaces{0};                  //!< largest number of flows in PEQs
    lossless::SingleEvent<PausedQueues> m_expiry; //!< discards state that was not refreshed
};

} // namespace pffc
} // namespace ns3

#endif /* PFFC_PAUSED_QUEUES_H */
