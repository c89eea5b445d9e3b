/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_ORACLE_H
#define DEADLOCK_ORACLE_H

#include "deadlock-analyzer.h"
#include "deadlock-pause-history.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-port-observer.h"

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace ns3
{
namespace deadlock
{

/**
 * @ingroup deadlock
 * @brief Tracks at every moment whether queues of the network can never send again, since when, and
 * why: the ground truth that detectors are compared with. It never intervenes.
 *
 * Stuck queues are those that DeadlockAnalyzer finds. There can be a first one only when a class of
 * an egress port starts to be held back, when a frame joins a class that is held back, or when a
 * release on its way is revoked; and only when the held classes, each waiting for those of the next
 * switch that hold its frames, form a cycle or lead to a host that pauses forever. The oracle is
 * notified of these events, searches along held classes only, from the class concerned, and calls
 * DeadlockAnalyzer when a cycle closes and as long as there is one. The time of formation is thus
 * that of the event that made the deadlock certain, and a frame costs no more than testing a bit
 * when it joins or leaves a queue, and FeedMap in switches that pause.
 *
 * An *episode* of a cyclic deadlock belongs to a core (DeadlockAnalyzer::FindCores): it starts with
 * a core none of whose queues belongs to a current episode, owns these queues and those that join
 * them, and ends when none of them is in a core any more: frames were dropped, a link failed, or a
 * pause was ignored. Disjoint cycles thus have separate episodes. A host-rooted episode starts when
 * a first queue waits for a host that pauses forever, and ends when none does.
 *
 * *The causal chain* goes back in time from the pause that closed the cycle: a port pauses its peer
 * because of frames for one egress, that for which the ingress holds most bytes; if that egress
 * was held back then, its pause is the cause; otherwise, or at a host, the chain starts there: that
 * pause is the initial trigger. Schemes without pauses (credits) count as pausing when the peer
 * runs out of credit, because of the egress that holds most of the frames from the peer, preferably
 * one that is held back.
 */
class DeadlockOracle : public lossless::PortObserver
{
  public:
    /// Kinds of stuck queues.
    enum class Kind : uint8_t
    {
        CYCLIC, ///< queues that wait for each other
        HOST,   ///< queues that wait for a host that pauses forever
    };

    using Reason = PauseHistory::Reason; //!< why a port paused its peer
    using Pause = PauseHistory::Pause;   //!< a pause of a causal chain

    /// An interval in which a class of an egress port was held back, and its cause.
    struct Hold
    {
        DeadlockAnalyzer::Side side; //!< the class
        int64_t start;               //!< ps
        Pause pause;                 //!< the pause that held it back
        Pause root;                  //!< the first pause of the chain that led to it
        uint32_t depth;              //!< number of pauses before it in the chain
    };

    /// An interval in which queues were stuck.
    struct Episode
    {
        Kind kind{Kind::CYCLIC};                    //!< kind of the stuck queues
        int64_t formed{-1};                         //!< ps
        int64_t dissolved{-1};                      //!< ps; -1: never
        int64_t seen{-1};                           //!< first check that saw it (ps); -1: none yet
        std::vector<DeadlockAnalyzer::Queue> cycle; //!< at its formation; empty if host-rooted
        std::vector<int64_t> since; //!< when the pause of each of them was triggered (ps)
        std::vector<DeadlockAnalyzer::Queue>
            stuck;                //!< the cycle and what waits for it, at the last check
        std::vector<Pause> chain; //!< starting with the initial trigger
    };

    /// Observe a network. Precondition: its nodes are built.
    /// @param nodes all of its nodes, by number; they notify this oracle.
    explicit DeadlockOracle(const std::vector<Ptr<lossless::FabricNode>>& nodes);
    ~DeadlockOracle() override;
    /// Observe nothing from now on: nothing can deadlock.
    void Rest();
    /// What could hold queues back without a reason to pause the peer that is told first
    /// (NotifyPressure). @return the TypeId of such a flow control; empty: there is none.
    std::string FindUnannounced() const;
    /// Is nothing held back, and can nothing be before a pause of which this oracle is told from
    /// now on has crossed a link? Until then no order of events of different nodes matters to it.
    /// Precondition: FindUnannounced() is empty, and all nodes are at one time.
    /// @return true if so; a pause that is not announced aborts then.
    bool IsQuiet();
    DeadlockOracle(const DeadlockOracle&) = delete;
    DeadlockOracle& operator=(const DeadlockOracle&) = delete;

    void NotifyHeld(const lossless::Port& port, uint8_t cls) override;
    void NotifyFree(const lossless::Port& port, uint8_t cls) override;
    void NotifyJoined(const lossless::Port& port,
                      uint16_t queue,
                      const lossless::Frame& frame) override;
    void NotifyLeft(const lossless::Port& port, uint16_t queue) override;
    void NotifyPressure(const lossless::Port& ingress,
                        uint16_t egress,
                        uint8_t cls,
                        uint8_t leaves) override;
    void NotifyChange() override;

    /**
     * @brief Check now, as a periodic check does: stuck queues count as seen.
     *
     * It also finds deadlocks of schemes that do not report when they hold queues back, which the
     * events miss.
     */
    void Look();

    /// Report every hold that ends.
    /// @param tell function to be called with it.
    void TraceHolds(std::function<void(const Hold&)> tell);
    /// The run is over: report the holds that have not ended.
    void Finish();

    /// Are queues stuck now, as far as events tell?
    /// @param kind kind of stuck queues. @return true if so.
    bool IsActive(Kind kind) const;
    /// The cyclic deadlock that a class of an egress port is currently part of or waits behind; it
    /// is checked at once.
    /// @param node node. @param port egress port. @param cls class.
    /// @return index in GetEpisodes: the episode whose core it is in, else the first that it waits
    /// behind; -1: none.
    int64_t FindEpisode(uint32_t node, uint16_t port, uint8_t cls);

    /// All episodes. @return episodes in the order of their formation.
    const std::vector<Episode>& GetEpisodes() const
    {
        return m_episodes;
    }

    /// The number of calls of DeadlockAnalyzer. @return count.
    uint64_t CountEvaluations() const
    {
        return m_evaluations;
    }

    /// Episodes that only a periodic check found.
    /// @return count; above 0 the scheme does not report when it holds queues back.
    uint64_t CountMissed() const
    {
        return m_missed;
    }

  private:
    static constexpr uint32_t NONE = PauseHistory::NONE; //!< no pause

    /// A class of an egress port.
    struct SideState
    {
        uint64_t feeds{0};    //!< bit i mod 64: it may hold frames that arrived by port i
        std::size_t at{0};    //!< its index in m_sides
        uint32_t pause{NONE}; //!< pause that holds it back
        int64_t since{0};     //!< start of the hold (ps)
        uint32_t visit{0};    //!< number of the last search that visited it
        bool held{false};     //!< it is held back
        bool known{false};    //!< the search for a cycle through it has been made
        bool asked{false};    //!< a search for a cycle through it is due
        bool stuck{false};    //!< part of a stuck queue at the last check
        bool core{false};     //!< all of its queues are in the core of an episode
    };

    /// Egress of the frames behind a pause.
    struct Cause
    {
        uint16_t egress; //!< port; NO_PORT: the node itself is the cause
        uint8_t cls;     //!< egress class
    };

    /// A current cyclic episode.
    struct Open
    {
        std::size_t episode;                        //!< its index in m_episodes
        std::vector<DeadlockAnalyzer::Queue> owned; //!< queues of cores that belong to it
    };

    /// The egress port of a class.
    const lossless::Port& PortOf(const DeadlockAnalyzer::Side& side) const;
    /// What is known of a class.
    SideState& StateOf(uint32_t node, uint16_t port, uint8_t cls);
    /// Do frames of a class wait?
    bool HasFrames(const DeadlockAnalyzer::Side& side) const;
    /// May a held class hold frames that arrived by a port? False is certain.
    bool MayFeed(const DeadlockAnalyzer::Side& side, uint16_t ingress);
    /// Does the peer pause a class forever?
    static bool IsSilenced(const lossless::Port& port, uint8_t cls);
    /// Does a held class wait for itself, by way of held classes of no core?
    bool ClosesCircle(const DeadlockAnalyzer::Side& from);
    /// Is there any such class?
    bool HasCircle();
    /// Add to m_toDo those for which a class waits and that this search has not visited.
    void Search(const DeadlockAnalyzer::Side& side, bool free);
    /// Fill m_ahead: the touched classes, and all that they wait for.
    void FindAhead();
    /// An event may have made a class stuck: review it.
    void Touch(const DeadlockAnalyzer::Side& side);
    /// An event may have changed anything: review all classes.
    void TouchAll();
    /// The events of an instant have happened: what is stuck now?
    void Review();
    /// Let the analyzer look at some classes, and update episodes and marks.
    void Update(const std::vector<DeadlockAnalyzer::Side>& sides);
    /// Update the cyclic episodes.
    /// @return true if some began or ended, or cores have grown or shrunk.
    bool UpdateCyclic();
    /// Update the host-rooted episode. @return true if there is one.
    bool UpdateHost();
    /// A core without queues of an episode starts one.
    void Form(const DeadlockAnalyzer::Core& core);
    /// Set SideState::stuck, and Episode::stuck of current episodes.
    void MarkStuck();
    /// Set SideState::core.
    void MarkCores();
    /// Is there a current episode of either kind?
    bool IsAnyOpen() const;
    /// The pause that holds back the class of a queue.
    uint32_t PauseOf(const DeadlockAnalyzer::Queue& queue) const;
    /// The chain that led to the latest pause of some queues, which closed the cycle.
    std::vector<Pause> ChainOf(const std::vector<DeadlockAnalyzer::Queue>& queues) const;
    /// Bytes of an ingress and class that wait at an egress, by their class there.
    static std::array<int64_t, lossless::N_CLASSES> BytesAt(const lossless::Port& egress,
                                                            uint16_t ingress,
                                                            uint8_t cls);
    /// Of a pause: the egress for which its ingress holds most bytes.
    Cause LargestEgress(const lossless::Port& ingress, uint8_t cls, const Cause& arriving) const;
    /// Of a hold without a pause: the same, but one that is held back comes first.
    Cause FullestEgress(uint32_t node, uint16_t ingress, uint8_t cls);
    /// Report the hold of a class, which ends now.
    void TellHold(const DeadlockAnalyzer::Side& side) const;
    /// Add a pause by a port, now, to the history. @return its number, which nobody uses yet.
    uint32_t MakePause(uint32_t node, uint16_t port, uint8_t cls, const Cause& cause);

    std::vector<Ptr<lossless::FabricNode>> m_nodes; //!< the network
    DeadlockAnalyzer m_test;                        //!< decides
    std::vector<SideState> m_states;                //!< by place
    std::vector<uint32_t> m_pressure;               //!< by index of the ingress: its last pause
    std::vector<DeadlockAnalyzer::Side> m_sides;    //!< classes that are held back
    std::vector<DeadlockAnalyzer::Side> m_toDo;     //!< stack of a search
    std::vector<DeadlockAnalyzer::Side> m_touched;  //!< classes with events since the last review
    std::vector<DeadlockAnalyzer::Side> m_ahead;    //!< classes that they may wait for
    bool m_allTouched{false};                       //!< events anywhere
    bool m_pools{false};                            //!< OFF states depend on all queues of a node
    PauseHistory m_pauses;   //!< pauses of sides and ingresses, and their causes
    uint32_t m_visit{0};     //!< number of the last search
    bool m_circle{false};    //!< held classes, of no core, form a cycle
    bool m_reviewing{false}; //!< Review is scheduled
    bool m_marked{false};    //!< some side is marked as stuck
    bool m_announced{
        true}; //!< queues may be held back at any time: IsQuiet() has not been true since
    std::size_t m_cored{0};                      //!< number of queues in cores
    std::vector<DeadlockAnalyzer::Core> m_cores; //!< of the last evaluation
    std::vector<Open> m_open;                    //!< current cyclic episodes
    std::size_t m_host{0};                       //!< current host-rooted episode + 1, or 0
    std::vector<Episode> m_episodes;             //!< in the order of their formation
    uint64_t m_evaluations{0};                   //!< CountEvaluations
    uint64_t m_missed{0};                        //!< CountMissed
    std::mutex m_mutex; //!< cells that several threads run may announce pauses at one time
    std::function<void(const Hold&)> m_tellHold;      //!< may be empty
    lossless::ReusableEvent<DeadlockOracle> m_review; //!< Review
};

} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_ORACLE_H */
