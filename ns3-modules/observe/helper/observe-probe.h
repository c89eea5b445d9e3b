/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_PROBE_H
#define OBSERVE_PROBE_H

#include "ns3/callback.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/object.h"
#include "ns3/observe-table.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{
class Port;
}

namespace observe
{

/**
 * @ingroup observe
 * @brief Fills a result table from trace sources.
 *
 * A table needs only a derived class: the table's name is that of the class in snake case, without
 * "Probe" at its end (ControlValueProbe: "control_value"); experiment files select it by [[trace]];
 * and its columns, whose names end in their unit, become those of the results. The class belongs to
 * the module whose table it is.
 */
class Probe : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    /// The table that a type of probe fills.
    /// @param type the type. @return its name.
    static std::string TableOf(TypeId type);

    /// Say which table it fills, before Open.
    /// @param table the table.
    void SetTable(Table& table)
    {
        m_table = &table;
    }

    /// Start: add columns and connect to network-wide trace sources. Called once.
    /// @param fabric the network; it outlives the probe. @param table the table, empty.
    virtual void Open(lossless::Fabric& fabric, Table& table) = 0;
    /// Record a port at every change, or event by event.
    /// @param port the port.
    /// @param classes bit c set: class c; further calls for the same port add classes.
    virtual void Watch(lossless::Port& port, uint32_t classes);
    /// The run is over: write rows that are still open.
    virtual void Finish();

  protected:
    /// See Table::BeginRow.
    /// @return to be kept until the row is complete, and while what the probe knows is changed.
    [[nodiscard]] std::unique_lock<std::mutex> BeginRow()
    {
        return m_table->BeginRow();
    }

    /// Those of the requested classes of a port that were not requested before.
    /// @param port the port. @param classes mask. @return mask.
    uint32_t Claim(const lossless::Port& port, uint32_t classes);
    /// All classes requested for a port.
    /// @param port the port. @return mask.
    uint32_t GetWatched(const lossless::Port& port) const;

    /**
     * @brief Connect to a trace source that fires for every frame.
     *
     * MakeCallback would go through one std::function for the member function, another for the
     * object and a third for a bound argument; this uses a single one. It cannot be disconnected.
     *
     * @tparam Args arguments of the trace source
     * @tparam F type of the function
     * @param object owner of the trace source. @param source its name. @param function called.
     */
    template <class... Args, class F>
    static void Listen(ObjectBase& object, const std::string& source, F function)
    {
        object.TraceConnectWithoutContext(
            source,
            Callback<void, Args...>(Create<CallbackImpl<void, Args...>>(
                std::function<void(Args...)>(std::move(function)),
                CallbackComponentVector())));
    }

  private:
    Table* m_table{nullptr};                             //!< see SetTable
    std::map<const lossless::Port*, uint32_t> m_watched; //!< classes
};

/**
 * @ingroup observe
 * @brief A probe that can also sample periodically.
 */
class SampledProbe : public Probe
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    SampledProbe();
    ~SampledProbe() override;

    /// Record a port periodically.
    /// @param port the port. @param classes bit c set: class c. @param period between two rows.
    void WatchEvery(lossless::Port& port, uint32_t classes, Time period);

  protected:
    void DoDispose() override;

  private:
    class Sampler; //!< a port that is sampled

    /// Write the current state of a class of a port.
    /// @param port the port. @param cls class.
    virtual void Sample(const lossless::Port& port, uint8_t cls) = 0;
    /// Is there a row for time 0, and not only one period later?
    /// @return true unless a row covers a period.
    virtual bool SamplesStart() const;

    std::vector<std::unique_ptr<Sampler>> m_samplers; //!< all samplers
};

/**
 * @ingroup observe
 * @brief The leading columns of most tables.
 */
class PortColumns
{
  public:
    /// Add "time_ps", "node", "peer" and "class".
    /// @param table the table.
    void Open(Table& table);
    /// Append the leading values of a row, with the current time.
    /// @param port node and peer. @param cls class. @return see Table::BeginRow.
    [[nodiscard]] std::unique_lock<std::mutex> Append(const lossless::Port& port, uint8_t cls);

  private:
    Table* m_table{nullptr};                 //!< the table
    ColumnValues<int64_t>* m_time{nullptr};  //!< ps
    ColumnValues<uint32_t>* m_node{nullptr}; //!< number
    ColumnValues<uint32_t>* m_peer{nullptr}; //!< number
    ColumnValues<uint8_t>* m_cls{nullptr};   //!< class
};

/**
 * @ingroup observe
 * @brief The tables of a run, and the probes that fill them.
 */
class Recorder : public lossless::FabricObserver
{
  public:
    /// Constructor, without tables.
    /// @param fabric of the network.
    explicit Recorder(lossless::Fabric& fabric);
    ~Recorder() override;

    /// Record a table at a port. Throws if no type of probe fills it.
    /// @param table its name. @param port the port. @param classes bit c set: class c.
    /// @param period between samples; 0: at every change.
    void Trace(const std::string& table, lossless::Port& port, uint32_t classes, Time period);
    /// Add a table.
    /// @param name its name. @return the table, to add columns to.
    Table& AddTable(const std::string& name);
    /// All requested tables. @return tables.
    const std::vector<std::unique_ptr<Table>>& GetTables() const;
    void NotifyFinish() override;
    std::string GetCellObstacle() const override;

  private:
    Probe& Find(const std::string& table);

    lossless::Fabric& m_fabric;                   //!< network that the probes observe
    std::map<std::string, Ptr<Probe>> m_probes;   //!< by table
    std::vector<std::unique_ptr<Table>> m_tables; //!< in the order in which they were requested
};

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_PROBE_H */
