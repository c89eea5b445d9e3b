/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-probe.h"

#include "ns3/lossless-port.h"
#include "ns3/lossless-refusal.h"

#include <algorithm>
#include <cctype>

namespace ns3
{
namespace observe
{

using lossless::Port;
using lossless::Refuse;

NS_OBJECT_ENSURE_REGISTERED(Probe);
NS_OBJECT_ENSURE_REGISTERED(SampledProbe);

TypeId
Probe::GetTypeId()
{
    static TypeId tid = TypeId("ns3::observe::Probe").SetParent<Object>().SetGroupName("observe");
    return tid;
}

std::string
Probe::TableOf(TypeId type)
{
    std::string name = type.GetName();
    name = name.substr(name.rfind(':') + 1);
    constexpr std::string_view END = "Probe";
    if (name.size() > END.size() && name.ends_with(END))
    {
        name.resize(name.size() - END.size());
    }
    std::string table;
    for (const char c : name)
    {
        const auto letter = static_cast<unsigned char>(c);
        table += std::isupper(letter) && !table.empty() ? "_" : "";
        table += static_cast<char>(std::tolower(letter));
    }
    return table;
}

void
Probe::Watch(Port& /* port */, uint32_t /* classes */)
{
}

void
Probe::Finish()
{
}

uint32_t
Probe::Claim(const Port& port, uint32_t classes)
{
    uint32_t& watched = m_watched[&port];
    const uint32_t added = classes & ~watched;
    watched |= classes;
    return added;
}

uint32_t
Probe::GetWatched(const Port& port) const
{
    const auto found = m_watched.find(&port);
    return found == m_watched.end() ? 0 : found->second;
}

/// Samples a port periodically.
class SampledProbe::Sampler
{
  public:
    /// Constructor.
    /// @param probe its probe. @param port port to sample. @param classes mask. @param period ps.
    Sampler(SampledProbe* probe, const Port* port, uint32_t classes, int64_t period)
        : m_probe(probe),
          m_port(port),
          m_classes(classes),
          m_period(period),
          m_event(this, &Sampler::Sample)
    {
        m_event.Schedule(probe->SamplesStart() ? 0 : period);
    }

  private:
    void Sample()
    {
        for (uint8_t cls = 0; cls < lossless::N_CLASSES; ++cls)
        {
            if ((m_classes >> cls) & 1U)
            {
                m_probe->Sample(*m_port, cls);
            }
        }
        m_event.Schedule(m_period);
    }

    SampledProbe* m_probe;                    //!< probe that writes the rows
    const Port* m_port;                       //!< port to sample
    uint32_t m_classes;                       //!< mask
    int64_t m_period;                         //!< ps
    lossless::ReusableEvent<Sampler> m_event; //!< next sample
};

TypeId
SampledProbe::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::observe::SampledProbe").SetParent<Probe>().SetGroupName("observe");
    return tid;
}

SampledProbe::SampledProbe() = default;
SampledProbe::~SampledProbe() = default;

void
SampledProbe::DoDispose()
{
    m_samplers.clear();
    Probe::DoDispose();
}

void
SampledProbe::WatchEvery(Port& port, uint32_t classes, Time period)
{
    m_samplers.push_back(std::make_unique<Sampler>(this, &port, classes, period.GetTimeStep()));
}

bool
SampledProbe::SamplesStart() const
{
    return true;
}

/// The leading columns of most tables.
void
PortColumns::Open(Table& table)
{
    m_table = &table;
    // when
    m_time = table.Add<int64_t>("time_ps");
    // the node, by its place in `nodes` of summary.json
    m_node = table.Add<uint32_t>("node");
    // the neighbour to which the port leads
    m_peer = table.Add<uint32_t>("peer");
    // traffic class
    m_cls = table.Add<uint8_t>("class");
    table.SetOrder(m_time, m_node);
}

std::unique_lock<std::mutex>
PortColumns::Append(const Port& port, uint8_t cls)
{
    std::unique_lock<std::mutex> row = m_table->BeginRow();
    m_time->push_back(lossless::NowPs());
    m_node->push_back(port.GetNodeId());
    m_peer->push_back(port.GetNeighbour());
    m_cls->push_back(cls);
    return row;
}

Recorder::Recorder(lossless::Fabric& fabric)
    : m_fabric(fabric)
{
}

Recorder::~Recorder()
{
    for (const auto& [table, probe] : m_probes)
    {
        probe->Dispose();
    }
}

Probe&
Recorder::Find(const std::string& table)
{
    const auto found = m_probes.find(table);
    if (found != m_probes.end())
    {
        return *found->second;
    }
    std::string known;
    std::string fills;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (!type.IsChildOf(Probe::GetTypeId()) || !type.HasConstructor())
        {
            continue;
        }
        const std::string name = Probe::TableOf(type);
        known += (known.empty() ? "" : ", ") + name;
        if (name == table && !fills.empty())
        {
            Refuse("both ", fills, " and ", type.GetName(), " fill the table '", table, "'");
        }
        fills = name == table ? type.GetName() : fills;
    }
    if (fills.empty())
    {
        Refuse("there is no trace table '", table, "'; there are ", known);
    }
    Ptr<Probe> probe = m_fabric.Make<Probe>(fills);
    m_probes[table] = probe;
    probe->SetTable(AddTable(table));
    probe->Open(m_fabric, *m_tables.back());
    return *probe;
}

void
Recorder::Trace(const std::string& table, Port& port, uint32_t classes, Time period)
{
    Probe& probe = Find(table);
    if (period.IsZero())
    {
        probe.Watch(port, classes);
        return;
    }
    auto* sampled = dynamic_cast<SampledProbe*>(&probe);
    if (!sampled)
    {
        Refuse("the table '", table, "' is recorded event by event: it has no period");
    }
    sampled->WatchEvery(port, classes, period);
}

Table&
Recorder::AddTable(const std::string& name)
{
    m_tables.push_back(std::make_unique<Table>(name));
    return *m_tables.back();
}

const std::vector<std::unique_ptr<Table>>&
Recorder::GetTables() const
{
    return m_tables;
}

std::string
Recorder::GetCellObstacle() const
{
    const auto found = std::find_if(m_tables.begin(), m_tables.end(), [this](const auto& table) {
        return m_probes.contains(table->GetName()) && !table->HasOrder();
    });
    return found == m_tables.end() ? ""
                                   : "the rows of the table '" + (*found)->GetName() +
                                         "' are in the order of the events";
}

void
Recorder::NotifyFinish()
{
    for (const auto& [table, probe] : m_probes)
    {
        probe->Finish();
    }
    for (const auto& table : m_tables)
    {
        if (table->HasOrder() && eventloop::CellLoop::Peek())
        {
            table->Sort();
        }
    }
}

} // namespace observe
} // namespace ns3
