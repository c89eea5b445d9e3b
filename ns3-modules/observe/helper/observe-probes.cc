/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-probe.h"

#include "ns3/lossless-rate.h"

#include <algorithm>
#include <array>
#include <unordered_map>

/**
 * @file
 * @ingroup observe
 * The probes of this module, each looked up by its TypeId.
 */

namespace ns3
{
namespace observe
{

using lossless::Fabric;
using lossless::Frame;
using lossless::FrameKind;
using lossless::NowPs;
using lossless::Port;

namespace
{

/**
 * @brief The TypeId of a probe without attributes.
 *
 * @tparam T probe
 * @tparam Parent its base class
 * @param name its full name
 * @return the object TypeId
 */
template <class T, class Parent = Probe>
TypeId
TypeIdOf(const char* name)
{
    return TypeId(name).SetParent<Parent>().SetGroupName("observe").template AddConstructor<T>();
}

/**
 * @brief Call a function for each class of a mask.
 *
 * @tparam F type of the function
 * @param classes mask
 * @param call the function
 */
template <class F>
void
ForEachClass(uint32_t classes, F call)
{
    for (uint8_t cls = 0; cls < lossless::N_CLASSES; ++cls)
    {
        if ((classes >> cls) & 1U)
        {
            call(cls);
        }
    }
}

/// A table with the bytes of a (port, class), initially 0.
class BytesProbe : public SampledProbe
{
  public:
    void Open(Fabric& /* fabric */, Table& table) override
    {
        m_columns.Open(table);
        // in the queues
        m_bytes = table.Add<int64_t>("bytes");
    }

  protected:
    /// Write a row of 0 for each class not requested before; return these classes.
    uint32_t Begin(const Port& port, uint32_t classes)
    {
        classes = Claim(port, classes);
        ForEachClass(classes, [&](uint8_t cls) { Write(port, cls, 0); });
        return classes;
    }

    void Write(const Port& port, uint8_t cls, int64_t bytes)
    {
        const auto row = m_columns.Append(port, cls);
        m_bytes->push_back(bytes);
    }

  private:
    PortColumns m_columns;                   //!< time, node, peer, class
    ColumnValues<int64_t>* m_bytes{nullptr}; //!< B
};

/// "queue": ingress bytes of a (port, class).
class QueueProbe : public BytesProbe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<QueueProbe, SampledProbe>("ns3::observe::QueueProbe");
        return tid;
    }

    void Watch(Port& port, uint32_t classes) override
    {
        classes = Begin(port, classes);
        Listen<const Port&, uint8_t, int64_t>(
            port,
            "IngressBytes",
            [this, classes](const Port& at, uint8_t cls, int64_t bytes) {
                if ((classes >> cls) & 1U)
                {
                    Write(at, cls, bytes);
                }
            });
    }

  private:
    void Sample(const Port& port, uint8_t cls) override
    {
        Write(port, cls, port.GetIngressBytes(cls));
    }
};

/// "buffer": the pools of the buffer that hold the ingress bytes of a (port, class).
class BufferProbe : public SampledProbe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<BufferProbe, SampledProbe>("ns3::observe::BufferProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        m_columns.Open(table);
        // in the private part; the three add up to `queue`
        m_private = table.Add<int64_t>("private_bytes");
        // in the shared pool
        m_shared = table.Add<int64_t>("shared_bytes");
        // in the headroom
        m_headroom = table.Add<int64_t>("headroom_bytes");
    }

    void Watch(Port& port, uint32_t classes) override
    {
        classes = Claim(port, classes);
        ForEachClass(classes, [&](uint8_t cls) { Write(port, cls, 0, 0, 0); });
        Listen<const Port&, uint8_t, int64_t>(
            port,
            "IngressBytes",
            [this, classes](const Port& at, uint8_t cls, int64_t /* bytes */) {
                if ((classes >> cls) & 1U)
                {
                    Sample(at, cls);
                }
            });
    }

  private:
    void Write(const Port& port, uint8_t cls, int64_t priv, int64_t shared, int64_t headroom)
    {
        const auto row = m_columns.Append(port, cls);
        m_private->push_back(priv);
        m_shared->push_back(shared);
        m_headroom->push_back(headroom);
    }

    void Sample(const Port& port, uint8_t cls) override
    {
        const auto usage = port.GetNode().GetBuffer().GetUsage(port.GetIndex(), cls);
        Write(port, cls, usage.priv, usage.shared, usage.headroom);
    }

    PortColumns m_columns;                      //!< time, node, peer, class
    ColumnValues<int64_t>* m_private{nullptr};  //!< B
    ColumnValues<int64_t>* m_shared{nullptr};   //!< B
    ColumnValues<int64_t>* m_headroom{nullptr}; //!< B
};

/// "egress": bytes in the egress queues of a (port, class).
class EgressProbe : public BytesProbe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<EgressProbe, SampledProbe>("ns3::observe::EgressProbe");
        return tid;
    }

    void Watch(Port& port, uint32_t classes) override
    {
        classes = Begin(port, classes);
        Listen<const Port&, uint8_t>(port, "Egress", [this, classes](const Port& at, uint8_t cls) {
            if ((classes >> cls) & 1U)
            {
                Sample(at, cls);
            }
        });
    }

  private:
    void Sample(const Port& port, uint8_t cls) override
    {
        Write(port, cls, port.GetEgressBytes(cls));
    }
};

/// "rate": wire bytes in and out since the last row, or of each arrival.
class RateProbe : public SampledProbe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<RateProbe, SampledProbe>("ns3::observe::RateProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        m_columns.Open(table);
        // received, on the wire
        m_rx = table.Add<int64_t>("rx_bytes");
        // sent, on the wire
        m_tx = table.Add<int64_t>("tx_bytes");
    }

    void Watch(Port& port, uint32_t classes) override
    {
        classes = Claim(port, classes);
        Listen<const Port&, const Frame&>(
            port,
            "Receive",
            [this, classes](const Port& at, const Frame& frame) { Record(classes, at, frame); });
    }

  private:
    void Record(uint32_t classes, const Port& port, const Frame& frame)
    {
        if (frame.kind != FrameKind::MAC && (classes >> frame.cls) & 1U)
        {
            Write(port, frame.cls, frame.bytes + static_cast<int64_t>(port.GetOverhead()), 0);
        }
    }

    void Write(const Port& port, uint8_t cls, int64_t rx, int64_t tx)
    {
        const auto row = m_columns.Append(port, cls);
        m_rx->push_back(rx);
        m_tx->push_back(tx);
    }

    void Sample(const Port& port, uint8_t cls) override
    {
        auto& [in, out] = m_last[{&port, cls}];
        const int64_t rx = port.GetCounters().wireIn[cls];
        const int64_t tx = port.GetCounters().wireOut[cls];
        Write(port, cls, rx - in, tx - out);
        in = rx;
        out = tx;
    }

    bool SamplesStart() const override
    {
        return false;
    }

    PortColumns m_columns;                //!< time, node, peer, class
    ColumnValues<int64_t>* m_rx{nullptr}; //!< B
    ColumnValues<int64_t>* m_tx{nullptr}; //!< B
    /// Bytes in and out at the last sample.
    std::map<std::pair<const Port*, uint8_t>, std::pair<int64_t, int64_t>> m_last;
};

/// "pause": intervals in which a port paused its peer, or was paused.
class PauseProbe : public Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<PauseProbe>("ns3::observe::PauseProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        // begin
        m_start = table.Add<int64_t>("start_ps");
        // end
        m_end = table.Add<int64_t>("end_ps");
        m_node = table.Add<uint32_t>("node");
        m_peer = table.Add<uint32_t>("peer");
        m_cls = table.Add<uint8_t>("class");
        // 0: this port paused its peer; 1: its peer paused it
        m_side = table.Add<uint8_t>("side");
        table.SetOrder(m_end, m_node);
    }

    void Watch(Port& port, uint32_t classes) override
    {
        classes = Claim(port, classes);
        port.TraceConnectWithoutContext("PauseSent",
                                        MakeCallback(&PauseProbe::Record, this, classes, SENT));
        port.TraceConnectWithoutContext("Paused",
                                        MakeCallback(&PauseProbe::Record, this, classes, OBEYED));
    }

    void Finish() override
    {
        for (const auto& [key, since] : m_open)
        {
            const auto& [node, index, cls, side] = key;
            Write(*since.first, cls, side, since.second);
        }
        m_open.clear();
    }

  private:
    static constexpr uint8_t SENT = 0;   //!< sent by this port
    static constexpr uint8_t OBEYED = 1; //!< obeyed by this port

    void Record(uint32_t classes, uint8_t side, const Port& port, uint8_t cls, bool on)
    {
        if (!((classes >> cls) & 1U))
        {
            return;
        }
        const auto row = BeginRow();
        const Key key{port.GetNodeId(), port.GetIndex(), cls, side};
        if (on)
        {
            m_open[key] = {&port, NowPs()};
            return;
        }
        const auto open = m_open.find(key);
        if (open != m_open.end())
        {
            Write(port, cls, side, open->second.second);
            m_open.erase(open);
        }
    }

    void Write(const Port& port, uint8_t cls, uint8_t side, int64_t start)
    {
        m_start->push_back(start);
        m_end->push_back(NowPs());
        m_node->push_back(port.GetNodeId());
        m_peer->push_back(port.GetNeighbour());
        m_cls->push_back(cls);
        m_side->push_back(side);
    }

    using Key = std::tuple<uint32_t, uint16_t, uint8_t, uint8_t>; //!< node, port, class, side

    std::map<Key, std::pair<const Port*, int64_t>> m_open; //!< since when (ps)
    ColumnValues<int64_t>* m_start{nullptr};               //!< ps
    ColumnValues<int64_t>* m_end{nullptr};                 //!< ps
    ColumnValues<uint32_t>* m_node{nullptr};               //!< number
    ColumnValues<uint32_t>* m_peer{nullptr};               //!< number
    ColumnValues<uint8_t>* m_cls{nullptr};                 //!< class
    ColumnValues<uint8_t>* m_side{nullptr};                //!< 0 sent, 1 obeyed
};

/// "drop": every frame dropped by any node.
class DropProbe : public Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<DropProbe>("ns3::observe::DropProbe");
        return tid;
    }

    void Open(Fabric& fabric, Table& table) override
    {
        m_time = table.Add<int64_t>("time_ps");
        m_node = table.Add<uint32_t>("node");
        m_peer = table.Add<uint32_t>("peer");
        m_cls = table.Add<uint8_t>("class");
        // 0 headroom full, 1 lossy class over its threshold, 2 no route, 3 time to live expired,
        // 4 link down, 5 by a scheme, 6 corrupted
        m_cause = table.Add<uint8_t>("cause");
        // number of the flow
        m_flow = table.Add<uint32_t>("flow");
        // of the frame
        m_bytes = table.Add<int64_t>("bytes");
        table.SetOrder(m_time, m_node);
        for (uint32_t node = 0; node < fabric.GetNNodes(); ++node)
        {
            lossless::FabricNode* owner = &fabric.GetNode(node);
            owner->TraceConnectWithoutContext("Drop",
                                              MakeCallback(&DropProbe::Record, this, owner));
        }
    }

  private:
    void Record(lossless::FabricNode* node,
                const std::string& /* name */,
                const Frame& frame,
                lossless::DropCause cause)
    {
        const auto row = BeginRow();
        m_time->push_back(NowPs());
        m_node->push_back(node->GetId());
        m_peer->push_back(frame.ingress < node->GetNPorts()
                              ? node->GetPort(frame.ingress).GetNeighbour()
                              : node->GetId());
        m_cls->push_back(frame.cls);
        m_cause->push_back(static_cast<uint8_t>(cause));
        m_flow->push_back(frame.flow);
        m_bytes->push_back(frame.bytes);
    }

    ColumnValues<int64_t>* m_time{nullptr};  //!< ps
    ColumnValues<uint32_t>* m_node{nullptr}; //!< number
    ColumnValues<uint32_t>* m_peer{nullptr}; //!< sender of the frame on the last link
    ColumnValues<uint8_t>* m_cls{nullptr};   //!< class
    ColumnValues<uint8_t>* m_cause{nullptr}; //!< DropCause
    ColumnValues<uint32_t>* m_flow{nullptr}; //!< number
    ColumnValues<int64_t>* m_bytes{nullptr}; //!< B
};

/// "control": MAC control frames at the start of their transmission; ideal ones are not on the
/// wire.
class ControlProbe : public Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<ControlProbe>("ns3::observe::ControlProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        m_time = table.Add<int64_t>("time_ps");
        m_node = table.Add<uint32_t>("node");
        m_peer = table.Add<uint32_t>("peer");
        // 0x0101 PFC, 0x0fc0 conceptual and 0x0fc1 multi-stage GFC, 0x0cbf credits (CBFC and
        // time-based GFC), 0x0bfc BFC
        m_opcode = table.Add<uint16_t>("opcode");
        // bit c is set: class c is addressed
        m_classes = table.Add<uint16_t>("classes");
        // on the wire: frame and overhead
        m_bytes = table.Add<int64_t>("bytes");
        table.SetOrder(m_time, m_node);
    }

    void Watch(Port& port, uint32_t classes) override
    {
        // a frame for classes of several calls is a single row
        const uint32_t added = Claim(port, classes);
        if (GetWatched(port) == added)
        {
            port.TraceConnectWithoutContext("Transmit", MakeCallback(&ControlProbe::Record, this));
        }
    }

  private:
    void Record(const Port& port, const Frame& frame)
    {
        if (frame.control && (GetWatched(port) & frame.control->classes))
        {
            const auto row = BeginRow();
            m_time->push_back(NowPs());
            m_node->push_back(port.GetNodeId());
            m_peer->push_back(port.GetNeighbour());
            m_opcode->push_back(frame.control->opcode);
            m_classes->push_back(frame.control->classes);
            m_bytes->push_back(frame.bytes + static_cast<int64_t>(port.GetOverhead()));
        }
    }

    ColumnValues<int64_t>* m_time{nullptr};     //!< ps
    ColumnValues<uint32_t>* m_node{nullptr};    //!< number
    ColumnValues<uint32_t>* m_peer{nullptr};    //!< number
    ColumnValues<uint16_t>* m_opcode{nullptr};  //!< MAC control opcode
    ColumnValues<uint16_t>* m_classes{nullptr}; //!< class-enable vector
    ColumnValues<int64_t>* m_bytes{nullptr};    //!< wire bytes
};

/// "control_value": the words of a state message (Port::SendState) for each class, at the start of
/// its transmission.
class ControlValueProbe : public Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<ControlValueProbe>("ns3::observe::ControlValueProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        m_time = table.Add<int64_t>("time_ps");
        m_node = table.Add<uint32_t>("node");
        m_peer = table.Add<uint32_t>("peer");
        // as in `control`
        m_opcode = table.Add<uint16_t>("opcode");
        m_cls = table.Add<uint8_t>("class");
        // quanta of PFC (0: RESUME), the stage, or the queue's bytes
        m_value = table.Add<uint32_t>("value");
        table.SetOrder(m_time, m_node);
    }

    void Watch(Port& port, uint32_t classes) override
    {
        port.TraceConnectWithoutContext(
            "Transmit",
            MakeCallback(&ControlValueProbe::Record, this, Claim(port, classes)));
    }

  private:
    void Record(uint32_t classes, const Port& port, const Frame& frame)
    {
        if (!frame.control || !frame.control->isState)
        {
            return;
        }
        const auto row = BeginRow();
        ForEachClass(classes & frame.control->classes, [&](uint8_t cls) {
            m_time->push_back(NowPs());
            m_node->push_back(port.GetNodeId());
            m_peer->push_back(port.GetNeighbour());
            m_opcode->push_back(frame.control->opcode);
            m_cls->push_back(cls);
            m_value->push_back(frame.control->value[cls]);
        });
    }

    ColumnValues<int64_t>* m_time{nullptr};    //!< ps
    ColumnValues<uint32_t>* m_node{nullptr};   //!< number
    ColumnValues<uint32_t>* m_peer{nullptr};   //!< number
    ColumnValues<uint16_t>* m_opcode{nullptr}; //!< MAC control opcode
    ColumnValues<uint8_t>* m_cls{nullptr};     //!< class
    ColumnValues<uint32_t>* m_value{nullptr};  //!< its word; its meaning depends on the opcode
};

/// "frame": every frame, of any class, at the start of its transmission.
class FrameProbe : public Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<FrameProbe>("ns3::observe::FrameProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        m_time = table.Add<int64_t>("time_ps");
        m_node = table.Add<uint32_t>("node");
        m_peer = table.Add<uint32_t>("peer");
        // 0 data, 1 ACK, 2 NACK, 3 CNP, 4 routed signal of a scheme, 5 MAC control
        m_kind = table.Add<uint8_t>("kind");
        // 8: the control queue
        m_cls = table.Add<uint8_t>("class");
        // number of the flow
        m_flow = table.Add<uint32_t>("flow");
        // packet sequence number; of ACK and NACK the next in order; -1: none
        m_psn = table.Add<int64_t>("psn");
        // of MAC control, as in `control`
        m_code = table.Add<uint16_t>("opcode");
        // on the wire
        m_bytes = table.Add<int64_t>("bytes");
        table.SetOrder(m_time, m_node);
    }

    void Watch(Port& port, uint32_t /* classes */) override
    {
        if (Claim(port, 1))
        {
            Listen<const Port&, const Frame&>(
                port,
                "Transmit",
                [this](const Port& at, const Frame& frame) { Record(at, frame); });
        }
    }

  private:
    /// Identifies a frame within its flow.
    /// @param frame the frame. @return packet number; -1 if it has none.
    static int64_t NumberOf(const Frame& frame)
    {
        switch (frame.kind)
        {
        case FrameKind::DATA:
            return frame.psn;
        case FrameKind::ACK:
        case FrameKind::NACK:
            return static_cast<int64_t>(frame.word[0]);
        default:
            return -1;
        }
    }

    void Record(const Port& port, const Frame& frame)
    {
        const auto row = BeginRow();
        m_time->push_back(NowPs());
        m_node->push_back(port.GetNodeId());
        m_peer->push_back(port.GetNeighbour());
        m_kind->push_back(static_cast<uint8_t>(frame.kind));
        m_cls->push_back(frame.cls);
        m_flow->push_back(frame.flow);
        m_psn->push_back(NumberOf(frame));
        m_code->push_back(frame.control ? frame.control->opcode : 0);
        m_bytes->push_back(frame.bytes + static_cast<int64_t>(port.GetOverhead()));
    }

    ColumnValues<int64_t>* m_time{nullptr};  //!< time of the first bit (ps)
    ColumnValues<uint32_t>* m_node{nullptr}; //!< number
    ColumnValues<uint32_t>* m_peer{nullptr}; //!< number
    ColumnValues<uint8_t>* m_kind{nullptr};  //!< FrameKind
    ColumnValues<uint8_t>* m_cls{nullptr};   //!< CONTROL_CLASS: the control queue, or MAC control
    ColumnValues<uint32_t>* m_flow{nullptr}; //!< number; 0 for MAC control
    ColumnValues<int64_t>* m_psn{nullptr};   //!< DATA: packet; ACK, NACK: next in order; else -1
    ColumnValues<uint16_t>* m_code{nullptr}; //!< MAC: opcode; else 0
    ColumnValues<int64_t>* m_bytes{nullptr}; //!< wire bytes
};

/// "flow_link": the data frames of a flow at an egress, from the first to the last one.
class FlowLinkProbe : public Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeIdOf<FlowLinkProbe>("ns3::observe::FlowLinkProbe");
        return tid;
    }

    void Open(Fabric& /* fabric */, Table& table) override
    {
        // first bit of its first frame
        m_first = table.Add<int64_t>("first_ps");
        // last bit of its last frame
        m_last = table.Add<int64_t>("last_ps");
        m_node = table.Add<uint32_t>("node");
        m_peer = table.Add<uint32_t>("peer");
        m_cls = table.Add<uint8_t>("class");
        // number of the flow
        m_flow = table.Add<uint32_t>("flow");
        // on the wire
        m_bytes = table.Add<int64_t>("bytes");
        table.SetOrder(m_first, m_node);
    }

    void Watch(Port& port, uint32_t classes) override
    {
        if (classes = Claim(port, classes); classes)
        {
            Listen<const Port&, const Frame&>(
                port,
                "Transmit",
                [this, classes, places = Places()](const Port& at, const Frame& frame) mutable {
                    if (frame.kind == FrameKind::DATA && (classes >> frame.cls) & 1U)
                    {
                        Record(at, frame, places);
                    }
                });
        }
    }

    void Finish() override
    {
        for (const Row& row : m_rows)
        {
            m_first->push_back(row.first);
            m_last->push_back(row.last);
            m_node->push_back(row.port->GetNodeId());
            m_peer->push_back(row.port->GetNeighbour());
            m_cls->push_back(row.cls);
            m_flow->push_back(row.flow);
            m_bytes->push_back(row.bytes);
        }
    }

  private:
    using Places = std::unordered_map<uint32_t, std::size_t>; //!< row numbers, by flow

    /// A row of the table.
    struct Row
    {
        const Port* port; //!< egress
        int64_t first;    //!< first bit of the first frame (ps)
        int64_t last;     //!< last bit of the last frame (ps)
        int64_t bytes;    //!< wire bytes
        uint32_t flow;    //!< number
        uint8_t cls;      //!< class
    };

    void Record(const Port& port, const Frame& frame, Places& places)
    {
        const int64_t now = NowPs();
        const auto lock = BeginRow();
        const auto [place, isNew] = places.try_emplace(frame.flow, m_rows.size());
        if (isNew)
        {
            m_rows.push_back({&port, now, now, 0, frame.flow, frame.cls});
        }
        Row& row = m_rows[place->second];
        const int64_t bytes = frame.bytes + static_cast<int64_t>(port.GetOverhead());
        row.last = now + lossless::TransmissionTime(bytes, port.GetRate());
        row.bytes += bytes;
    }

    std::vector<Row> m_rows;                 //!< in the order of their first frames
    ColumnValues<int64_t>* m_first{nullptr}; //!< ps
    ColumnValues<int64_t>* m_last{nullptr};  //!< ps
    ColumnValues<uint32_t>* m_node{nullptr}; //!< number
    ColumnValues<uint32_t>* m_peer{nullptr}; //!< number
    ColumnValues<uint8_t>* m_cls{nullptr};   //!< class
    ColumnValues<uint32_t>* m_flow{nullptr}; //!< number
    ColumnValues<int64_t>* m_bytes{nullptr}; //!< wire bytes
};

} // namespace

NS_OBJECT_ENSURE_REGISTERED(QueueProbe);
NS_OBJECT_ENSURE_REGISTERED(BufferProbe);
NS_OBJECT_ENSURE_REGISTERED(EgressProbe);
NS_OBJECT_ENSURE_REGISTERED(RateProbe);
NS_OBJECT_ENSURE_REGISTERED(PauseProbe);
NS_OBJECT_ENSURE_REGISTERED(DropProbe);
NS_OBJECT_ENSURE_REGISTERED(ControlProbe);
NS_OBJECT_ENSURE_REGISTERED(ControlValueProbe);
NS_OBJECT_ENSURE_REGISTERED(FrameProbe);
NS_OBJECT_ENSURE_REGISTERED(FlowLinkProbe);

} // namespace observe
} // namespace ns3
