/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-monitor.h"

#include "ns3/observe-probe.h"

/**
 * @file
 * @ingroup deadlock
 * The probes of deadlocks and pauses, each looked up by its TypeId.
 */

namespace ns3
{
namespace deadlock
{

using lossless::Fabric;

namespace
{

/// "deadlock": the episodes of stuck queues, with the queues and pauses of each in "deadlock_part".
class DeadlockProbe : public observe::Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::deadlock::DeadlockProbe")
                                .SetParent<observe::Probe>()
                                .SetGroupName("deadlock")
                                .AddConstructor<DeadlockProbe>();
        return tid;
    }

    void Open(Fabric& fabric, observe::Table& table) override
    {
        m_fabric = &fabric;
        m_monitor = &DeadlockMonitor::Of(fabric);
        m_monitor->RequireOracle();
        m_table = &table;
        m_parts = &fabric.FindObserver<observe::Recorder>()->AddTable("deadlock_part");
    }

    void Finish() override
    {
        observe::Table& table = *m_table;
        // its number
        auto* number = table.Add<uint32_t>("episode");
        // 0 cyclic; 1 queues that wait for a host that pauses without an end
        auto* kind = table.Add<uint8_t>("kind");
        // when it formed
        auto* formed = table.Add<int64_t>("formed_ps");
        // first look at it; -1: none
        auto* seen = table.Add<int64_t>("seen_ps");
        // when it dissolved; -1: it did not
        auto* dissolved = table.Add<int64_t>("dissolved_ps");
        // queues on its cycle
        auto* cycle = table.Add<uint32_t>("cycle_queues");
        // queues that wait for them, at the last look
        auto* stuck = table.Add<uint32_t>("stuck_queues");
        // pauses of its causal chain
        auto* pauses = table.Add<uint32_t>("chain_pauses");
        // "deadlock_part": an egress queue, or a pause, of a deadlock
        observe::Table& parts = *m_parts;
        // its number in `deadlock`
        auto* ofEpisode = parts.Add<uint32_t>("episode");
        // 0 an egress queue of the cycle, 1 one that is stuck, 2 a pause of the causal chain
        auto* part = parts.Add<uint8_t>("part");
        // place among them; of pauses from the initial trigger on
        auto* order = parts.Add<uint32_t>("order");
        auto* node = parts.Add<uint32_t>("node");
        auto* peer = parts.Add<uint32_t>("peer");
        auto* cls = parts.Add<uint8_t>("class");
        // of a pause
        auto* time = parts.Add<int64_t>("time_ps");
        // of a pause: 0 an earlier one, 1 congestion, 2 a host
        auto* reason = parts.Add<uint8_t>("reason");
        // where most bytes of the ingress were to go; -1: unknown
        auto* egress = parts.Add<int64_t>("egress_peer");
        const auto addPart = [&](uint8_t what,
                                 std::size_t at,
                                 uint32_t ofNode,
                                 uint16_t port,
                                 uint8_t ofClass,
                                 int64_t when) {
            ofEpisode->push_back(static_cast<uint32_t>(number->size() - 1));
            part->push_back(what);
            order->push_back(static_cast<uint32_t>(at));
            node->push_back(ofNode);
            peer->push_back(m_fabric->GetNode(ofNode).GetPort(port).GetNeighbour());
            cls->push_back(ofClass);
            time->push_back(when);
            reason->push_back(0);
            egress->push_back(-1);
        };
        for (const DeadlockOracle::Episode& episode : m_monitor->GetOracle().GetEpisodes())
        {
            number->push_back(static_cast<uint32_t>(number->size()));
            kind->push_back(static_cast<uint8_t>(episode.kind));
            formed->push_back(episode.formed);
            seen->push_back(episode.seen);
            dissolved->push_back(episode.dissolved);
            cycle->push_back(static_cast<uint32_t>(episode.cycle.size()));
            stuck->push_back(static_cast<uint32_t>(episode.stuck.size()));
            pauses->push_back(static_cast<uint32_t>(episode.chain.size()));
            for (std::size_t at = 0; at < episode.cycle.size(); ++at)
            {
                const DeadlockAnalyzer::Queue& queue = episode.cycle[at];
                addPart(0,
                        at,
                        queue.node,
                        queue.port,
                        queue.queue % lossless::N_CLASSES,
                        episode.since[at]);
            }
            for (std::size_t at = 0; at < episode.stuck.size(); ++at)
            {
                const DeadlockAnalyzer::Queue& queue = episode.stuck[at];
                addPart(1, at, queue.node, queue.port, queue.queue % lossless::N_CLASSES, -1);
            }
            for (std::size_t at = 0; at < episode.chain.size(); ++at)
            {
                const DeadlockOracle::Pause& pause = episode.chain[at];
                addPart(2, at, pause.node, pause.port, pause.cls, pause.time);
                reason->back() = static_cast<uint8_t>(pause.reason);
                egress->back() =
                    pause.egress == lossless::NO_PORT
                        ? -1
                        : int64_t{
                              m_fabric->GetNode(pause.node).GetPort(pause.egress).GetNeighbour()};
            }
        }
    }

  private:
    Fabric* m_fabric{nullptr};           //!< fabric of the oracle
    DeadlockMonitor* m_monitor{nullptr}; //!< queried at the end
    observe::Table* m_table{nullptr};    //!< "deadlock"
    observe::Table* m_parts{nullptr};    //!< "deadlock_part"
};

/// "pause_tree": each interval in which a class was held back, with its pause and the first pause
/// of the chain that led to it.
class PauseTreeProbe : public observe::Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::deadlock::PauseTreeProbe")
                                .SetParent<observe::Probe>()
                                .SetGroupName("deadlock")
                                .AddConstructor<PauseTreeProbe>();
        return tid;
    }

    void Open(Fabric& fabric, observe::Table& table) override
    {
        // begin
        auto* start = table.Add<int64_t>("start_ps");
        // end
        auto* end = table.Add<int64_t>("end_ps");
        auto* node = table.Add<uint32_t>("node");
        auto* peer = table.Add<uint32_t>("peer");
        auto* cls = table.Add<uint8_t>("class");
        // the peer paused for frames to that neighbour; -1: it is a host
        auto* cause = table.Add<int64_t>("cause_peer");
        // pauses before it
        auto* depth = table.Add<uint32_t>("depth");
        // the node whose egress they began at
        auto* rootNode = table.Add<uint32_t>("root_node");
        // the neighbour behind that egress; -1: a host
        auto* rootPeer = table.Add<int64_t>("root_peer");
        const auto peerOf = [&fabric](const DeadlockOracle::Pause& pause) {
            const bool toAPort = pause.egress < fabric.GetNode(pause.node).GetNPorts() &&
                                 pause.reason != DeadlockOracle::Reason::HOST;
            return toAPort
                       ? int64_t{fabric.GetNode(pause.node).GetPort(pause.egress).GetNeighbour()}
                       : int64_t{-1};
        };
        DeadlockMonitor::Of(fabric).GetOracle().TraceHolds([=, &fabric](
                                                               const DeadlockOracle::Hold& hold) {
            start->push_back(hold.start);
            end->push_back(lossless::NowPs());
            node->push_back(hold.side.node);
            peer->push_back(fabric.GetNode(hold.side.node).GetPort(hold.side.port).GetNeighbour());
            cls->push_back(hold.side.cls);
            cause->push_back(peerOf(hold.pause));
            depth->push_back(hold.depth);
            rootNode->push_back(hold.root.node);
            rootPeer->push_back(peerOf(hold.root));
        });
    }
};

} // namespace

NS_OBJECT_ENSURE_REGISTERED(DeadlockProbe);
NS_OBJECT_ENSURE_REGISTERED(PauseTreeProbe);

} // namespace deadlock
} // namespace ns3
