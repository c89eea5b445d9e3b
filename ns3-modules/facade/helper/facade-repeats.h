/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_REPEATS_H
#define FACADE_REPEATS_H

#include "facade-repeat-tape.h"
#include "facade-traffic.h"

#include "ns3/deadlock-monitor.h"
#include "ns3/lossless-state-visitor.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Finds when all that a network does repeats itself exactly, and skips whole periods of it.
 *
 * @verbatim
 *    WAITING ----> LISTENING ------> PROVING --------> jump, then WAITING
 *       ^   a busy     |  a period of   |  the state recurs, no tie decides, nothing ends
 *       |   host       |  its arrivals  |
 *       +--------------+----------------+  else: wait, twice as long each time
 * @endverbatim
 *
 * It looks at the network as a global event, which is no event of the run, when all cells have come
 * to its time. Arrivals at one host suggest a period; the whole state, written down by StateVisitor
 * before and after it, proves it, with what RepeatTape says of ties. Then the state moves by as
 * many periods as fit before the next event that is none of the path, and before the last packet of
 * any message.
 */
class Repeats
{
  public:
    /// What is done with a period that is proven.
    enum class Mode
    {
        OFF,    ///< nothing is looked for
        VERIFY, ///< what a jump would lead to is compared with what is simulated
        ON,     ///< jump
    };

    /// Constructor. @param fabric the network. @param traffic its flows. @param deadlocks its
    /// monitor. @param mode see Mode.
    Repeats(lossless::Fabric& fabric,
            Traffic& traffic,
            const deadlock::DeadlockMonitor& deadlocks,
            Mode mode);
    /// Begin to look. At the first run, when cells have been chosen.
    void Begin();
    /// @return what was skipped, and what was not, why: one line each.
    std::string Describe() const;

  private:
    /// What the next look is for.
    enum class Phase
    {
        WAITING,   ///< whether there is something to listen to
        LISTENING, ///< whether arrivals have a period
        PROVING,   ///< whether the state has
        VERIFYING, ///< whether it is as predicted
    };

    /// A frame that arrived where it listens.
    struct Arrival
    {
        int64_t time;   //!< ps
        uint64_t frame; //!< its flow, kind and size
    };

    void Look();
    void LookAt(int64_t time, Phase phase);
    void Wait(int64_t now);
    void Listen(bool on);
    void Hearken(int64_t now);
    void StartProof(int64_t now, int64_t period);
    void Prove(int64_t now);
    void Verify(int64_t now);
    void Use(int64_t now);
    void Fail(int64_t now, const std::string& why);
    bool IsSpent(int64_t now);
    void Visit(lossless::StateVisitor& visitor, int64_t now);
    bool IsIdle() const;
    void Hear(const lossless::Port& port, const lossless::Frame& frame);
    int64_t FindPeriod() const;
    void TakeState(lossless::State& state, int64_t now);
    void Jump(int64_t periods);
    rdma::QueuePair* FindBusiest(int64_t now);
    int64_t FindEnd(int64_t now) const;
    int64_t CountEvents() const;

    lossless::Fabric& m_fabric;                                //!< network
    Traffic& m_traffic;                                        //!< its flows
    const deadlock::DeadlockMonitor& m_deadlocks;              //!< its monitor
    Mode m_mode;                                               //!< see Mode
    RepeatTape m_tape;                                         //!< of a period
    lossless::ReusableEvent<Repeats> m_look;                   //!< Look
    Phase m_phase{Phase::WAITING};                             //!< of the next look
    std::unordered_set<const eventloop::Occurrence*> m_events; //!< of the path
    std::unordered_set<const eventloop::Occurrence*> m_checks; //!< of deadlocks
    lossless::Port* m_ear{nullptr};                            //!< port that it listens to
    std::vector<rdma::QueuePair*> m_carrying;                  //!< with frames, and not done
    std::map<lossless::Port*, std::vector<Arrival>> m_heard;   //!< by port of a host
    int64_t m_unit{0};                                         //!< time of a frame there (ps)
    uint64_t m_messages{0};                                    //!< changes as they start and end
    int64_t m_changed{0};                                      //!< when it did so (ps)
    uint32_t m_vain{0};                                        //!< failures in a row
    int64_t m_cost{0};                                         //!< of all, in events
    int64_t m_looked{0};                                       //!< when it looked last (ps)
    int64_t m_happened{0};                                     //!< events until then
    int64_t m_period{0};                                       //!< the last one heard (ps)
    bool m_guessed{false};                                     //!< it is that of an earlier proof
    int64_t m_longer{0};                                       //!< the shortest to be found (ps)
    uint32_t m_untilLonger{0};                                 //!< skips before it is looked for
    uint32_t m_vainLonger{0};                                  //!< failures of that in a row
    lossless::State m_before;                                  //!< at the start of a proof
    lossless::State m_proven;                                  //!< at the end of the last proof
    lossless::Growth m_growth;                                 //!< of a period
    int64_t m_executed{0};                                     //!< events of a period
    lossless::State m_expected;                                //!< VERIFYING
    std::vector<RepeatTape::Peaks> m_peaks;                    //!< VERIFYING
    int64_t m_skipped{0};                                      //!< time (ps)
    uint64_t m_jumps{0};                                       //!< number
    std::map<std::string, uint64_t> m_reasons;                 //!< failures by reason
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_REPEATS_H */
