/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_TRIGGER_CURE_H
#define DCFIT_TRIGGER_CURE_H

#include "dcfit-heavy-hitters.h"
#include "dcfit-pause-map.h"

#include "ns3/lossless-event.h"

#include <vector>

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief Acts on initial triggers at their switch, servers that pause and flows that are too heavy,
 * until they have been calm for some time.
 */
class TriggerCure
{
  public:
    /// Action on a server whose pauses are the initial trigger.
    enum class ServerCure
    {
        IGNORE, ///< its pauses are ignored
        LOSSY,  ///< frames for it use the lossy class
    };

    /// Parameters of the cure.
    struct Rules
    {
        ServerCure serverCure; //!< action on servers
        uint8_t lossyClass;    //!< for ServerCure::LOSSY
        uint32_t heavyEntries; //!< flows tracked per egress
        uint64_t limitRate;    //!< rate limit of a heavy flow (bit/s)
        uint32_t limitBurst;   //!< bytes
        uint32_t mostLimits;   //!< maximum number of limited flows
        int64_t restoration;   //!< time without cause until an action ends (ps); 0: never
    };

    TriggerCure();

    /// Initialise.
    /// @param node the switch. @param map its pauses. @param rules parameters.
    void Start(lossless::FabricNode& node, const PauseMap& map, const Rules& rules);
    /// Act on the server at a port, whose pauses are the initial trigger.
    /// @param port egress. @param cls class.
    void TreatServer(uint16_t port, uint8_t cls);
    /// Limit the heaviest flow of a port, which is the initial trigger.
    /// @param port egress.
    void TreatFlows(uint16_t port);
    /// Count a frame that has arrived, and apply the actions on its flow and its server.
    /// @param frame the frame; its class may change. @return false if it exceeds its flow's limit.
    bool Admit(lossless::Frame& frame);

    /// @return the number of triggers acted on so far.
    uint64_t GetHandled() const
    {
        return m_handled;
    }

    /// @return the number of these that are no longer acted on.
    uint64_t GetRestored() const
    {
        return m_restored;
    }

  private:
    /// A limited flow.
    struct Limit
    {
        uint32_t flow;   //!< its number
        int64_t tokens;  //!< bits x 1e12 that it may send now
        int64_t updated; //!< when tokens was updated (ps)
        int64_t dropped; //!< when it last exceeded its limit (ps)
    };

    /// A server at an egress, per class.
    struct Server
    {
        bool treated{false}; //!< it is acted on
        int64_t since{0};    //!< when there was last cause (ps)
    };

    Server& At(uint16_t port, uint8_t cls);
    void SpareServer(uint16_t port, uint8_t cls);
    void AwaitRestoration();
    void Restore();
    bool KeepsLimit(const lossless::Frame& frame);

    lossless::FabricNode* m_node{nullptr};          //!< the switch
    const PauseMap* m_map{nullptr};                 //!< its pauses
    Rules m_rules{};                                //!< parameters
    std::vector<HeavyHitters> m_heavy;              //!< by egress
    std::vector<Server> m_servers;                  //!< by class, port
    std::vector<Limit> m_limits;                    //!< limited flows
    bool m_restorePending{false};                   //!< an occurrence of m_restore is scheduled
    uint64_t m_handled{0};                          //!< GetHandled
    uint64_t m_restored{0};                         //!< GetRestored
    lossless::ReusableEvent<TriggerCure> m_restore; //!< ends actions without further cause
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_TRIGGER_CURE_H */
