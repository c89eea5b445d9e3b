/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-port.h"

#include "lossless-attribute.h"
#include "lossless-fabric-node.h"
#include "lossless-port-observer.h"
#include "lossless-rate.h"
#include "lossless-refusal.h"

#include "ns3/abort.h"
#include "ns3/enum.h"
#include "ns3/object-vector.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(Port);

void
FrameSource::Reopen(uint16_t /* queue */)
{
}

/// Several sources of one port: of those that have frames of a class, each gives one in turn.
class Port::SourceRing : public FrameSource
{
  public:
    /**
     * @brief Add a source.
     *
     * @param source it.
     * @param ready bit c: it has frames of class c.
     */
    void Add(FrameSource* source, uint32_t ready)
    {
        m_members.push_back(Member{source, ready});
    }

    /**
     * @brief A source has, or has no more, frames of a class.
     *
     * @param source it.
     * @param cls class.
     * @param ready has.
     * @return true if any source has.
     */
    bool SetReady(const FrameSource* source, uint8_t cls, bool ready)
    {
        uint32_t any = 0;
        for (Member& member : m_members)
        {
            if (member.source == source)
            {
                const uint32_t bit = 1U << cls;
                member.ready = ready ? member.ready | bit : member.ready & ~bit;
            }
            any |= member.ready;
        }
        return (any >> cls) & 1U;
    }

    Frame* Pull(uint8_t cls) override
    {
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            const std::size_t at = (m_turn[cls] + i) % m_members.size();
            if (!((m_members[at].ready >> cls) & 1U))
            {
                continue;
            }
            if (Frame* frame = m_members[at].source->Pull(cls))
            {
                m_turn[cls] = at + 1;
                return frame;
            }
        }
        return nullptr;
    }

    void Reopen(uint16_t queue) override
    {
        for (const Member& member : m_members)
        {
            member.source->Reopen(queue);
        }
    }

  private:
    /// A source and what it has.
    struct Member
    {
        FrameSource* source; //!< it
        uint32_t ready;      //!< bit c: it has frames of class c
    };

    std::vector<Member> m_members;               //!< the sources
    std::array<std::size_t, N_CLASSES> m_turn{}; //!< by class: whose turn it is
};

/// The queues that a flow control added to a class, and who serves them.
class Port::OwnQueues : public QueueScheduler::Heads
{
  public:
    /**
     * @brief Make them.
     *
     * @param port the port
     * @param cls class
     * @param n how many
     * @param own who serves them
     */
    OwnQueues(Port& port, uint8_t cls, uint32_t n, std::unique_ptr<QueueScheduler> own)
        : scheduler(std::move(own)),
          ignored(n, false),
          m_port(port),
          m_cls(cls),
          m_active(n, false)
    {
        scheduler->Configure(n);
    }

    bool MayGo(uint32_t place) override
    {
        return (paused == 0 || ignored[place]) && m_port.MayGo(QueueAt(place), now);
    }

    uint32_t GetBytes(uint32_t place) const override
    {
        return m_port.m_queues[QueueAt(place)].Head()->bytes;
    }

    uint16_t QueueAt(uint32_t place) const
    {
        return static_cast<uint16_t>(m_cls + N_CLASSES * (place + 1));
    }

    static uint32_t PlaceOf(uint16_t queue)
    {
        return queue / N_CLASSES - 1U;
    }

    /// A queue may have become active, or ceased to be.
    void Update(uint16_t queue)
    {
        const uint32_t place = PlaceOf(queue);
        const bool active = m_port.m_queues[queue].GetFrames() > 0 &&
                            (m_port.m_blockCount[queue] == 0 || ignored[place]);
        if (active == m_active[place])
        {
            return;
        }
        m_active[place] = active;
        const uint32_t bit = 1U << (N_CLASSES + m_cls);
        if (active)
        {
            scheduler->Activate(place);
            m_port.m_nonempty |= m_nActive++ == 0 ? bit : 0;
        }
        else
        {
            scheduler->Deactivate(place);
            m_port.m_nonempty &= --m_nActive == 0 ? ~bit : UINT32_MAX;
        }
    }

    std::unique_ptr<QueueScheduler> scheduler; //!< who serves them
    std::vector<bool> ignored;                 //!< by place: goes whatever holds it back
    int64_t bytes{0};                          //!< in all of them
    uint32_t blocked{0};                       //!< queues that are held back one by one
    uint32_t paused{0};                        //!< flow controls that hold the class back
    int64_t now{0};                            //!< time of the present selection (ps)

  private:
    Port& m_port;               //!< the port
    uint8_t m_cls;              //!< class
    std::vector<bool> m_active; //!< by place: the scheduler may choose it
    uint32_t m_nActive{0};      //!< how many
};

TypeId
Port::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::Port")
            .SetParent<Object>()
            .SetGroupName("lossless")
            .AddConstructor<Port>()
            .AddAttribute("FlowControlList",
                          "Its chain, for paths of ns3::Config.",
                          TypeId::ATTR_GET,
                          ObjectVectorValue(),
                          MakeObjectVectorAccessor(&Port::m_flowControls),
                          MakeObjectVectorChecker<FlowControl>())
            .AddAttribute("Overhead",
                          "Wire bytes of a frame beside its own: preamble 8 and inter-packet gap "
                          "12 (IEEE 802.3). [B]",
                          UintegerValue(20),
                          MakeUintegerAccessor(&Port::m_overhead),
                          MakeUintegerChecker<uint32_t>(0, 1000))
            .AddAttribute("ControlDelay",
                          "Time from the last bit of a MAC control frame to its effect on the "
                          "transmitter. PFC caps it at "
                          "60 quanta (3840 B at the link rate); reproductions of papers set their "
                          "feedback latency here.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Port::m_controlDelay),
                          MakePicosecondsChecker())
            .AddAttribute("ControlFrameSize",
                          "Size of a MAC control frame, FCS included. [B]",
                          UintegerValue(MIN_FRAME_BYTES),
                          MakeUintegerAccessor(&Port::m_controlFrameSize),
                          MakeUintegerChecker<uint32_t>(1, 1500))
            .AddAttribute(
                "ClassService",
                "Which class goes next: Strict (the highest), Dwrr, or Fifo (the longest wait).",
                EnumValue(ClassService::STRICT),
                MakeEnumAccessor<ClassService>(&Port::m_classService),
                MakeEnumChecker(ClassService::STRICT,
                                "Strict",
                                ClassService::DWRR,
                                "Dwrr",
                                ClassService::FIFO,
                                "Fifo"))
            .AddAttribute(
                "QueueService",
                "Which frame of a class goes next: Fifo, or RoundRobin over the ports "
                "they came in by. Queues that flow controls add have schedulers of theirs.",
                EnumValue(QueueService::FIFO),
                MakeEnumAccessor<QueueService>(&Port::m_queueService),
                MakeEnumChecker(QueueService::FIFO,
                                "Fifo",
                                QueueService::ROUND_ROBIN,
                                "RoundRobin"))
            .AddAttribute("Quantum",
                          "Bytes a class may send a turn under Dwrr. [B]",
                          UintegerValue(1600),
                          MakeUintegerAccessor(&Port::m_quantum),
                          MakeUintegerChecker<uint32_t>(1, 1'000'000))
            .AddAttribute("ReleaseAt",
                          "When the bytes of a frame leave the shared buffer: End or Start of its "
                          "transmission.",
                          EnumValue(ReleaseAt::END),
                          MakeEnumAccessor<ReleaseAt>(&Port::m_releaseAt),
                          MakeEnumChecker(ReleaseAt::END, "End", ReleaseAt::START, "Start"))
            .AddAttribute("States",
                          "What becomes of a PFC or GFC frame that still waits for the wire when a "
                          "newer one follows: Latest (the newer one takes its place: a PAUSE that "
                          "follows a RESUME in time is all that goes) or All (both go).",
                          EnumValue(States::LATEST),
                          MakeEnumAccessor<States>(&Port::m_states),
                          MakeEnumChecker(States::LATEST, "Latest", States::ALL, "All"))
            .AddTraceSource("PauseSent",
                            "This port paused (true) or resumed (false) a class of its peer.",
                            MakeTraceSourceAccessor(&Port::m_pauseSentTrace),
                            "ns3::lossless::Port::PauseCallback")
            .AddTraceSource("Paused",
                            "This port began (true) or ceased (false) to obey a pause of a class.",
                            MakeTraceSourceAccessor(&Port::m_pausedTrace),
                            "ns3::lossless::Port::PauseCallback")
            .AddTraceSource("Transmit",
                            "A frame begins to go.",
                            MakeTraceSourceAccessor(&Port::m_transmitTrace),
                            "ns3::lossless::Port::FrameCallback")
            .AddTraceSource("Receive",
                            "A frame has arrived whole.",
                            MakeTraceSourceAccessor(&Port::m_receiveTrace),
                            "ns3::lossless::Port::FrameCallback")
            .AddTraceSource("IngressBytes",
                            "The bytes in the ingress accounting of a class have changed.",
                            MakeTraceSourceAccessor(&Port::m_ingressTrace),
                            "ns3::lossless::Port::BytesCallback")
            .AddTraceSource("Egress",
                            "The bytes that wait in the egress queues of a class have changed.",
                            MakeTraceSourceAccessor(&Port::m_egressTrace),
                            "ns3::lossless::Port::EgressCallback");
    return tid;
}

Port::Port()
    : m_transmitEnd(this, &Port::TransmitEnd),
      m_inbound(this),
      m_pending(this),
      m_ideal(this),
      m_wake(this, &Port::Wake)
{
    m_pausedSince.fill(-1);
}

Port::~Port() = default;

void
Port::DoDispose()
{
    m_flowControls.clear();
    m_gates.clear();
    m_selectors.clear();
    m_byteObservers.clear();
    m_xoffListeners.clear();
    m_deadlockModels.clear();
    m_orderModels.clear();
    m_firmGates.clear();
    Object::DoDispose();
}

void
Port::Attach(FabricNode* node, uint16_t index, Port* peer, uint64_t rate, int64_t delay)
{
    NS_ABORT_MSG_IF(rate == 0, "the rate of a link must be above 0 bit/s");
    m_node = node;
    m_index = index;
    m_peer = peer;
    m_rate = rate;
    m_delay = delay;
    constexpr uint64_t PS_BITS = 8'000'000'000'000ULL;
    m_psPerByte = PS_BITS % rate == 0 ? static_cast<int64_t>(PS_BITS / rate) : 0;
}

void
Port::AddFlowControl(Ptr<FlowControl> flowControl)
{
    NS_ABORT_MSG_IF(m_started,
                    flowControl->GetInstanceTypeId().GetName()
                        << " was added to a port of " << m_node->GetName()
                        << " that has started already: it would never be started; an agent adds "
                           "flow controls in SetUp");
    flowControl->SetPort(this);
    m_flowControls.push_back(flowControl);
    const auto enter = [&flowControl](auto& list) {
        using Role = std::remove_pointer_t<typename std::decay_t<decltype(list)>::value_type>;
        auto* role = dynamic_cast<Role*>(PeekPointer(flowControl));
        if (role)
        {
            list.push_back(role);
        }
        return role != nullptr;
    };
    enter(m_byteObservers);
    enter(m_xoffListeners);
    enter(m_selectors);
    const bool isGate = enter(m_gates);
    const bool keepsOrder = enter(m_orderModels);
    const bool isModel = enter(m_deadlockModels);
    if (isGate && !keepsOrder)
    {
        m_firmGates.push_back(m_gates.back());
    }
    m_unjudged = m_unjudged || (isGate && !isModel);
}

const std::vector<Ptr<FlowControl>>&
Port::GetFlowControls() const
{
    return m_flowControls;
}

void
Port::AddSource(FrameSource* source)
{
    if (!m_source)
    {
        m_source = source;
        return;
    }
    if (!m_ring)
    {
        m_ring = std::make_unique<SourceRing>();
        m_ring->Add(m_source, m_ready);
        m_source = m_ring.get();
    }
    m_ring->Add(source, 0);
}

void
Port::Start()
{
    m_started = true;
    m_controlDelayPs = m_controlDelay.GetTimeStep();
    const uint16_t lanes =
        m_queueService == QueueService::FIFO ? 1 : static_cast<uint16_t>(m_node->GetNPorts() + 1);
    const QueueSelector* owner = nullptr;
    for (const QueueSelector* selector : m_selectors)
    {
        if (selector->GetOwnQueues() > 0)
        {
            if (owner)
            {
                Refuse("two flow controls of ",
                       m_node->GetName(),
                       " ask for egress queues of their own; one of a chain may");
            }
            owner = selector;
        }
    }
    const uint32_t own = owner ? owner->GetOwnQueues() : 0;
    if (own > MAX_OWN_QUEUES)
    {
        Refuse("a flow control of ",
               m_node->GetName(),
               " asks for ",
               own,
               " egress queues of its own a class; at most ",
               MAX_OWN_QUEUES,
               " are possible");
    }
    m_queues.reserve((own + 1) * N_CLASSES);
    for (uint32_t queue = 0; queue < (own + 1) * N_CLASSES; ++queue)
    {
        m_queues.emplace_back(static_cast<uint8_t>(queue % N_CLASSES),
                              queue < N_CLASSES ? lanes : static_cast<uint16_t>(1));
    }
    for (uint8_t cls = 0; owner && cls < N_CLASSES; ++cls)
    {
        m_own.push_back(std::make_unique<OwnQueues>(*this, cls, own, owner->MakeScheduler()));
    }
    m_blockCount.assign(m_queues.size(), 0);
    for (const auto& flowControl : m_flowControls)
    {
        flowControl->Start();
    }
}

void
Port::Enqueue(Frame* frame)
{
    if (frame->cls >= N_CLASSES)
    {
        m_controlQueue.Push(frame);
    }
    else
    {
        const uint16_t queue = QueueOf(*frame);
        frame->queued = NowPs();
        frame->order = m_joined++;
        m_queues[queue].Push(frame);
        if (queue < N_CLASSES)
        {
            m_nonempty |= 1U << queue;
        }
        else
        {
            NoteFrames(queue, frame->bytes);
        }
        TellEgress(frame->cls);
        for (QueueSelector* selector : m_selectors)
        {
            selector->NotifyJoined(queue, *frame);
        }
        if (m_node->HasQueueAgents())
        {
            m_node->TellQueue(*this, queue, *frame, true);
        }
        if ((m_held >> frame->cls) & 1U)
        {
            m_node->GetObserver()->NotifyJoined(*this, queue, *frame);
        }
    }
    if (!m_busy)
    {
        TransmitNext();
    }
}

uint16_t
Port::QueueOf(const Frame& frame) const
{
    uint16_t queue = frame.cls;
    for (const QueueSelector* selector : m_selectors)
    {
        queue = selector->SelectQueue(frame, queue);
    }
    return queue;
}

void
Port::Reopen()
{
    ReopenSource(ANY_QUEUE);
}

void
Port::ReopenSource(uint16_t queue)
{
    if (m_source && HasSelectors())
    {
        m_source->Reopen(queue);
    }
}

void
Port::SetReady(const FrameSource* source, uint8_t cls, bool ready)
{
    if (m_ring)
    {
        ready = m_ring->SetReady(source, cls, ready);
    }
    const uint32_t bit = 1U << cls;
    m_ready = ready ? m_ready | bit : m_ready & ~bit;
}

void
Port::SendControl(Frame* frame, bool ideal)
{
    Launch(frame, ideal ? Way::IDEAL : Way::LAST);
}

bool
Port::SendState(Frame* frame, bool first)
{
    frame->control->isState = true;
    Frame* waiting = FindState(frame->control->opcode);
    if (waiting && m_states == States::LATEST)
    {
        ControlFrame& state = *waiting->control;
        state.classes |= frame->control->classes;
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if ((frame->control->classes >> cls) & 1U)
            {
                state.value[cls] = frame->control->value[cls];
            }
        }
        state.extraLength = 0; // what agents appended was about the former words
        m_node->TellDecorate(*this, state);
        FramePool::Give(frame);
        NoteFirmer(); // a release that was under way may be no more
        return false;
    }
    Launch(frame, first ? Way::FIRST : Way::LAST);
    return true;
}

Frame*
Port::FindState(uint16_t opcode) const
{
    Frame* last = nullptr;
    for (Frame* waiting = m_macQueue.Head(); waiting; waiting = waiting->next)
    {
        last = waiting->control->opcode == opcode ? waiting : last;
    }
    return last;
}

void
Port::Launch(Frame* frame, Way way)
{
    if (!m_up)
    {
        FramePool::Give(frame);
        return;
    }
    m_node->TellDecorate(*this, *frame->control);
    ++m_controlOut;
    if (way == Way::IDEAL)
    {
        m_peer->m_ideal.Send(m_delay + m_peer->m_controlDelayPs, frame);
        return;
    }
    frame->bytes = static_cast<uint16_t>(m_controlFrameSize);
    Frame* before = way == Way::FIRST ? FindState(frame->control->opcode) : nullptr;
    if (before)
    {
        m_macQueue.InsertAfter(before, frame); // States All: what was said first goes first
    }
    else
    {
        way == Way::FIRST ? m_macQueue.PushFront(frame) : m_macQueue.Push(frame);
    }
    Kick();
}

void
Port::Kick()
{
    if (!m_busy)
    {
        TransmitNext();
    }
}

Port::OwnQueues&
Port::OwnOf(uint16_t queue) const
{
    return *m_own[queue % N_CLASSES];
}

bool
Port::IsIgnored(uint16_t queue) const
{
    return queue < N_CLASSES ? (m_ignore >> queue) & 1U
                             : OwnOf(queue).ignored[OwnQueues::PlaceOf(queue)];
}

bool
Port::IsBlocked(uint16_t queue) const
{
    return m_blockCount[queue] > 0 || (queue >= N_CLASSES && OwnOf(queue).paused > 0);
}

void
Port::NoteFrames(uint16_t queue, int64_t bytes)
{
    if (queue < N_CLASSES)
    {
        const uint32_t bit = 1U << queue;
        m_nonempty = m_queues[queue].GetFrames() > 0 ? m_nonempty | bit : m_nonempty & ~bit;
        return;
    }
    OwnOf(queue).bytes += bytes;
    OwnOf(queue).Update(queue);
}

void
Port::AddBlock(uint16_t queue)
{
    if (m_blockCount[queue]++ > 0)
    {
        return;
    }
    if (queue < N_CLASSES)
    {
        m_blocked |= 1U << queue;
        return;
    }
    ++OwnOf(queue).blocked;
    OwnOf(queue).Update(queue);
}

void
Port::TakeBlock(uint16_t queue)
{
    NS_ABORT_MSG_IF(m_blockCount[queue] == 0,
                    "a flow control unblocked a queue that it had not blocked");
    if (--m_blockCount[queue] > 0)
    {
        return;
    }
    NoteHeldUntil(queue % N_CLASSES, NowPs());
    if (queue < N_CLASSES)
    {
        m_blocked &= ~(1U << queue);
        return;
    }
    --OwnOf(queue).blocked;
    OwnOf(queue).Update(queue);
}

void
Port::Block(uint16_t queue)
{
    m_unjudged = m_unjudged || m_deadlockModels.empty();
    AddBlock(queue);
    UpdateHeld(queue % N_CLASSES);
}

void
Port::Unblock(uint16_t queue)
{
    TakeBlock(queue);
    if (m_blockCount[queue] == 0)
    {
        UpdateHeld(queue % N_CLASSES);
        Kick();
    }
}

void
Port::BlockClass(uint8_t cls, bool block)
{
    m_unjudged = m_unjudged || m_deadlockModels.empty();
    block ? AddBlock(cls) : TakeBlock(cls);
    if (!m_own.empty())
    {
        // The scheduler is not told: turns and deficits outlast the pause.
        uint32_t& paused = m_own[cls]->paused;
        paused += block ? 1 : -1;
        const uint32_t bit = 1U << (N_CLASSES + cls);
        m_blocked = paused > 0 ? m_blocked | bit : m_blocked & ~bit;
    }
    UpdateHeld(cls);
    if (!block)
    {
        Kick();
    }
}

void
Port::UpdateHeld(uint8_t cls)
{
    PortObserver* observer = m_node->GetObserver();
    if (!observer)
    {
        return;
    }
    // A scheme that gates frame by frame says with NotePaused that it may have to.
    const uint32_t bit = 1U << cls;
    if (m_blocked & bit || (!m_own.empty() && m_own[cls]->blocked > 0) ||
        (!m_gates.empty() && m_pausedSince[cls] >= 0))
    {
        m_held |= bit;
        observer->NotifyHeld(*this, cls);
    }
    else if (m_held & bit)
    {
        m_held &= ~bit;
        observer->NotifyFree(*this, cls);
    }
}

void
Port::SetIgnorePause(uint16_t queue, bool ignore)
{
    if (queue < N_CLASSES)
    {
        const uint32_t bit = 1U << queue;
        m_ignore = ignore ? m_ignore | bit : m_ignore & ~bit;
    }
    else
    {
        std::vector<bool>& ignored = OwnOf(queue).ignored;
        ignored[OwnQueues::PlaceOf(queue)] = ignore;
        OwnOf(queue).Update(queue);
        const uint32_t bit = 1U << (N_CLASSES + queue % N_CLASSES);
        const bool any = std::find(ignored.begin(), ignored.end(), true) != ignored.end();
        m_ignore = any ? m_ignore | bit : m_ignore & ~bit;
    }
    if (m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyChange();
    }
    Kick();
}

bool
Port::IsHeld(uint16_t queue) const
{
    const Frame* head = m_queues[queue].Head();
    if (!head || IsIgnored(queue))
    {
        return false;
    }
    if (IsBlocked(queue))
    {
        return true;
    }
    const int64_t now = NowPs();
    return std::any_of(
               m_firmGates.begin(),
               m_firmGates.end(),
               [&](const Gate* gate) { return gate->GetEarliest(queue, *head, now) == NEVER; }) ||
           std::any_of(m_orderModels.begin(), m_orderModels.end(), [&](const OrderModel* model) {
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

bool
Port::IsHeldForGood(uint16_t queue) const
{
    // held by the peer: what only waits for another queue of the port is not
    if (!IsHeld(queue))
    {
        return false;
    }
    const Frame& head = *m_queues[queue].Head();
    const int64_t now = NowPs();
    if (!IsBlocked(queue) &&
        std::none_of(m_firmGates.begin(), m_firmGates.end(), [&](const Gate* gate) {
            return gate->GetEarliest(queue, head, now) == NEVER;
        }))
    {
        return false;
    }
    bool released = false;
    const auto look = [&](const Frame& frame) {
        released =
            released || (frame.kind == FrameKind::MAC && !frame.lost &&
                         std::any_of(m_deadlockModels.begin(),
                                     m_deadlockModels.end(),
                                     [&](const DeadlockModel* model) {
                                         return model->WouldRelease(queue, head, *frame.control);
                                     }));
    };
    for (const Frame* frame = m_peer->m_macQueue.Head(); frame; frame = frame->next)
    {
        look(*frame);
    }
    m_inbound.ForEach(look);
    m_pending.ForEach(look);
    m_ideal.ForEach(look);
    return !released;
}

uint32_t
Port::DropQueue(uint16_t queue, DropCause cause)
{
    uint32_t dropped = 0;
    int64_t bytes = 0;
    EgressQueue& frames = m_queues[queue];
    while (frames.Head())
    {
        Frame* frame = frames.Pop();
        frame->egress = m_index; // a host's frames do not know it
        bytes -= frame->bytes;
        m_node->Discard(frame, cause);
        ++dropped;
    }
    NoteFrames(queue, bytes);
    TellEgress(frames.GetClass());
    ReopenSource(queue);
    return dropped;
}

std::vector<Frame*>
Port::TakeFrames(uint16_t queue, const std::function<bool(const Frame&)>& choose)
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
    if (kept.empty())
    {
        ReopenSource(queue);
    }
    TellEgress(frames.GetClass());
    if (m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyChange();
    }
    return taken;
}

void
Port::SetUp(bool up)
{
    if (up == m_up)
    {
        return;
    }
    m_up = up;
    if (!up)
    {
        // A control frame that has arrived but not taken effect dies with the link too: a pause
        // that took effect afterwards would have nobody to end it.
        const auto lose = [](Frame& frame) { frame.lost = true; };
        m_inbound.ForEach(lose);
        m_pending.ForEach(lose);
        m_ideal.ForEach(lose);
        while (!m_macQueue.IsEmpty())
        {
            FramePool::Give(m_macQueue.Pop());
        }
        while (!m_controlQueue.IsEmpty())
        {
            m_node->Drop(m_controlQueue.Pop(), DropCause::LINK_DOWN);
        }
        for (uint16_t queue = 0; queue < m_queues.size(); ++queue)
        {
            DropQueue(queue, DropCause::LINK_DOWN);
        }
    }
    for (const auto& flowControl : m_flowControls)
    {
        flowControl->NotifyLink(up);
    }
    if (m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyChange();
    }
    Kick();
}

void
Port::TransmitNext()
{
    if (!m_up)
    {
        return;
    }
    if (!m_macQueue.IsEmpty())
    {
        Transmit(m_macQueue.Pop());
        return;
    }
    if (!m_controlQueue.IsEmpty())
    {
        Transmit(m_controlQueue.Pop());
        return;
    }
    if (m_source)
    {
        Refill();
    }
    if (Frame* frame = SelectData())
    {
        Transmit(frame);
    }
}

void
Port::Refill()
{
    // One frame of a class is made ahead, so that flow controls and schedulers see a head; no more,
    // so that queue pairs share the port frame by frame. Where flow controls choose queues it is
    // one frame of a queue: the source holds back what would join one that is not empty.
    const bool select = HasSelectors();
    uint32_t wanted = select ? m_ready : m_ready & ~static_cast<uint32_t>(m_nonempty & 0xff);
    if (!wanted)
    {
        return;
    }
    m_busy = true; // Enqueue must not transmit yet
    while (wanted)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(wanted));
        wanted &= wanted - 1;
        do
        {
            if (Frame* frame = m_source->Pull(cls))
            {
                Enqueue(frame);
            }
        } while (select && (m_ready >> cls) & 1U);
    }
    m_busy = false;
}

int64_t
Port::Earliest(uint16_t queue, int64_t now) const
{
    int64_t earliest = now;
    const Frame& head = *m_queues[queue].Head();
    for (const Gate* gate : m_gates)
    {
        earliest = std::max(earliest, gate->GetEarliest(queue, head, now));
    }
    return earliest;
}

bool
Port::MayGo(uint16_t queue, int64_t now)
{
    if (m_gates.empty() || IsIgnored(queue))
    {
        return true;
    }
    const int64_t earliest = Earliest(queue, now);
    if (earliest <= now)
    {
        return true;
    }
    m_wakeWanted = std::min(m_wakeWanted, earliest);
    return false;
}

int
Port::SelectOf(uint8_t cls, uint32_t mask, int64_t now)
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
Port::SelectStrict(uint32_t mask, int64_t now)
{
    for (uint32_t classes = (mask | mask >> N_CLASSES) & 0xff; classes;)
    {
        const auto cls = static_cast<uint8_t>(std::bit_width(classes) - 1);
        classes &= ~(1U << cls);
        const int queue = SelectOf(cls, mask, now);
        if (queue >= 0)
        {
            return queue;
        }
    }
    return -1;
}

int
Port::SelectFifo(uint32_t mask, int64_t now)
{
    int best = -1;
    for (uint32_t classes = (mask | mask >> N_CLASSES) & 0xff; classes; classes &= classes - 1)
    {
        const int queue = SelectOf(static_cast<uint8_t>(std::countr_zero(classes)), mask, now);
        if (queue >= 0 &&
            (best < 0 || m_queues[queue].Head()->queued < m_queues[best].Head()->queued))
        {
            best = queue;
        }
    }
    return best;
}

int
Port::SelectDwrr(uint32_t mask, int64_t now)
{
    // The first queue of each class that may go stands for the class in this turn.
    std::array<int, N_CLASSES> candidate;
    candidate.fill(-1);
    bool any = false;
    for (uint32_t classes = (mask | mask >> N_CLASSES) & 0xff; classes; classes &= classes - 1)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(classes));
        candidate[cls] = SelectOf(cls, mask, now);
        any = any || candidate[cls] >= 0;
    }
    while (any)
    {
        const int queue = candidate[m_turn];
        if (queue >= 0)
        {
            if (m_fresh)
            {
                m_deficit[m_turn] += m_quantum;
                m_fresh = false;
            }
            const int64_t bytes = m_queues[queue].Head()->bytes;
            if (bytes <= m_deficit[m_turn])
            {
                m_deficit[m_turn] -= bytes;
                return queue;
            }
        }
        else
        {
            m_deficit[m_turn] = 0;
        }
        m_turn = (m_turn + 1) % N_CLASSES;
        m_fresh = true;
    }
    return -1;
}

Frame*
Port::SelectData()
{
    const uint32_t mask = Eligible();
    if (!mask)
    {
        return nullptr;
    }
    const int64_t now = NowPs();
    m_wakeWanted = NEVER;
    int queue = -1;
    switch (m_classService)
    {
    case ClassService::STRICT:
        queue = SelectStrict(mask, now);
        break;
    case ClassService::DWRR:
        queue = SelectDwrr(mask, now);
        break;
    case ClassService::FIFO:
        queue = SelectFifo(mask, now);
        break;
    }
    if (queue >= 0)
    {
        return PopQueue(static_cast<uint16_t>(queue), now);
    }
    if (m_wakeWanted < m_wakeAt)
    {
        m_wakeAt = m_wakeWanted;
        m_wake.Schedule(m_wakeAt - now);
    }
    return nullptr;
}

Frame*
Port::PopQueue(uint16_t queue, int64_t now)
{
    EgressQueue& frames = m_queues[queue];
    Frame* frame = frames.Pop();
    if (frame->collects)
    {
        WriteTelemetry(*frame, frames.GetBytes(), now);
    }
    if (queue >= N_CLASSES)
    {
        OwnOf(queue).scheduler->NotifySent(OwnQueues::PlaceOf(queue), frame->bytes);
        NoteFrames(queue, -int64_t{frame->bytes});
    }
    TellEgress(frame->cls);
    if (frames.GetFrames() == 0)
    {
        m_nonempty &= queue < N_CLASSES ? ~(1U << queue) : UINT32_MAX;
        ReopenSource(queue);
    }
    for (Gate* gate : m_gates)
    {
        gate->NotifySent(queue, *frame, now);
    }
    if (m_node->HasQueueAgents())
    {
        m_node->TellQueue(*this, queue, *frame, false);
    }
    if ((m_held >> frame->cls) & 1U)
    {
        m_node->GetObserver()->NotifyLeft(*this, queue);
    }
    return frame;
}

void
Port::WriteTelemetry(const Frame& frame, int64_t queueBytes, int64_t now) const
{
    if (frame.src == m_node->GetId())
    {
        return; // switches write, not the sender
    }
    Telemetry& stack = *frame.telemetry;
    if (stack.hops == stack.room)
    {
        stack.missed += stack.missed < UINT8_MAX;
        return;
    }
    const int64_t sent = std::accumulate(m_wireOut.begin(), m_wireOut.end(), int64_t{0});
    stack.hop[stack.hops++] = TelemetryHop{now, sent, queueBytes, m_rate};
}

void
Port::Wake()
{
    if (m_wakeAt <= NowPs())
    {
        m_wakeAt = NEVER;
    }
    Kick();
}

void
Port::Transmit(Frame* frame)
{
    m_busy = true;
    const int64_t wire = frame->bytes + static_cast<int64_t>(m_overhead);
    const int64_t time = m_psPerByte ? wire * m_psPerByte : TransmissionTime(wire, m_rate);
    m_wireOut[frame->cls] += wire;
    m_departure = Departure::Of(*frame);
    m_departure.egress = m_index;
    m_releaseDue = frame->charged;
    frame->charged = false;
    if (frame->paced)
    {
        frame->paced = false;
        m_node->NotifyLeft(*frame); // may Kick: the port is busy already
    }
    m_transmitTrace(*this, *frame);
    m_peer->m_inbound.Send(time + m_delay, frame);
    m_transmitEnd.Schedule(time);
    if (m_releaseAt == ReleaseAt::START)
    {
        ReleaseDeparture();
    }
}

void
Port::ReleaseDeparture()
{
    if (m_releaseDue)
    {
        m_releaseDue = false;
        m_node->Release(m_departure);
    }
}

void
Port::TransmitEnd()
{
    // Still busy: what the release sets off must not start a transmission inside this one's end.
    ReleaseDeparture();
    m_busy = false;
    TransmitNext();
}

void
Port::Arrive(Frame* frame)
{
    if (frame->lost)
    {
        frame->ingress = m_index;
        m_node->Drop(frame, DropCause::LINK_DOWN);
        return;
    }
    m_receiveTrace(*this, *frame);
    if (frame->kind == FrameKind::MAC)
    {
        if (m_controlDelayPs == 0)
        {
            Obey(frame);
            return;
        }
        m_pending.Send(m_controlDelayPs, frame);
        return;
    }
    const uint8_t cls = frame->cls;
    const int64_t wire = frame->bytes + static_cast<int64_t>(m_overhead);
    m_wireIn[cls] += wire;
    m_dataIn += frame->kind == FrameKind::DATA;
    frame->ingress = m_index;
    m_node->Receive(frame, *this);
}

void
Port::Obey(Frame* frame)
{
    if (frame->lost)
    {
        FramePool::Give(frame);
        return;
    }
    const ControlFrame& control = *frame->control;
    m_node->TellControl(*this, control);
    for (const auto& flowControl : m_flowControls)
    {
        if (flowControl->ReceiveControl(control))
        {
            break;
        }
    }
    FramePool::Give(frame);
}

void
Port::NotePauseSent(uint8_t cls, bool on)
{
    if (on)
    {
        ++m_pausesSent;
    }
    m_pauseSentTrace(*this, cls, on);
    m_node->TellPause(*this, cls, on, true);
}

void
Port::NotePaused(uint8_t cls, bool on)
{
    if (on)
    {
        m_pausedSince[cls] = NowPs();
    }
    else
    {
        m_pausedTime += NowPs() - m_pausedSince[cls];
        m_pausedSince[cls] = -1;
        NoteHeldUntil(cls, NowPs());
    }
    UpdateHeld(cls);
    m_pausedTrace(*this, cls, on);
    m_node->TellPause(*this, cls, on, false);
}

void
Port::NoteHeldUntil(uint8_t cls, int64_t until)
{
    m_heldUntil[cls] = std::max(m_heldUntil[cls], until);
}

void
Port::NoteFirmer()
{
    if (m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyChange();
    }
}

void
Port::NotifyReceived(const Frame& frame, int64_t queueBytes)
{
    if (!m_ingressTrace.IsEmpty())
    {
        m_ingressTrace(*this, frame.cls, queueBytes);
    }
    for (ByteObserver* observer : m_byteObservers)
    {
        observer->NotifyReceived(frame, queueBytes);
    }
}

void
Port::NotifyReleased(const Departure& departure, int64_t queueBytes)
{
    if (!m_ingressTrace.IsEmpty())
    {
        m_ingressTrace(*this, departure.cls, queueBytes);
    }
    for (ByteObserver* observer : m_byteObservers)
    {
        observer->NotifyReleased(departure, queueBytes);
    }
}

void
Port::NotifyXoff(uint8_t cls, bool xoff)
{
    uint32_t& reasons = m_reasons[cls];
    NS_ABORT_MSG_IF(!xoff && reasons == 0, "a reason for a pause ended that had not begun");
    reasons += xoff ? 1 : -1;
    if (reasons != (xoff ? 1 : 0))
    {
        return;
    }
    for (XoffListener* listener : m_xoffListeners)
    {
        listener->NotifyXoff(cls, xoff);
    }
}

FabricNode&
Port::GetNode() const
{
    return *m_node;
}

uint32_t
Port::GetNodeId() const
{
    return m_node->GetId();
}

uint32_t
Port::GetPeerId() const
{
    return m_peer->m_node->GetId();
}

Port&
Port::GetPeer() const
{
    return *m_peer;
}

uint16_t
Port::GetIndex() const
{
    return m_index;
}

uint64_t
Port::GetRate() const
{
    return m_rate;
}

int64_t
Port::GetDelay() const
{
    return m_delay;
}

uint32_t
Port::GetOverhead() const
{
    return m_overhead;
}

uint32_t
Port::GetControlFrameSize() const
{
    return m_controlFrameSize;
}

int64_t
Port::GetControlDelay() const
{
    return m_controlDelay.GetTimeStep();
}

void
Port::SetLargestFrame(uint32_t bytes)
{
    m_largestFrame = bytes;
}

uint32_t
Port::GetLargestFrame() const
{
    return m_largestFrame;
}

Port::ReleaseAt
Port::GetReleaseAt() const
{
    return m_releaseAt;
}

const std::vector<EgressQueue>&
Port::GetQueues() const
{
    return m_queues;
}

uint64_t
Port::GetFramesJoined() const
{
    return m_joined;
}

int64_t
Port::GetIngressBytes(uint8_t cls) const
{
    return m_node->GetBuffer().GetUsage(m_index, cls).Total();
}

int64_t
Port::GetEgressBytes(uint8_t cls) const
{
    return m_queues[cls].GetBytes() + (m_own.empty() ? 0 : m_own[cls]->bytes);
}

int64_t
Port::GetWireBytesIn(uint8_t cls) const
{
    return m_wireIn[cls];
}

int64_t
Port::GetWireBytesOut(uint8_t cls) const
{
    return m_wireOut[cls];
}

uint64_t
Port::GetDataFramesIn() const
{
    return m_dataIn;
}

uint64_t
Port::GetControlFramesOut() const
{
    return m_controlOut;
}

uint64_t
Port::GetPausesSent() const
{
    return m_pausesSent;
}

int64_t
Port::GetPausedTime() const
{
    int64_t time = m_pausedTime;
    for (const int64_t since : m_pausedSince)
    {
        time += since >= 0 ? NowPs() - since : 0;
    }
    return time;
}

bool
Port::IsPaused(uint8_t cls) const
{
    return m_pausedSince[cls] >= 0;
}

uint64_t
Port::CountHeld() const
{
    uint64_t held = m_controlQueue.GetFrames();
    for (const EgressQueue& queue : m_queues)
    {
        held += queue.GetFrames();
    }
    m_inbound.ForEach([&held](const Frame& frame) { held += frame.kind != FrameKind::MAC; });
    return held;
}

} // namespace lossless
} // namespace ns3
