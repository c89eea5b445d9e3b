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

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup deadlock
 * @brief Knows at every moment whether queues of the network can never send again, since when, and
 * why: the truth that detectors are compared with. It acts on nothing.
 *
 * What is stuck is what DeadlockAnalyzer finds. That set can only become non-empty when a class of
 * an egress port begins to be held back, when a frame joins one that is held back, or when a
 * release that was under way is revoked; and only when the held classes, each waiting for those of
 * the next switch that hold its frames, wait in a circle or for a host that pauses without an end.
 * The oracle is told of those events, searches from the class concerned along the held ones only,
 * and lets DeadlockAnalyzer decide when a circle closes and as long as there is one. So the time of
 * formation is that of the event that made the deadlock certain, and a frame costs nothing but the
 * look at one bit when it joins or leaves a queue.
 *
 * An *episode* of a cyclic deadlock is that of a core (DeadlockAnalyzer::FindCores): it begins when
 * a core is there of whose queues none belongs to an episode that lasts, owns them and those that
 * join them, and ends when none of them is in a core any more: frames were dropped, a link failed,
 * or a pause was ignored. So disjoint cycles have episodes of their own. A host-rooted episode
 * begins when something waits for a host where nothing did, and ends when nothing does.
 *
 * *The causal chain* goes back in time from the pause that closed the circle: a port pauses its
 * peer because of frames for one egress (that of the frame that was too much); if that egress was
 * held back then, its pause is the cause; else, or at a host, the chain begins there: that pause is
 * the initial trigger. Schemes without pauses (credits) are held to pause when the peer runs out,
 * because of the egress that holds most of what came from it, before all one that is held back.
 */
class DeadlockOracle : public PortObserver
{
  public:
    /// What is stuck.
    enum class Kind : uint8_t
    {
        CYCLIC, ///< queues that wait for each other
        HOST,   ///< queues that wait for a host that pauses without an end
    };

    using Reason = PauseHistory::Reason; //!< why a port paused its peer
    using Pause = PauseHistory::Pause;   //!< a pause of a causal chain

    /// A time in which a class of an egress port was held back, and what for.
    struct Hold
    {
        DeadlockAnalyzer::Side side; //!< which
        int64_t start;               //!< ps
        Pause pause;                 //!< that held it back
        Pause root;                  //!< the first of the pauses that led to it
        uint32_t depth;              //!< how many lie before it
    };

    /// A time in which something was stuck.
    struct Episode
    {
        Kind kind{Kind::CYCLIC};                    //!< of what was stuck
        int64_t formed{-1};                         //!< ps
        int64_t dissolved{-1};                      //!< ps; -1: not
        int64_t seen{-1};                           //!< first look at it (ps); -1: none yet
        std::vector<DeadlockAnalyzer::Queue> cycle; //!< at its formation; none if host-rooted
        std::vector<int64_t> since;                 //!< when the pause of each of them was due (ps)
        std::vector<DeadlockAnalyzer::Queue> stuck; //!< it and what waits for it, at the last look
        std::vector<Pause> chain;                   //!< from the initial trigger on
    };

    /// Watch a network. Precondition: its nodes are built.
    /// @param nodes all of its nodes, by number; they are told of this oracle.
    explicit DeadlockOracle(const std::vector<Ptr<FabricNode>>& nodes);
    ~DeadlockOracle() override;
    DeadlockOracle(const DeadlockOracle&) = delete;
    DeadlockOracle& operator=(const DeadlockOracle&) = delete;

    void NotifyHeld(const Port& port, uint8_t cls) override;
    void NotifyFree(const Port& port, uint8_t cls) override;
    void NotifyJoined(const Port& port, uint16_t queue, const Frame& frame) override;
    void NotifyLeft(const Port& port, uint16_t queue) override;
    void NotifyPressure(const Port& ingress, uint16_t egress, uint8_t cls, uint8_t leaves) override;
    void NotifyChange() override;

    /**
     * @brief Look now, as somebody does now and then: what is stuck has been seen.
     *
     * It also finds what a scheme that does not say when it holds queues back would hide from the
     * events.
     */
    void Look();

    /// Tell of every hold that ends.
    /// @param tell called with it.
    void TraceHolds(std::function<void(const Hold&)> tell);
    /// The run is over: tell of the holds that have not ended.
    void Finish();

    /// Is something stuck now, as far as events tell?
    /// @param kind of that kind. @return true if so.
    bool IsActive(Kind kind) const;
    /// The cyclic deadlock that a class of an egress port is stuck in or behind at this moment; it
    /// is looked at.
    /// @param node node. @param port egress port. @param cls class.
    /// @return place in GetEpisodes: that whose core it is in, else the first that it is stuck
    /// behind; -1: none.
    int64_t FindEpisode(uint32_t node, uint16_t port, uint8_t cls);

    /// What was stuck when. @return episodes in the order of their formation.
    const std::vector<Episode>& GetEpisodes() const
    {
        return m_episodes;
    }

    /// How often DeadlockAnalyzer was asked. @return count.
    uint64_t CountEvaluations() const
    {
        return m_evaluations;
    }

    /// Episodes that only a look found.
    /// @return count; above 0 the scheme hides when it holds queues back.
    uint64_t CountMissed() const
    {
        return m_missed;
    }

  private:
    static constexpr uint32_t NONE = PauseHistory::NONE; //!< no pause

    /// A class of an egress port.
    struct SideState
    {
        uint64_t feeds{0};    //!< bit i mod 64: it may hold frames that came in by port i
        std::size_t at{0};    //!< its place in m_sides
        uint32_t pause{NONE}; //!< that holds it back
        int64_t since{0};     //!< when that began (ps)
        uint32_t visit{0};    //!< last search that came by
        bool held{false};     //!< held back
        bool known{false};    //!< feeds are counted
        bool asked{false};    //!< whether it closes a circle
        bool stuck{false};    //!< in a stuck queue when last looked at
        bool core{false};     //!< all of it is in the core of an episode
    };

    /// Where a frame goes that is behind a pause.
    struct Cause
    {
        uint16_t egress; //!< port; NO_PORT: it is the fault of the node
        uint8_t cls;     //!< class in which it leaves
    };

    /// A cyclic episode that lasts.
    struct Open
    {
        std::size_t episode;                        //!< its place in m_episodes
        std::vector<DeadlockAnalyzer::Queue> owned; //!< queues of cores that are its own
    };

    const Port& PortOf(const DeadlockAnalyzer::Side& side) const;
    SideState& StateOf(uint32_t node, uint16_t port, uint8_t cls);
    bool HasFrames(const DeadlockAnalyzer::Side& side) const;
    bool MayFeed(const DeadlockAnalyzer::Side& side, uint16_t ingress);
    bool ClosesCircle(const DeadlockAnalyzer::Side& from);
    bool HasCircle();
    void Search(const DeadlockAnalyzer::Side& side, bool free);
    void FindAhead();
    void Touch(const DeadlockAnalyzer::Side& side);
    void TouchAll();
    void Review();
    void Update(const std::vector<DeadlockAnalyzer::Side>& sides);
    bool UpdateCyclic();
    bool UpdateHost();
    void Form(const DeadlockAnalyzer::Core& core);
    void MarkStuck();
    void MarkCores();
    bool IsAnyOpen() const;
    uint32_t PauseOf(const DeadlockAnalyzer::Queue& queue) const;
    std::vector<Pause> ChainOf(const std::vector<DeadlockAnalyzer::Queue>& queues) const;
    Cause FullestEgress(uint32_t node, uint16_t ingress, uint8_t cls);
    void TellHold(const DeadlockAnalyzer::Side& side) const;
    uint32_t MakePause(uint32_t node, uint16_t port, uint8_t cls, const Cause& cause);

    std::vector<Ptr<FabricNode>> m_nodes;        //!< the network
    DeadlockAnalyzer m_test;                     //!< decides
    std::vector<SideState> m_states;             //!< by place
    std::vector<uint32_t> m_pressure;            //!< by place of the ingress: its last pause
    std::vector<DeadlockAnalyzer::Side> m_sides; //!< those that are held back
    std::vector<DeadlockAnalyzer::Side> m_toDo;  //!< of a search
    std::vector<DeadlockAnalyzer::Side>
        m_touched;                               //!< where something happened since the last review
    std::vector<DeadlockAnalyzer::Side> m_ahead; //!< what they may wait for
    bool m_allTouched{false};                    //!< anywhere
    bool m_pools{false};                         //!< what is OFF depends on all of a node's queues
    PauseHistory m_pauses;   //!< those of sides and ingresses, and what led to them
    uint32_t m_visit{0};     //!< number of the last search
    bool m_circle{false};    //!< held classes, of no core, wait in a circle
    bool m_reviewing{false}; //!< Review is scheduled
    bool m_marked{false};    //!< some side is marked as stuck
    std::size_t m_cored{0};  //!< queues in cores
    std::vector<DeadlockAnalyzer::Core> m_cores; //!< of the last evaluation
    std::vector<Open> m_open;                    //!< cyclic episodes that last
    std::size_t m_host{0};                       //!< host-rooted episode that lasts + 1, or 0
    std::vector<Episode> m_episodes;             //!< in the order of their formation
    uint64_t m_evaluations{0};                   //!< CountEvaluations
    uint64_t m_missed{0};                        //!< CountMissed
    std::function<void(const Hold&)> m_tellHold; //!< or empty
    ReusableEvent<DeadlockOracle> m_review;      //!< Review
};

} // namespace lossless
} // namespace ns3

#endif /* DEADLOCK_ORACLE_H */
