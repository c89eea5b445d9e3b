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
 * @brief Treats initial triggers at their switch, servers that pause and flows that are too heavy,
 * until they have been calm for some time.
 */
class TriggerCure
{
  public:
    /// What is done about pauses of a server that are the initial trigger.
    enum class ServerCure
    {
        IGNORE, ///< they are not obeyed any more
        LOSSY,  ///< frames for it go in the lossy class
    };

    /// What is done, and for how long.
    struct Rules
    {
        ServerCure serverCure; //!< what is done about servers
        uint8_t lossyClass;    //!< for ServerCure::LOSSY
        uint32_t heavyEntries; //!< flows counted an egress
        uint64_t limitRate;    //!< of a heavy flow (bit/s)
        uint32_t limitBurst;   //!< bytes
        uint32_t mostLimits;   //!< flows that are limited at a time
        int64_t restoration;   //!< until what is calm is treated no longer (ps); 0: never
    };

    TriggerCure();

    /// Begin.
    /// @param node the switch. @param map its pauses. @param rules what to do.
    void Start(lossless::FabricNode& node, const PauseMap& map, const Rules& rules);
    /// Treat the server at a port, whose pauses are the initial trigger.
    /// @param port egress. @param cls class.
    void TreatServer(uint16_t port, uint8_t cls);
    /// Limit the heaviest flow of a port, which is the initial trigger.
    /// @param port egress.
    void TreatFlows(uint16_t port);
    /// Count a frame that has arrived, and apply what is done about its flow and its server.
    /// @param frame it; its class may change. @return false if it is above the limit of its flow.
    bool Admit(lossless::Frame& frame);

    /// @return triggers treated so far.
    uint64_t GetHandled() const
    {
        return m_handled;
    }

    /// @return of them, those that are treated no longer.
    uint64_t GetRestored() const
    {
        return m_restored;
    }

  private:
    /// A flow that is limited.
    struct Limit
    {
        uint32_t flow;   //!< its number
        int64_t tokens;  //!< bits x 1e12 it may send now
        int64_t updated; //!< when tokens was right (ps)
        int64_t dropped; //!< when it last sent too much (ps)
    };

    /// A server at an egress, one class.
    struct Server
    {
        bool treated{false}; //!< it is
        int64_t since{0};    //!< when it last was to be (ps)
    };

    Server& At(uint16_t port, uint8_t cls);
    void SpareServer(uint16_t port, uint8_t cls);
    void AwaitRestoration();
    void Restore();
    bool KeepsLimit(const lossless::Frame& frame);

    lossless::FabricNode* m_node{nullptr};          //!< the switch
    const PauseMap* m_map{nullptr};                 //!< its pauses
    Rules m_rules{};                                //!< what to do
    std::vector<HeavyHitters> m_heavy;              //!< by egress
    std::vector<Server> m_servers;                  //!< by class, port
    std::vector<Limit> m_limits;                    //!< flows that are limited
    bool m_restorePending{false};                   //!< an occurrence of m_restore is scheduled
    uint64_t m_handled{0};                          //!< GetHandled
    uint64_t m_restored{0};                         //!< GetRestored
    lossless::ReusableEvent<TriggerCure> m_restore; //!< look for what need not be treated any more
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_TRIGGER_CURE_H */
