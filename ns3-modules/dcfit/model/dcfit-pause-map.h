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
 * @brief What a switch knows of the pauses on its ports and of the processes that follow them, and
 * what it concludes with its FeedMap. It sends nothing.
 */
class PauseMap
{
  public:
    /// How a bit of the traffic map is cleared.
    enum class Clearing
    {
        COUNTERS, ///< when the last byte from that ingress has gone: a counter a bit
        ROW,      ///< with all of its row when the egress runs empty
    };

    /// Which message a port remembers.
    enum class Conflict
    {
        HIGHEST, ///< the one that precedes the others (Message::Precedes)
        NEWEST,  ///< the last
    };

    /// What a consistency round asks of an ingress that waits for an egress.
    enum class Evidence
    {
        MAP,   ///< that it feeds the egress and pauses its upstream
        BYTES, ///< and that what waits for egresses with the same message keeps it from resuming
    };

    /// How it concludes.
    struct Rules
    {
        Clearing clearing; //!< of the traffic map
        Conflict conflict; //!< between messages
        Evidence evidence; //!< of a consistency round
    };

    /// What is kept of a (port, class); the comment gives the bits of hardware.
    struct State
    {
        // As an egress
        Message info;        //!< what was last received: 14 + 6 + sequence, + rank with Highest
        bool known{false};   //!< info is of the present pause: 1
        bool paused{false};  //!< by the peer: 1
        bool resumed{false}; //!< the RESUME tag r: 1
        uint8_t fresh{0};    //!< looks until info is old: 2
        uint8_t checked{0};  //!< rounds that have passed for info: 1; 2 if there are more
        // As an ingress
        bool pausing{false};  //!< the peer: 1
        uint8_t cause{0};     //!< egress behind the pause: 6
        uint16_t sequence{0}; //!< of the last process begun here: sequence
        uint8_t rank{0};      //!< its rank: 4 with Highest
        bool own{false};      //!< that process stands for the present pause: 1
        bool trigger{false};  //!< the egress was not paused: the initial trigger is here: 1
        Detection::Way way{
            Detection::Way::ON_LOOP}; //!< why it was begun: 1 more, together with trigger
        bool aged{false};     //!< the pause, and a process begun here, has outlasted a look: 1
        bool declared{false}; //!< a deadlock was declared: 1
        // For the handling of triggers
        bool noticed{false}; //!< as an egress, its loop's notice has gone by it: 1
        int64_t heard{0};    //!< when a PFC pause last came (ps): 32
        // For results only
        int64_t begun{-1};  //!< when the process was begun (ps)
        int64_t looped{-1}; //!< when its message came back (ps)
    };

    /// Begin, with nothing known.
    /// @param node the switch. @param number its number in messages.
    /// @param speaks by port: the neighbour has DCFIT. @param rules how to conclude.
    void Start(const lossless::FabricNode& node,
               uint16_t number,
               std::vector<bool> speaks,
               const Rules& rules);

    /// What is kept of a port and class.
    /// @param port port. @param cls class. @return it.
    State& At(uint16_t port, uint8_t cls)
    {
        return m_state[static_cast<std::size_t>(cls) * m_ports + port];
    }

    /// As the other.
    const State& At(uint16_t port, uint8_t cls) const
    {
        return m_state[static_cast<std::size_t>(cls) * m_ports + port];
    }

    /// Has the neighbour at a port DCFIT?
    bool Speaks(uint16_t port) const
    {
        return m_speaks[port];
    }

    /// Does an ingress feed an egress, as far as the traffic map tells?
    bool Feeds(uint16_t egress, uint16_t ingress, uint8_t cls) const;
    /// Has a message of the same initiator come by another port, too?
    bool IsMiddle(uint16_t port, uint8_t cls, const Message& message) const;
    /// Does an ingress feed an egress that is paused?
    bool WaitsForPaused(uint16_t ingress, uint8_t cls) const;
    /// Does an ingress feed an egress whose message is young?
    bool HearsOthers(uint16_t ingress, uint8_t cls) const;
    /// Would an ingress go on pausing if all had gone but what waits with a message?
    bool StaysOff(uint16_t ingress, uint8_t cls, const Message& message) const;
    /// The egress that an ingress feeds whose message counts, or NO_PORT.
    uint16_t FindInfo(uint16_t ingress, uint8_t cls) const;
    /// The egress that an ingress feeds and by which a message has come back, or NO_PORT.
    uint16_t FindLoop(uint16_t ingress, uint8_t cls, const Message& message) const;
    /// The message that goes with a PAUSE of an ingress; false: none.
    bool FindTag(uint16_t ingress, uint8_t cls, Message& message) const;
    /// The rank of a process that is begun because of a message.
    uint8_t NextRank(const Message& message) const;
    /// The rank of a process that an ingress begins by itself.
    uint8_t RankAbove(uint16_t ingress, uint8_t cls) const;

    /// Remember a message that came by a port, unless the one that is there counts more.
    /// @param port egress. @param cls class. @param message it.
    /// @param fresh it came with the first PAUSE. @return true if it is remembered.
    bool Remember(uint16_t port, uint8_t cls, const Message& message, bool fresh);
    /// A look has passed: messages are older.
    void Age();

  private:
    const lossless::FabricNode* m_node{nullptr}; //!< the switch
    uint16_t m_number{0};                        //!< of it, in messages
    uint16_t m_ports{0};                         //!< of it
    Rules m_rules{};                             //!< how to conclude
    std::vector<State> m_state;                  //!< by class, port
    std::vector<bool> m_speaks;                  //!< by port: the neighbour has DCFIT
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_PAUSE_MAP_H */
