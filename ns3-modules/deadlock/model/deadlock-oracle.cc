/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-oracle.h"

#include "ns3/abort.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-port.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ns3
{
namespace deadlock
{

using lossless::N_CLASSES;
using lossless::NO_PORT;
using lossless::NowPs;
using lossless::Port;

DeadlockOracle::DeadlockOracle(const std::vector<Ptr<lossless::FabricNode>>& nodes)
    : m_nodes(nodes),
      m_test(nodes),
      m_states(m_test.CountPlaces()),
      m_pressure(m_test.CountPlaces(), NONE),
      m_review(this, &DeadlockOracle::Review)
{
    for (const auto& node : m_nodes)
    {
        node->SetObserver(this);
        bool pauses = false;
        for (uint16_t port = 0; port < node->GetNPorts(); ++port)
        {
            pauses = pauses || node->GetPort(port).GetChain().HasXoffListeners();
        }
        m_pools = m_pools || pauses;
        node->KeepFeeds(pauses && node->IsSwitch());
    }
}

DeadlockOracle::~DeadlockOracle()
{
    Rest();
}

void
DeadlockOracle::Rest()
{
    for (const auto& node : m_nodes)
    {
        node->SetObserver(nullptr);
        node->KeepFeeds(false);
    }
}

std::string
DeadlockOracle::FindUnannounced() const
{
    for (const auto& node : m_nodes)
    {
        for (uint16_t port = 0; port < node->GetNPorts(); ++port)
        {
            for (const auto& member : node->GetPort(port).GetChain().GetMembers())
            {
                const auto* flowControl = PeekPointer(member);
                if (dynamic_cast<const lossless::DeadlockModel*>(flowControl) &&
                    !dynamic_cast<const lossless::XoffListener*>(flowControl))
                {
                    return flowControl->GetInstanceTypeId().GetName();
                }
            }
        }
    }
    return {};
}

bool
DeadlockOracle::IsQuiet()
{
    if (!m_announced)
    {
        return true;
    }
    if (!m_sides.empty() || m_reviewing || IsAnyOpen())
    {
        return false;
    }
    for (const auto& node : m_nodes)
    {
        for (uint16_t index = 0; index < node->GetNPorts(); ++index)
        {
            const Port& port = node->GetPort(index);
            bool told = port.GetChain().HasReasons();
            port.ForEachControlFrame([&told](const lossless::Frame&) { told = true; });
            if (told)
            {
                return false;
            }
        }
    }
    m_announced = false;
    return true;
}

const Port&
DeadlockOracle::PortOf(const DeadlockAnalyzer::Side& side) const
{
    return m_nodes[side.node]->GetPort(side.port);
}

DeadlockOracle::SideState&
DeadlockOracle::StateOf(uint32_t node, uint16_t port, uint8_t cls)
{
    return m_states[m_test.PlaceOf(node, port, cls)];
}

bool
DeadlockOracle::HasFrames(const DeadlockAnalyzer::Side& side) const
{
    return PortOf(side).GetEgressBytes(side.cls) > 0;
}

// ---- Dependencies

bool
DeadlockOracle::MayFeed(const DeadlockAnalyzer::Side& side, uint16_t ingress)
{
    SideState& state = StateOf(side.node, side.port, side.cls);
    if (!state.known)
    {
        // Counted when first needed; NotifyJoined keeps it up to date. Departures are not removed:
        // a superset only costs an extra check.
        state.known = true;
        state.feeds = 0;
        const auto& queues = PortOf(side).GetQueues();
        for (std::size_t queue = side.cls; queue < queues.size(); queue += N_CLASSES)
        {
            state.feeds |= queues[queue].GetIngresses();
        }
    }
    return (state.feeds >> ingress % 64) & 1U;
}

void
DeadlockOracle::Search(const DeadlockAnalyzer::Side& side, bool free)
{
    // The held classes of the next node that hold frames of this one; with free, only those in no
    // core. Where frames change class any class may hold them, which only costs an extra check.
    const Port& peer = PortOf(side).GetPeer();
    const uint32_t node = peer.GetNodeId();
    const bool anyClass = m_nodes[node]->GetRoles().ChangesClasses();
    const uint8_t first = anyClass ? 0 : side.cls;
    const uint8_t last = anyClass ? N_CLASSES - 1 : side.cls;
    for (uint16_t port = 0; port < m_nodes[node]->GetNPorts(); ++port)
    {
        for (uint8_t cls = first; cls <= last; ++cls)
        {
            SideState& state = StateOf(node, port, cls);
            const DeadlockAnalyzer::Side next{node, port, cls};
            if (state.held && !(free && state.core) && state.visit != m_visit &&
                MayFeed(next, peer.GetIndex()))
            {
                state.visit = m_visit;
                m_toDo.push_back(next);
            }
        }
    }
}

bool
DeadlockOracle::ClosesCircle(const DeadlockAnalyzer::Side& from)
{
    // Follow the held classes from here: `from` is visited only if the search returns to it.
    // Classes that belong to a deadlock already cannot be in another one.
    const SideState& start = StateOf(from.node, from.port, from.cls);
    if (start.core)
    {
        return false;
    }
    ++m_visit;
    m_toDo.assign(1, from);
    while (!m_toDo.empty() && start.visit != m_visit)
    {
        const DeadlockAnalyzer::Side side = m_toDo.back();
        m_toDo.pop_back();
        Search(side, true);
    }
    return start.visit == m_visit;
}

bool
DeadlockOracle::HasCircle()
{
    return std::any_of(m_sides.begin(), m_sides.end(), [this](const DeadlockAnalyzer::Side& side) {
        return ClosesCircle(side);
    });
}

// ---- Events

void
DeadlockOracle::NotifyHeld(const Port& port, uint8_t cls)
{
    const DeadlockAnalyzer::Side side{port.GetNodeId(), port.GetIndex(), cls};
    SideState& state = StateOf(side.node, side.port, cls);
    NS_ABORT_MSG_UNLESS(m_announced,
                        "a queue of node " << side.node << ", port " << side.port
                                           << " is held back without an announced pause: such a "
                                              "run needs ns3::eventloop::CellLoop::MostWindow = 0");
    if (!state.held)
    {
        state.held = true;
        state.known = false; // MayFeed counts anew: it was not kept while nothing was held
        state.at = m_sides.size();
        m_sides.push_back(side);
        const Port& peer = port.GetPeer();
        const uint32_t node = peer.GetNodeId();
        const uint32_t pressure = m_pressure[m_test.PlaceOf(node, peer.GetIndex(), cls)];
        state.pause =
            peer.GetChain().HasXoffListeners() && pressure != NONE
                ? pressure
                : MakePause(node, peer.GetIndex(), cls, FullestEgress(node, peer.GetIndex(), cls));
        m_pauses.Use(state.pause);
        state.since = NowPs();
    }
    state.asked = HasFrames(side);
    if (!state.asked)
    {
        return; // the frame that joins is checked again
    }
    if (!m_circle && ClosesCircle(side))
    {
        m_circle = true;
    }
    if (m_circle || (m_host == 0 && IsSilenced(port, cls)))
    {
        Touch(side);
    }
}

bool
DeadlockOracle::IsSilenced(const Port& port, uint8_t cls)
{
    const Port& peer = port.GetPeer();
    return lossless::FabricNode::Of(peer).IsPausingForever(peer.GetIndex(), cls);
}

void
DeadlockOracle::NotifyFree(const Port& port, uint8_t cls)
{
    SideState& state = StateOf(port.GetNodeId(), port.GetIndex(), cls);
    if (!state.held)
    {
        return;
    }
    if (state.stuck)
    {
        TouchAll();
    }
    TellHold(DeadlockAnalyzer::Side{port.GetNodeId(), port.GetIndex(), cls});
    state.held = false;
    state.stuck = false;
    state.core = false;
    m_pauses.Drop(state.pause);
    state.pause = NONE;
    const DeadlockAnalyzer::Side last = m_sides.back();
    m_sides[state.at] = last;
    StateOf(last.node, last.port, last.cls).at = state.at;
    m_sides.pop_back();
    if (m_circle)
    {
        m_circle = HasCircle(); // this class may have closed it
    }
}

void
DeadlockOracle::NotifyJoined(const Port& port, uint16_t queue, const lossless::Frame& frame)
{
    const uint8_t cls = frame.cls;
    SideState& state = StateOf(port.GetNodeId(), port.GetIndex(), cls);
    const DeadlockAnalyzer::Side side{port.GetNodeId(), port.GetIndex(), cls};
    bool search = !state.asked;
    state.asked = true;
    if (state.known && frame.ingress != NO_PORT)
    {
        const uint64_t bit = 1ULL << frame.ingress % 64;
        search |= !(state.feeds & bit);
        state.feeds |= bit;
    }
    if (search && !m_circle && ClosesCircle(side))
    {
        m_circle = true;
    }
    const bool root = search && m_host == 0 && IsSilenced(port, cls);
    if (root || (m_circle && port.GetEgress().IsHeld(queue)))
    {
        Touch(side);
    }
}

void
DeadlockOracle::NotifyLeft(const Port& port, uint16_t queue)
{
    const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
    const DeadlockAnalyzer::Side side{port.GetNodeId(), port.GetIndex(), cls};
    if (StateOf(side.node, side.port, cls).stuck)
    {
        TouchAll();
    }
    else if (m_circle && port.GetEgress().IsHeld(queue))
    {
        Touch(side); // its new head is held back
    }
}

void
DeadlockOracle::NotifyPressure(const Port& ingress, uint16_t egress, uint8_t cls, uint8_t leaves)
{
    // By several threads only while nothing is held back: then their order does not matter.
    const auto lock = eventloop::CellLoop::Lock(m_mutex);
    m_announced = true;
    uint32_t& last = m_pressure[m_test.PlaceOf(ingress.GetNodeId(), ingress.GetIndex(), cls)];
    const uint32_t pause = MakePause(ingress.GetNodeId(),
                                     ingress.GetIndex(),
                                     cls,
                                     LargestEgress(ingress, cls, Cause{egress, leaves}));
    m_pauses.Use(pause);
    m_pauses.Drop(last);
    last = pause;
    if (egress == NO_PORT && StateOf(ingress.GetPeerId(), ingress.GetPeer().GetIndex(), cls).held)
    {
        TouchAll(); // already held back, now perhaps for good
    }
}

void
DeadlockOracle::NotifyChange()
{
    if (m_circle || IsAnyOpen())
    {
        TouchAll();
    }
}

void
DeadlockOracle::Touch(const DeadlockAnalyzer::Side& side)
{
    // Decided after the current event: until then a message may be only partly applied.
    m_touched.push_back(side);
    if (!m_reviewing)
    {
        m_reviewing = true;
        m_review.Schedule(0);
    }
}

void
DeadlockOracle::TouchAll()
{
    m_allTouched = true;
    if (!m_reviewing)
    {
        m_reviewing = true;
        m_review.Schedule(0);
    }
}

void
DeadlockOracle::FindAhead()
{
    // If nothing was stuck before, a queue that is stuck now holds one of the classes concerned or
    // something that waits for it; the rest of the network need not be searched.
    ++m_visit;
    m_toDo.clear();
    m_ahead.clear();
    for (const DeadlockAnalyzer::Side& side : m_touched)
    {
        SideState& state = StateOf(side.node, side.port, side.cls);
        if (state.held && state.visit != m_visit)
        {
            state.visit = m_visit;
            m_toDo.push_back(side);
        }
    }
    while (!m_toDo.empty())
    {
        const DeadlockAnalyzer::Side side = m_toDo.back();
        m_toDo.pop_back();
        m_ahead.push_back(side);
        Search(side, false);
    }
}

void
DeadlockOracle::Review()
{
    m_reviewing = false;
    if (m_allTouched || m_pools || IsAnyOpen())
    {
        Update(m_sides);
    }
    else
    {
        FindAhead();
        Update(m_ahead);
    }
    m_allTouched = false;
    m_touched.clear();
}

// ---- Episodes

namespace
{

/// Do two lists share a queue?
/// @param a one list
/// @param b the other list
/// @return true if so
bool
Share(const std::vector<DeadlockAnalyzer::Queue>& a, const std::vector<DeadlockAnalyzer::Queue>& b)
{
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

} // namespace

void
DeadlockOracle::Update(const std::vector<DeadlockAnalyzer::Side>& sides)
{
    ++m_evaluations;
    m_test.Find(sides);
    const bool host = UpdateHost();
    if (UpdateCyclic())
    {
        m_circle = HasCircle(); // it leaves out classes of cores, which are others now
    }
    if (host || !m_open.empty() || std::exchange(m_marked, false))
    {
        MarkStuck();
    }
}

bool
DeadlockOracle::UpdateHost()
{
    const auto& stuck = m_test.GetStuck();
    const bool found = stuck.size() > m_test.CountCyclic();
    if (m_host > 0 && !found)
    {
        m_episodes[m_host - 1].dissolved = NowPs();
        m_host = 0;
    }
    else if (m_host == 0 && found)
    {
        Episode episode;
        episode.kind = Kind::HOST;
        episode.formed = NowPs();
        episode.chain = ChainOf(
            {stuck.begin() + static_cast<std::ptrdiff_t>(m_test.CountCyclic()), stuck.end()});
        m_episodes.push_back(std::move(episode));
        m_host = m_episodes.size();
    }
    return m_host > 0;
}

bool
DeadlockOracle::UpdateCyclic()
{
    m_cores = m_test.CountCyclic() > 0 ? m_test.FindCores() : std::vector<DeadlockAnalyzer::Core>{};
    std::size_t cored = 0;
    bool changed = false;
    std::erase_if(m_open, [&](Open& open) {
        std::erase_if(open.owned, [this](const DeadlockAnalyzer::Queue& queue) {
            return std::none_of(m_cores.begin(), m_cores.end(), [&](const auto& core) {
                return std::find(core.queues.begin(), core.queues.end(), queue) !=
                       core.queues.end();
            });
        });
        if (open.owned.empty())
        {
            m_episodes[open.episode].dissolved = NowPs();
            changed = true;
        }
        return open.owned.empty();
    });
    for (const DeadlockAnalyzer::Core& core : m_cores)
    {
        cored += core.queues.size();
        std::vector<DeadlockAnalyzer::Queue> nobodys = core.queues;
        Open* first = nullptr;
        for (Open& open : m_open)
        {
            // A core that has queues of several episodes leaves each its own; new ones go to the
            // oldest of them.
            if (Share(open.owned, core.queues))
            {
                first = first ? first : &open;
                std::erase_if(nobodys, [&open](const DeadlockAnalyzer::Queue& queue) {
                    return std::find(open.owned.begin(), open.owned.end(), queue) !=
                           open.owned.end();
                });
            }
        }
        if (first)
        {
            first->owned.insert(first->owned.end(), nobodys.begin(), nobodys.end());
            continue;
        }
        Form(core);
        changed = true;
    }
    changed = changed || cored != m_cored;
    m_cored = cored;
    if (changed || cored > 0)
    {
        MarkCores();
    }
    return changed;
}

void
DeadlockOracle::Form(const DeadlockAnalyzer::Core& core)
{
    Episode episode;
    episode.formed = NowPs();
    episode.cycle = core.cycle;
    episode.chain = ChainOf(core.cycle);
    for (const DeadlockAnalyzer::Queue& queue : core.cycle)
    {
        const uint32_t pause = PauseOf(queue);
        episode.since.push_back(pause == NONE ? -1 : m_pauses.Get(pause).time);
    }
    m_open.push_back(Open{m_episodes.size(), core.queues});
    m_episodes.push_back(std::move(episode));
}

void
DeadlockOracle::MarkCores()
{
    for (const DeadlockAnalyzer::Side& side : m_sides)
    {
        StateOf(side.node, side.port, side.cls).core = false;
    }
    for (const DeadlockAnalyzer::Core& core : m_cores)
    {
        for (const DeadlockAnalyzer::Queue& queue : core.queues)
        {
            // Other queues of the class may close another cycle.
            const auto cls = static_cast<uint8_t>(queue.queue % N_CLASSES);
            const DeadlockAnalyzer::Side side{queue.node, queue.port, cls};
            StateOf(queue.node, queue.port, cls).core =
                PortOf(side).GetQueues().size() == N_CLASSES;
        }
    }
}

void
DeadlockOracle::MarkStuck()
{
    for (const DeadlockAnalyzer::Side& side : m_sides)
    {
        StateOf(side.node, side.port, side.cls).stuck = false;
    }
    const auto& stuck = m_test.GetStuck();
    for (const DeadlockAnalyzer::Queue& queue : stuck)
    {
        StateOf(queue.node, queue.port, queue.queue % N_CLASSES).stuck = true;
    }
    m_marked = !stuck.empty();
    for (const Open& open : m_open)
    {
        std::vector<DeadlockAnalyzer::Queue>& mine = m_episodes[open.episode].stuck;
        mine.clear();
        for (const DeadlockAnalyzer::Core& core : m_cores)
        {
            if (Share(open.owned, core.queues))
            {
                mine.insert(mine.end(), core.queues.begin(), core.queues.end());
                mine.insert(mine.end(), core.behind.begin(), core.behind.end());
            }
        }
    }
    if (m_host > 0)
    {
        m_episodes[m_host - 1].stuck.assign(stuck.begin() +
                                                static_cast<std::ptrdiff_t>(m_test.CountCyclic()),
                                            stuck.end());
    }
}

void
DeadlockOracle::Look()
{
    if (m_sides.empty() && !IsAnyOpen())
    {
        return;
    }
    const std::size_t before = m_episodes.size();
    const bool expected = m_reviewing; // an event of this instant told, and waits for its review
    Update(m_sides);
    m_missed += expected ? 0 : m_episodes.size() - before;
    for (Episode& episode : m_episodes)
    {
        if (episode.dissolved < 0 && episode.seen < 0)
        {
            episode.seen = NowPs();
        }
    }
}

bool
DeadlockOracle::IsAnyOpen() const
{
    return m_host > 0 || !m_open.empty();
}

bool
DeadlockOracle::IsActive(Kind kind) const
{
    return kind == Kind::HOST ? m_host > 0 : !m_open.empty();
}

int64_t
DeadlockOracle::FindEpisode(uint32_t node, uint16_t port, uint8_t cls)
{
    if (!StateOf(node, port, cls).held)
    {
        return -1;
    }
    Update(m_sides);
    const auto isIn = [&](const std::vector<DeadlockAnalyzer::Queue>& queues) {
        return std::any_of(queues.begin(), queues.end(), [&](const DeadlockAnalyzer::Queue& queue) {
            return queue.node == node && queue.port == port && queue.queue % N_CLASSES == cls;
        });
    };
    for (const bool behind : {false, true})
    {
        for (const Open& open : m_open)
        {
            if (isIn(behind ? m_episodes[open.episode].stuck : open.owned))
            {
                return static_cast<int64_t>(open.episode);
            }
        }
    }
    return -1;
}

// ---- Causes

std::array<int64_t, N_CLASSES>
DeadlockOracle::BytesAt(const Port& egress, uint16_t ingress, uint8_t cls)
{
    std::array<int64_t, N_CLASSES> bytes{};
    for (std::size_t queue = 0; queue < egress.GetQueues().size(); ++queue)
    {
        egress.GetQueues()[queue].ForEach([&](const lossless::Frame& frame) {
            const bool mine = frame.ingress == ingress && frame.ingressClass == cls;
            bytes[queue % N_CLASSES] += mine ? frame.bytes : 0;
        });
    }
    return bytes;
}

DeadlockOracle::Cause
DeadlockOracle::LargestEgress(const Port& ingress, uint8_t cls, const Cause& arriving) const
{
    // The frame that exceeds the threshold is often for an egress that sends at once: what fills
    // the ingress is what it holds most of.
    const lossless::FabricNode& node = *m_nodes[ingress.GetNodeId()];
    const lossless::FeedMap* feeds = arriving.egress == NO_PORT ? nullptr : node.GetFeeds();
    const uint16_t largest = feeds ? feeds->FindLargest(ingress.GetIndex(), cls) : NO_PORT;
    if (largest == NO_PORT)
    {
        return arriving;
    }
    Cause cause{largest, cls};
    if (node.GetRoles().ChangesClasses())
    {
        const auto bytes = BytesAt(node.GetPort(largest), ingress.GetIndex(), cls);
        const auto most = std::max_element(bytes.begin(), bytes.end());
        cause.cls = *most > 0 ? static_cast<uint8_t>(most - bytes.begin()) : arriving.cls;
    }
    return cause;
}

DeadlockOracle::Cause
DeadlockOracle::FullestEgress(uint32_t node, uint16_t ingress, uint8_t cls)
{
    // Ties go to the lowest port and class.
    Cause best{NO_PORT, cls};
    std::pair<bool, int64_t> most{false, 0};
    for (uint16_t index = 0; index < m_nodes[node]->GetNPorts(); ++index)
    {
        const auto bytes = BytesAt(m_nodes[node]->GetPort(index), ingress, cls);
        for (uint8_t leaves = 0; leaves < N_CLASSES; ++leaves)
        {
            const std::pair<bool, int64_t> here{StateOf(node, index, leaves).held, bytes[leaves]};
            if (bytes[leaves] > 0 && here > most)
            {
                most = here;
                best = Cause{index, leaves};
            }
        }
    }
    return best;
}

uint32_t
DeadlockOracle::MakePause(uint32_t node, uint16_t port, uint8_t cls, const Cause& cause)
{
    uint32_t parent = NONE;
    Reason reason = Reason::HOST;
    if (m_nodes[node]->IsSwitch())
    {
        parent = cause.egress == NO_PORT ? NONE : StateOf(node, cause.egress, cause.cls).pause;
        reason = parent == NONE ? Reason::CONGESTED : Reason::EARLIER;
    }
    return m_pauses.Add({NowPs(), node, port, cause.egress, cls, reason}, parent);
}

void
DeadlockOracle::TraceHolds(std::function<void(const Hold&)> tell)
{
    m_tellHold = std::move(tell);
}

void
DeadlockOracle::TellHold(const DeadlockAnalyzer::Side& side) const
{
    const SideState& state = m_states[m_test.PlaceOf(side.node, side.port, side.cls)];
    if (m_tellHold && state.pause != NONE)
    {
        m_tellHold(Hold{side,
                        state.since,
                        m_pauses.Get(state.pause),
                        m_pauses.GetRoot(state.pause),
                        m_pauses.GetDepth(state.pause)});
    }
}

void
DeadlockOracle::Finish()
{
    for (const DeadlockAnalyzer::Side& side : m_sides)
    {
        TellHold(side);
    }
}

uint32_t
DeadlockOracle::PauseOf(const DeadlockAnalyzer::Queue& queue) const
{
    const auto cls = static_cast<uint8_t>(queue.queue % N_CLASSES);
    return m_states[m_test.PlaceOf(queue.node, queue.port, cls)].pause;
}

std::vector<DeadlockOracle::Pause>
DeadlockOracle::ChainOf(const std::vector<DeadlockAnalyzer::Queue>& queues) const
{
    uint32_t last = NONE;
    for (const DeadlockAnalyzer::Queue& queue : queues)
    {
        const uint32_t pause = PauseOf(queue);
        if (pause != NONE && (last == NONE || m_pauses.Get(pause).time > m_pauses.Get(last).time))
        {
            last = pause;
        }
    }
    return m_pauses.GetChain(last);
}

} // namespace deadlock
} // namespace ns3
