/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_PAUSE_MAP_H
#define DCFIT_PAUSE_MAP_H

#include "dcfit-message.h"

#include "ns3/deadlock-detection.h"
#include "ns3/lossless-fabric-node.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief A switch's state of the pauses on its ports and of the processes that follow them, and the
 * conclusions it draws with its FeedMap. It sends nothing.
 */
class PauseMap
{
  public:
    /// How a bit of the traffic map is cleared.
    enum class Clearing
    {
        COUNTERS, ///< when the last byte from that ingress has been sent: one counter per bit
        ROW,      ///< with all of its row when the egress becomes empty
    };

    /// Which message a port keeps.
    enum class Conflict
    {
        HIGHEST, ///< the one with precedence (Message::Precedes)
        NEWEST,  ///< the latest
    };

    /// What a consistency round checks at an ingress that waits for an egress.
    enum class Evidence
    {
        MAP,   ///< that it feeds the egress and pauses its upstream
        BYTES, ///< and that the frames waiting for egresses with the same message would keep it
               ///< from resuming
    };

    /// Rules of the conclusions.
    struct Rules
    {
        Clearing clearing; //!< of the traffic map
        Conflict conflict; //!< between messages
        Evidence evidence; //!< of a consistency round
    };

    /**
     * State of a (port, class); the comments give the bits of hardware.
     *
     * An ingress, from its PAUSE to its RESUME, and the process that it starts:
     *
     * @verbatim
     *   resumed --PAUSE sent--> pausing, of no process
     *                              | the cause is not paused (trigger), its message came by two
     *                              | ports (OFF_LOOP), or a check finds it waiting still (AGAIN)
     *                              v
     *                           own: its CHECK follows the pauses upstream
     *                              | CHECK is back, at an egress that the ingress feeds
     *                              v
     *                           loopAt: CONSISTENCY follows the same way, for each round
     *                              | the last round is back, and the ingress would stay OFF
     *                              v
     *                           declared
     * @endverbatim
     *
     * RESUME leads back to resumed from each of them. A new process of the ingress, with the next
     * sequence number, makes messages of the last one void.
     *
     * An egress keeps the message that came with a pause of its peer:
     *
     * @verbatim
     *   free --PAUSE--> paused, unknown --CHECK--> paused, known --CONSISTENCY--> checked
     * @endverbatim
     *
     * The peer's RESUME leads back to free, with `resumed` set: CONSISTENCY of that episode is
     * refuted from then on.
     */
    struct State
    {
        // As an egress
        Message info;        //!< last message received: 14 + 6 + sequence, + rank with Highest
        bool known{false};   //!< info belongs to the current pause: 1
        bool paused{false};  //!< paused by the peer: 1
        bool resumed{false}; //!< the RESUME tag r: 1
        uint8_t fresh{0};    //!< checks until info is old: 2
        uint8_t checked{0};  //!< rounds completed for info: 1; 2 if there are more
        // As an ingress
        bool pausing{false};  //!< it pauses the peer: 1
        uint8_t cause{0};     //!< egress behind the pause: 6
        uint16_t sequence{0}; //!< of the last process started here: sequence
        uint8_t rank{0};      //!< its rank: 4 with Highest
        bool own{false};      //!< that process belongs to the current pause: 1
        bool trigger{false};  //!< the egress was not paused: the initial trigger is here: 1
        deadlock::Detection::Way way{
            deadlock::Detection::Way::ON_LOOP}; //!< why it was started: 1 more, together with
                                                //!< trigger
        bool aged{false}; //!< the pause, and a process started here, has lasted beyond a check: 1
        bool declared{false}; //!< a deadlock was declared: 1
        // For the handling of triggers
        bool noticed{false}; //!< as an egress, the notice of its loop has passed it: 1
        int64_t pausedAt{0}; //!< when a PFC pause was last received (ps): 32
        // For results only
        int64_t begunAt{-1}; //!< when the process was started (ps)
        int64_t loopAt{-1};  //!< when its message returned (ps)
    };

    /// Initialise, with no pauses.
    /// @param node the switch. @param number its number in messages.
    /// @param hasDcfit by port: the neighbour has DCFIT. @param rules rules of the conclusions.
    void Start(const lossless::FabricNode& node,
               uint16_t number,
               std::vector<bool> hasDcfit,
               const Rules& rules);

    /// The state of a port and class.
    /// @param port port. @param cls class. @return the state.
    State& At(uint16_t port, uint8_t cls)
    {
        return m_state[static_cast<std::size_t>(cls) * m_ports + port];
    }

    /// Const overload.
    const State& At(uint16_t port, uint8_t cls) const
    {
        return m_state[static_cast<std::size_t>(cls) * m_ports + port];
    }

    /// Does the neighbour at a port have DCFIT?
    bool HasDcfit(uint16_t port) const
    {
        return m_hasDcfit[port];
    }

    /// Does an ingress feed an egress, according to the traffic map?
    bool Feeds(uint16_t egress, uint16_t ingress, uint8_t cls) const;
    /// Has a message of the same initiator also arrived by another port?
    bool IsMiddle(uint16_t port, uint8_t cls, const Message& message) const;
    /// Does an ingress feed an egress that is paused?
    bool WaitsForPaused(uint16_t ingress, uint8_t cls) const;
    /// Does an ingress feed an egress whose message is recent?
    bool FeedsRecentMessage(uint16_t ingress, uint8_t cls) const;
    /// Would an ingress remain paused if only frames that wait with a message were left?
    bool StaysOff(uint16_t ingress, uint8_t cls, const Message& message) const;
    /// The egress fed by an ingress whose message counts, or NO_PORT.
    uint16_t FindInfo(uint16_t ingress, uint8_t cls) const;
    /// The egress fed by an ingress by which a message has returned, or NO_PORT.
    uint16_t FindLoop(uint16_t ingress, uint8_t cls, const Message& message) const;
    /// The message that accompanies a PAUSE of an ingress; false: none.
    bool FindTag(uint16_t ingress, uint8_t cls, Message& message) const;
    /// The rank of a process that is started because of a message.
    uint8_t NextRank(const Message& message) const;
    /// The rank of a process that an ingress starts on its own.
    uint8_t RankAbove(uint16_t ingress, uint8_t cls) const;

    /// Keep a message received by a port, unless the stored one takes precedence.
    /// @param port egress. @param cls class. @param message the message.
    /// @param fresh it came with the first PAUSE. @return true if it is kept.
    bool Remember(uint16_t port, uint8_t cls, const Message& message, bool fresh);
    /// A check has passed: messages age.
    void Age();

  private:
    const lossless::FabricNode* m_node{nullptr}; //!< the switch
    uint16_t m_number{0};                        //!< its number in messages
    uint16_t m_ports{0};                         //!< its number of ports
    Rules m_rules{};                             //!< rules of the conclusions
    std::vector<State> m_state;                  //!< by class, port
    std::vector<bool> m_hasDcfit;                //!< by port: the neighbour has DCFIT
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_PAUSE_MAP_H */
