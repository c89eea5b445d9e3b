/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-egress.h"

#include "lossless-port-owner.h"

#include "ns3/abort.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-port-observer.h"
#include "ns3/lossless-refusal.h"

#include <algorithm>

namespace ns3
{
namespace lossless
{

/// The queues that a flow control added to a class, and their scheduler.
class Egress::OwnQueues : public QueueScheduler::Heads
{
  public:
    /// Constructor.
    /// @param egress owner
    /// @param cls class
    /// @param n number of queues
    /// @param own their scheduler
    OwnQueues(Egress& egress, uint8_t cls, uint32_t n, std::unique_ptr<QueueScheduler> own)
        : scheduler(std::move(own)),
          m_egress(egress),
          m_cls(cls)
    {
        scheduler->Configure(n);
    }

    bool MayGo(uint32_t place) override
    {
        const uint16_t queue = QueueAt(place);
        return m_egress.m_ready.MayAsk(queue) && m_egress.MayGo(queue, now);
    }

    uint32_t GetBytes(uint32_t place) const override
    {
        return m_egress.m_queues[QueueAt(place)].Head()->bytes;
    }

    uint16_t QueueAt(uint32_t place) const
    {
        return static_cast<uint16_t>(m_cls + N_CLASSES * (place + 1));
    }

    static uint32_t PlaceOf(uint16_t queue)
    {
        return queue / N_CLASSES - 1U;
    }

    std::unique_ptr<QueueScheduler> scheduler; //!< their scheduler
    int64_t bytes{0};                          //!< total queue length (B)
    int64_t now{0};                            //!< time of the current selection (ps)

  private:
    Egress& m_egress; //!< owner
    uint8_t m_cls;    //!< class
};

Egress::Egress(Port& port, const TracedCallback<const Port&, uint8_t>& trace)
    : m_port(port),
      m_trace(trace)
{
}

Egress::~Egress() = default;

void
Egress::Attach(PortOwner* node, uint16_t index)
{
    m_node = node;
    m_index = index;
}

void
Egress::AddRoles(FlowControl* member)
{
    EnterRole(m_selectors, member);
    const bool isGate = EnterRole(m_gates, member);
    const bool keepsOrder = EnterRole(m_orderModels, member);
    EnterRole(m_sentListeners, member);
    if (isGate)
    {
        m_holds.SetGated();
    }
    if (isGate && !keepsOrder)
    {
        m_firmGates.push_back(m_gates.back());
    }
}

QueueSelector*
Egress::FindOwner() const
{
    QueueSelector* owner = nullptr;
    for (QueueSelector* selector : m_selectors)
    {
        if (selector->GetOwnQueues() > 0)
        {
            if (owner)
            {
                Refuse("two flow controls of ",
                       m_node->GetName(),
                       " request egress queues of their own; only one in a chain may");
            }
            owner = selector;
        }
    }
    if (owner && owner->GetOwnQueues() > MAX_OWN_QUEUES)
    {
        Refuse("a flow control of ",
               m_node->GetName(),
               " requests ",
               owner->GetOwnQueues(),
               " egress queues of its own per class; at most ",
               MAX_OWN_QUEUES,
               " are possible");
    }
    return owner;
}

void
Egress::Start(const Service& service)
{
    m_scheduler.Configure(service.classes, service.quanta, service.strict);
    m_overhead = service.overhead;
    constexpr ClassRates::Rates NONE{};
    if (service.least != NONE || service.most != NONE)
    {
        m_rates = std::make_unique<ClassRates>(service.least, service.most, service.quanta);
    }
    QueueSelector* owner = FindOwner();
    const uint32_t own = owner ? owner->GetOwnQueues() : 0;
    m_queues.reserve((own + 1) * N_CLASSES);
    for (uint32_t queue = 0; queue < (own + 1) * N_CLASSES; ++queue)
    {
        m_queues.emplace_back(static_cast<uint8_t>(queue % N_CLASSES),
                              queue < N_CLASSES ? service.lanes : static_cast<uint16_t>(1));
    }
    for (uint8_t cls = 0; owner && cls < N_CLASSES; ++cls)
    {
        m_own.push_back(std::make_unique<OwnQueues>(*this, cls, own, owner->MakeScheduler()));
    }
    m_ready.Start(m_queues.size());
}

void
Egress::Clear()
{
    m_gates.clear();
    m_sentListeners.clear();
    m_selectors.clear();
    m_orderModels.clear();
    m_firmGates.clear();
}

void
Egress::AddSource(FrameSource* source)
{
    if (!m_source)
    {
        m_source = source;
        return;
    }
    if (!m_ring)
    {
        m_ring = std::make_unique<SourceRing>();
        m_ring->Add(m_source, m_offered);
        m_source = m_ring.get();
    }
    m_ring->Add(source, 0);
}

void
Egress::Refill()
{
    const bool select = HasSelectors();
    for (uint32_t wanted = Wanted(); wanted; wanted &= wanted - 1)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(wanted));
        do
        {
            if (Frame* frame = m_source->Pull(cls))
            {
                Push(frame);
            }
        } while (select && (m_offered >> cls) & 1U);
    }
}

void
Egress::Push(Frame* frame)
{
    const uint16_t queue = QueueOf(*frame);
    frame->queued = NowPs();
    frame->order = m_joined++;
    m_queues[queue].Push(frame);
    if (queue < N_CLASSES)
    {
        m_ready.SetFilled(queue, true);
    }
    else
    {
        NoteFrames(queue, frame->bytes);
    }
    TellTrace(frame->cls);
    for (QueueSelector* selector : m_selectors)
    {
        selector->NotifyJoined(queue, *frame);
    }
    if (m_node->GetRoles().HasQueueAgents())
    {
        m_node->GetRoles().TellQueue(m_port, queue, *frame, true);
    }
    if (m_holds.IsHeld(frame->cls) && m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyJoined(m_port, queue, *frame);
    }
}

bool
Egress::MayGo(uint16_t queue, int64_t now)
{
    if (m_gates.empty() || m_ready.IsIgnored(queue))
    {
        return true;
    }
    int64_t earliest = now;
    const Frame& head = *m_queues[queue].Head();
    for (const Gate* gate : m_gates)
    {
        earliest = std::max(earliest, gate->GetEarliest(queue, head, now));
    }
    if (earliest <= now)
    {
        return true;
    }
    m_wakeTime = std::min(m_wakeTime, earliest);
    if (m_orderModels.empty()) // else it may wait for another queue
    {
        m_holds.Withhold(queue % N_CLASSES, now);
    }
    return false;
}

void
Egress::NoteHeldUntil(uint8_t cls, int64_t until)
{
    m_holds.EndWithheld(1U << cls, NowPs());
    m_holds.NoteHeldUntil(cls, until);
}

void
Egress::EndWithheld()
{
    m_holds.EndWithheld((1U << N_CLASSES) - 1, NowPs());
}

int
Egress::SelectOf(uint8_t cls, uint32_t mask, int64_t now)
{
    if ((mask >> cls) & 1U && MayGo(cls, now))
    {
        return cls;
    }
    if (!((mask >> (N_CLASSES + cls)) & 1U))
    {
        return -1;
    }
    OwnQueues& own = *m_own[cls];
    own.now = now;
    const uint32_t place = own.scheduler->Select(own);
    return place == QueueScheduler::NONE ? -1 : own.QueueAt(place);
}

int
Egress::Select(int64_t now)
{
    m_wakeTime = NEVER;
    const uint32_t mask = m_ready.Get();
    const uint32_t free = m_gates.empty() ? mask : 0; // no gates to be queried for these
    const auto selectOf = [&](uint8_t cls) {
        return (free >> cls) & 1U ? int{cls} : SelectOf(cls, mask, now);
    };
    uint32_t classes = (mask | mask >> N_CLASSES) & 0xff;
    if (m_rates) [[unlikely]]
    {
        classes = m_rates->KeepAllowed(classes, now, m_wakeTime);
        const int queue = SelectAssured(m_rates->KeepAssured(classes, now), selectOf);
        if (queue >= 0)
        {
            m_scheduler.Charge(m_queues[queue].GetClass(), m_queues[queue].Head()->bytes);
            return queue;
        }
    }
    return m_scheduler.Select(classes, m_queues, selectOf);
}

template <class F>
int
Egress::SelectAssured(uint32_t classes, F selectOf) const
{
    int best = -1;
    int64_t earliest = NEVER;
    for (; classes; classes &= classes - 1)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(classes));
        const int queue = selectOf(cls);
        if (queue < 0)
        {
            continue;
        }
        const int64_t wire = m_queues[queue].Head()->bytes + int64_t{m_overhead};
        const int64_t deadline = m_rates->GetDeadline(cls, wire);
        if (best < 0 || deadline < earliest)
        {
            best = queue;
            earliest = deadline;
        }
    }
    return best;
}

Frame*
Egress::Pop(uint16_t queue, int64_t now)
{
    EgressQueue& frames = m_queues[queue];
    Frame* frame = frames.Pop();
    if (m_rates) [[unlikely]]
    {
        m_rates->NotifySent(frame->cls, frame->bytes + int64_t{m_overhead}, now);
    }
    if (queue >= N_CLASSES)
    {
        OwnOf(queue).scheduler->NotifySent(OwnQueues::PlaceOf(queue), frame->bytes);
        NoteFrames(queue, -int64_t{frame->bytes});
    }
    TellTrace(frame->cls);
    if (frames.GetFrames() == 0)
    {
        if (queue < N_CLASSES)
        {
            m_ready.SetFilled(queue, false);
        }
        Reopen(queue);
    }
    for (SentListener* listener : m_sentListeners)
    {
        listener->NotifySent(queue, *frame, now);
    }
    if (m_node->GetRoles().HasQueueAgents())
    {
        m_node->GetRoles().TellQueue(m_port, queue, *frame, false);
    }
    if (m_holds.IsHeld(frame->cls) && m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyLeft(m_port, queue);
    }
    return frame;
}

Egress::OwnQueues&
Egress::OwnOf(uint16_t queue) const
{
    return *m_own[queue % N_CLASSES];
}

void
Egress::NoteFrames(uint16_t queue, int64_t bytes)
{
    const bool changed = m_ready.SetFilled(queue, m_queues[queue].GetFrames() > 0);
    if (queue >= N_CLASSES)
    {
        OwnOf(queue).bytes += bytes;
        Reschedule(queue, changed);
    }
}

void
Egress::Reschedule(uint16_t queue, bool changed)
{
    if (!changed)
    {
        return;
    }
    QueueScheduler& scheduler = *OwnOf(queue).scheduler;
    if (m_ready.IsActive(queue))
    {
        scheduler.Activate(OwnQueues::PlaceOf(queue));
    }
    else
    {
        scheduler.Deactivate(OwnQueues::PlaceOf(queue));
    }
}

void
Egress::Block(uint16_t queue)
{
    Reschedule(queue, m_ready.Block(queue));
    NoteBlock(queue, true);
}

bool
Egress::Unblock(uint16_t queue)
{
    Reschedule(queue, m_ready.Unblock(queue));
    NoteBlock(queue, false);
    return m_ready.GetBlocks(queue) == 0;
}

void
Egress::BlockClass(uint8_t cls, bool block)
{
    // The scheduler of its own queues is not notified: turns and deficits survive the pause.
    if (block)
    {
        m_ready.BlockClass(cls);
    }
    else
    {
        m_ready.UnblockClass(cls);
    }
    NoteBlock(cls, block);
}

void
Egress::NoteBlock(uint16_t queue, bool on)
{
    const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
    const bool wasHeld = m_holds.IsHeld(cls);
    if (m_ready.GetBlocks(queue) == (on ? 1 : 0))
    {
        m_holds.Block(cls, on, NowPs());
    }
    TellHeld(cls, wasHeld);
}

bool
Egress::Pause(uint8_t cls, bool on)
{
    const bool wasHeld = m_holds.IsHeld(cls);
    if (!m_holds.Pause(cls, on, NowPs()))
    {
        return false;
    }
    TellHeld(cls, wasHeld);
    return true;
}

void
Egress::TellHeld(uint8_t cls, bool wasHeld) const
{
    PortObserver* observer = m_node->GetObserver();
    if (!observer)
    {
        return;
    }
    // Told again of a class that is held already: another of its queues may be held now.
    if (m_holds.IsHeld(cls))
    {
        observer->NotifyHeld(m_port, cls);
    }
    else if (wasHeld)
    {
        observer->NotifyFree(m_port, cls);
    }
}

void
Egress::NotifyChange() const
{
    if (m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyChange();
    }
}

void
Egress::SetIgnorePause(uint16_t queue, bool ignore)
{
    Reschedule(queue, m_ready.SetIgnored(queue, ignore));
    NotifyChange();
}

bool
Egress::IsHeldByPeer(uint16_t queue) const
{
    const Frame* head = m_queues[queue].Head();
    if (!head || m_ready.IsIgnored(queue))
    {
        return false;
    }
    const int64_t now = NowPs();
    return m_ready.IsBlocked(queue) ||
           std::any_of(m_firmGates.begin(), m_firmGates.end(), [&](const Gate* gate) {
               return gate->GetEarliest(queue, *head, now) == NEVER;
           });
}

bool
Egress::IsHeld(uint16_t queue) const
{
    if (IsHeldByPeer(queue))
    {
        return true;
    }
    const Frame* head = m_queues[queue].Head();
    if (!head || m_ready.IsIgnored(queue))
    {
        return false;
    }
    return std::any_of(m_orderModels.begin(), m_orderModels.end(), [&](const OrderModel* model) {
        for (uint16_t other = queue % N_CLASSES; other < m_queues.size(); other += N_CLASSES)
        {
            if (other != queue && model->WaitsFor(queue, *head, other))
            {
                return true;
            }
        }
        return false;
    });
}

uint32_t
Egress::DropQueue(uint16_t queue, DropCause cause)
{
    const std::vector<Frame*> frames = TakeFrames(queue, [](const Frame&) { return true; });
    for (Frame* frame : frames)
    {
        frame->egress = m_index; // not set in a host's frames
        m_node->Discard(frame, cause);
    }
    return static_cast<uint32_t>(frames.size());
}

std::vector<Frame*>
Egress::TakeFrames(uint16_t queue, const std::function<bool(const Frame&)>& choose)
{
    std::vector<Frame*> taken;
    std::vector<Frame*> kept;
    EgressQueue& frames = m_queues[queue];
    const int64_t before = frames.GetBytes();
    while (frames.Head())
    {
        Frame* frame = frames.Pop();
        (choose(*frame) ? taken : kept).push_back(frame);
    }
    for (Frame* frame : kept)
    {
        frames.Push(frame);
    }
    NoteFrames(queue, frames.GetBytes() - before);
    for (QueueSelector* selector : m_selectors)
    {
        for (Frame* frame : taken)
        {
            selector->NotifyTaken(queue, *frame);
        }
    }
    if (kept.empty())
    {
        Reopen(queue);
    }
    if (GetBytes(frames.GetClass()) == 0)
    {
        m_holds.EndWithheld(1U << frames.GetClass(), NowPs());
    }
    TellTrace(frames.GetClass());
    NotifyChange();
    return taken;
}

void
EgressQueue::Visit(StateVisitor& visitor, const Joined& joined)
{
    visitor.Inside(*this);
    visitor.Require(!m_lanes, "ports serve their ingress ports in turn");
    visitor.Same(m_ingresses, m_counted); // constant: m_cls
    m_fifo.Visit(visitor, &joined);
}

void
Egress::Visit(StateVisitor& visitor)
{
    visitor.Inside(*this);
    // Constant: m_node, m_port, m_source, m_sentListeners, m_trace, m_index, m_overhead,
    // m_orderModels, m_firmGates.
    visitor.Derived(m_wakeTime); // valid only while a frame is chosen
    visitor.Require(m_gates.empty() && m_selectors.empty() && m_own.empty(),
                    "flow controls choose among the frames of ports");
    visitor.Require(!m_rates && !m_ring && m_sentListeners.empty(), "ports have rates or sources");
    visitor.Same(m_offered);
    m_ready.Visit(visitor);
    m_scheduler.Visit(visitor);
    m_holds.Visit(visitor);
    Joined joined{m_joined, 0};
    visitor.Count(m_joined);
    joined.after = m_joined;
    for (EgressQueue& queue : m_queues)
    {
        queue.Visit(visitor, joined);
    }
}

int64_t
Egress::GetBytes(uint8_t cls) const
{
    return m_queues[cls].GetBytes() + (m_own.empty() ? 0 : m_own[cls]->bytes);
}

uint64_t
Egress::CountFrames() const
{
    uint64_t frames = 0;
    for (const EgressQueue& queue : m_queues)
    {
        frames += queue.GetFrames();
    }
    return frames;
}

} // namespace lossless
} // namespace ns3
