/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-recorder.h"

#include "lossless-deadlock-oracle.h"
#include "lossless-fabric-node.h"
#include "lossless-port.h"

namespace ns3
{
namespace lossless
{

struct Recorder::QueueColumns
{
    explicit QueueColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          cls(table.Add<uint8_t>("class")),
          bytes(table.Add<int64_t>("bytes"))
    {
    }

    void Append(const Port& port, uint8_t number, int64_t now)
    {
        time->push_back(NowPs());
        node->push_back(port.GetNodeId());
        peer->push_back(port.GetPeerId());
        cls->push_back(number);
        bytes->push_back(now);
    }

    std::vector<int64_t>* time;  //!< ps
    std::vector<uint32_t>* node; //!< number
    std::vector<uint32_t>* peer; //!< number
    std::vector<uint8_t>* cls;   //!< class
    std::vector<int64_t>* bytes; //!< B
};

struct Recorder::BufferColumns
{
    explicit BufferColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          cls(table.Add<uint8_t>("class")),
          priv(table.Add<int64_t>("private_bytes")),
          shared(table.Add<int64_t>("shared_bytes")),
          headroom(table.Add<int64_t>("headroom_bytes"))
    {
    }

    void Append(const Port& port, uint8_t number, const BufferPolicy::Usage& usage)
    {
        time->push_back(NowPs());
        node->push_back(port.GetNodeId());
        peer->push_back(port.GetPeerId());
        cls->push_back(number);
        priv->push_back(usage.priv);
        shared->push_back(usage.shared);
        headroom->push_back(usage.headroom);
    }

    std::vector<int64_t>* time;     //!< ps
    std::vector<uint32_t>* node;    //!< number
    std::vector<uint32_t>* peer;    //!< number
    std::vector<uint8_t>* cls;      //!< class
    std::vector<int64_t>* priv;     //!< B
    std::vector<int64_t>* shared;   //!< B
    std::vector<int64_t>* headroom; //!< B
};

struct Recorder::RateColumns
{
    explicit RateColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          cls(table.Add<uint8_t>("class")),
          rx(table.Add<int64_t>("rx_bytes")),
          tx(table.Add<int64_t>("tx_bytes"))
    {
    }

    std::vector<int64_t>* time;  //!< ps
    std::vector<uint32_t>* node; //!< number
    std::vector<uint32_t>* peer; //!< number
    std::vector<uint8_t>* cls;   //!< class
    std::vector<int64_t>* rx;    //!< wire bytes in
    std::vector<int64_t>* tx;    //!< wire bytes out
};

struct Recorder::PauseColumns
{
    explicit PauseColumns(Table& table)
        : start(table.Add<int64_t>("start_ps")),
          end(table.Add<int64_t>("end_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          cls(table.Add<uint8_t>("class")),
          side(table.Add<uint8_t>("side"))
    {
    }

    std::vector<int64_t>* start; //!< ps
    std::vector<int64_t>* end;   //!< ps
    std::vector<uint32_t>* node; //!< number
    std::vector<uint32_t>* peer; //!< number
    std::vector<uint8_t>* cls;   //!< class
    std::vector<uint8_t>* side;  //!< 0 sent, 1 obeyed
};

struct Recorder::DropColumns
{
    explicit DropColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          cls(table.Add<uint8_t>("class")),
          cause(table.Add<uint8_t>("cause")),
          flow(table.Add<uint32_t>("flow")),
          bytes(table.Add<int64_t>("bytes"))
    {
    }

    std::vector<int64_t>* time;  //!< ps
    std::vector<uint32_t>* node; //!< number
    std::vector<uint32_t>* peer; //!< number
    std::vector<uint8_t>* cls;   //!< class
    std::vector<uint8_t>* cause; //!< DropCause
    std::vector<uint32_t>* flow; //!< number
    std::vector<int64_t>* bytes; //!< B
};

struct Recorder::ControlColumns
{
    explicit ControlColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          opcode(table.Add<uint16_t>("opcode")),
          classes(table.Add<uint16_t>("classes")),
          bytes(table.Add<int64_t>("bytes"))
    {
    }

    std::vector<int64_t>* time;     //!< ps
    std::vector<uint32_t>* node;    //!< number
    std::vector<uint32_t>* peer;    //!< number
    std::vector<uint16_t>* opcode;  //!< MAC control opcode
    std::vector<uint16_t>* classes; //!< class-enable vector
    std::vector<int64_t>* bytes;    //!< wire bytes
};

struct Recorder::ValueColumns
{
    explicit ValueColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          opcode(table.Add<uint16_t>("opcode")),
          cls(table.Add<uint8_t>("class")),
          value(table.Add<uint32_t>("value"))
    {
    }

    std::vector<int64_t>* time;    //!< ps
    std::vector<uint32_t>* node;   //!< number
    std::vector<uint32_t>* peer;   //!< number
    std::vector<uint16_t>* opcode; //!< MAC control opcode
    std::vector<uint8_t>* cls;     //!< class
    std::vector<uint32_t>* value;  //!< its word; its meaning depends on the opcode
};

struct Recorder::DetectionColumns
{
    explicit DetectionColumns(Table& table)
        : time(table.Add<int64_t>("time_ps")),
          node(table.Add<uint32_t>("node")),
          peer(table.Add<uint32_t>("peer")),
          cls(table.Add<uint8_t>("class")),
          way(table.Add<uint8_t>("way")),
          begun(table.Add<int64_t>("begun_ps")),
          looped(table.Add<int64_t>("looped_ps")),
          episode(table.Add<int64_t>("episode"))
    {
    }

    std::vector<int64_t>* time;    //!< ps
    std::vector<uint32_t>* node;   //!< number
    std::vector<uint32_t>* peer;   //!< number
    std::vector<uint8_t>* cls;     //!< class
    std::vector<uint8_t>* way;     //!< of the agent
    std::vector<int64_t>* begun;   //!< ps
    std::vector<int64_t>* looped;  //!< ps
    std::vector<int64_t>* episode; //!< that the oracle sees it in, or -1
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

Table*
Recorder::AddTable(const std::string& name)
{
    m_tables.push_back(std::make_unique<Table>(name));
    return m_tables.back().get();
}

const std::vector<std::unique_ptr<Table>>&
Recorder::GetTables() const
{
    return m_tables;
}

bool
Recorder::Trace(const std::string& table, Port* port, uint32_t classes, int64_t period)
{
    if (table == "queue")
    {
        if (!m_queue)
        {
            m_queue = std::make_unique<QueueColumns>(*AddTable(table));
        }
        if (period > 0)
        {
            m_samplers.push_back(
                std::make_unique<Sampler>(this, port, classes, period, Sampler::Kind::QUEUE));
            return true;
        }
        port->TraceQueues(this, classes);
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if ((classes >> cls) & 1U)
            {
                RecordQueue(*port, cls, 0);
            }
        }
        return true;
    }
    if (table == "buffer")
    {
        if (!m_buffer)
        {
            m_buffer = std::make_unique<BufferColumns>(*AddTable(table));
        }
        if (period > 0)
        {
            m_samplers.push_back(
                std::make_unique<Sampler>(this, port, classes, period, Sampler::Kind::BUFFER));
            return true;
        }
        port->TraceBuffer(this, classes);
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if ((classes >> cls) & 1U)
            {
                m_buffer->Append(*port, cls, {});
            }
        }
        return true;
    }
    if (table == "egress")
    {
        if (!m_egress)
        {
            m_egress = std::make_unique<QueueColumns>(*AddTable(table));
        }
        if (period > 0)
        {
            m_samplers.push_back(
                std::make_unique<Sampler>(this, port, classes, period, Sampler::Kind::EGRESS));
            return true;
        }
        port->TraceEgress(this, classes);
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if ((classes >> cls) & 1U)
            {
                RecordEgress(*port, cls, 0);
            }
        }
        return true;
    }
    if (table == "rate")
    {
        if (!m_rate)
        {
            m_rate = std::make_unique<RateColumns>(*AddTable(table));
        }
        if (period > 0)
        {
            m_samplers.push_back(
                std::make_unique<Sampler>(this, port, classes, period, Sampler::Kind::RATE));
        }
        else
        {
            port->TraceArrivals(this, classes);
        }
        return true;
    }
    if (table == "pause")
    {
        if (!m_pause)
        {
            m_pause = std::make_unique<PauseColumns>(*AddTable(table));
        }
        port->TracePauses(this, classes);
        return true;
    }
    if (table == "drop")
    {
        if (!m_drop)
        {
            m_drop = std::make_unique<DropColumns>(*AddTable(table));
        }
        return true;
    }
    if (table == "control")
    {
        if (!m_control)
        {
            m_control = std::make_unique<ControlColumns>(*AddTable(table));
        }
        port->TraceControl(this, classes);
        return true;
    }
    if (table == "control_value")
    {
        if (!m_values)
        {
            m_values = std::make_unique<ValueColumns>(*AddTable(table));
        }
        port->TraceControlValues(this, classes);
        return true;
    }
    if (table == "detection")
    {
        if (!m_detection)
        {
            m_detection = std::make_unique<DetectionColumns>(*AddTable(table));
        }
        return true;
    }
    return false;
}

void
Recorder::RecordQueue(const Port& port, uint8_t cls, int64_t bytes)
{
    m_queue->Append(port, cls, bytes);
}

void
Recorder::RecordBuffer(const Port& port, uint8_t cls)
{
    m_buffer->Append(port, cls, port.GetNode().GetBuffer().GetUsage(port.GetIndex(), cls));
}

void
Recorder::RecordEgress(const Port& port, uint8_t cls, int64_t bytes)
{
    m_egress->Append(port, cls, bytes);
}

void
Recorder::RecordRate(const Port& port, uint8_t cls, int64_t rx, int64_t tx)
{
    m_rate->time->push_back(NowPs());
    m_rate->node->push_back(port.GetNodeId());
    m_rate->peer->push_back(port.GetPeerId());
    m_rate->cls->push_back(cls);
    m_rate->rx->push_back(rx);
    m_rate->tx->push_back(tx);
}

void
Recorder::RecordPause(const Port& port, uint8_t cls, uint8_t side, int64_t start)
{
    m_pause->start->push_back(start);
    m_pause->end->push_back(NowPs());
    m_pause->node->push_back(port.GetNodeId());
    m_pause->peer->push_back(port.GetPeerId());
    m_pause->cls->push_back(cls);
    m_pause->side->push_back(side);
}

void
Recorder::RecordControl(const Port& port, const Frame& frame)
{
    m_control->time->push_back(NowPs());
    m_control->node->push_back(port.GetNodeId());
    m_control->peer->push_back(port.GetPeerId());
    m_control->opcode->push_back(frame.control->opcode);
    m_control->classes->push_back(frame.control->classes);
    m_control->bytes->push_back(frame.bytes + static_cast<int64_t>(port.GetOverhead()));
}

void
Recorder::RecordControlValues(const Port& port, const Frame& frame, uint32_t classes)
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (((classes & frame.control->classes) >> cls) & 1U)
        {
            m_values->time->push_back(NowPs());
            m_values->node->push_back(port.GetNodeId());
            m_values->peer->push_back(port.GetPeerId());
            m_values->opcode->push_back(frame.control->opcode);
            m_values->cls->push_back(cls);
            m_values->value->push_back(frame.control->value[cls]);
        }
    }
}

void
Recorder::RecordDrop(uint32_t node, uint32_t peer, const Frame& frame, DropCause cause)
{
    m_drop->time->push_back(NowPs());
    m_drop->node->push_back(node);
    m_drop->peer->push_back(peer);
    m_drop->cls->push_back(frame.cls);
    m_drop->cause->push_back(static_cast<uint8_t>(cause));
    m_drop->flow->push_back(frame.flow);
    m_drop->bytes->push_back(frame.bytes);
}

void
Recorder::RecordDetection(const Port& port, const Detection& detection)
{
    if (!m_detection)
    {
        return;
    }
    m_detection->time->push_back(NowPs());
    m_detection->node->push_back(port.GetNodeId());
    m_detection->peer->push_back(port.GetPeerId());
    m_detection->cls->push_back(detection.cls);
    m_detection->way->push_back(detection.way);
    m_detection->begun->push_back(detection.begun);
    m_detection->looped->push_back(detection.looped);
    DeadlockOracle* oracle = port.GetNode().GetOracle();
    m_detection->episode->push_back(
        oracle ? oracle->FindEpisode(port.GetNodeId(), port.GetIndex(), detection.cls) : -1);
}

bool
Recorder::TracesDrops() const
{
    return m_drop != nullptr;
}

Recorder::Sampler::Sampler(Recorder* recorder,
                           Port* port,
                           uint32_t classes,
                           int64_t period,
                           Kind kind)
    : m_recorder(recorder),
      m_port(port),
      m_classes(classes),
      m_period(period),
      m_kind(kind),
      m_rx(N_CLASSES, 0),
      m_tx(N_CLASSES, 0),
      m_event(this, &Sampler::Sample)
{
    m_event.Schedule(kind == Kind::RATE ? period : 0);
}

void
Recorder::Sampler::Sample()
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (!((m_classes >> cls) & 1U))
        {
            continue;
        }
        if (m_kind == Kind::EGRESS)
        {
            m_recorder->RecordEgress(*m_port, cls, m_port->GetEgressBytes(cls));
            continue;
        }
        if (m_kind == Kind::BUFFER)
        {
            m_recorder->RecordBuffer(*m_port, cls);
            continue;
        }
        if (m_kind == Kind::QUEUE)
        {
            m_recorder->RecordQueue(*m_port, cls, m_port->GetIngressBytes(cls));
            continue;
        }
        const int64_t rx = m_port->GetWireBytesIn(cls);
        const int64_t tx = m_port->GetWireBytesOut(cls);
        m_recorder->RecordRate(*m_port, cls, rx - m_rx[cls], tx - m_tx[cls]);
        m_rx[cls] = rx;
        m_tx[cls] = tx;
    }
    m_event.Schedule(m_period);
}

} // namespace lossless
} // namespace ns3
