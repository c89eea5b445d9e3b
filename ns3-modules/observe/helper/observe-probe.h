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

/**
 * @ingroup observe
 * @brief Fills a result table from trace sources.
 *
 * A class derived from it is all that a table needs: the table has the name of the class in snake
 * case, without "Probe" at its end (ControlValueProbe: "control_value"), experiment files choose it
 * by [[trace]], and its columns, whose names end in their unit, become those of the results. It
 * belongs to the module whose table it is.
 */
class Probe : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    /// The table that a type of probe fills.
    /// @param type the type. @return its name.
    static std::string TableOf(TypeId type);

    /// Begin: add columns, listen to what concerns the whole network. Called once.
    /// @param fabric the network; it outlives the probe. @param table empty.
    virtual void Open(Fabric& fabric, Table& table) = 0;
    /// Record of a port at every change, or event by event.
    /// @param port the port.
    /// @param classes bit c set: class c; a call for the same port adds classes.
    virtual void Watch(Port& port, uint32_t classes);
    /// The run is over: write rows that are still open.
    virtual void Finish();

  protected:
    /// Of the classes that are asked for at a port, those that were not before.
    /// @param port the port. @param classes mask. @return mask.
    uint32_t Claim(const Port& port, uint32_t classes);
    /// All classes that were asked for at a port.
    /// @param port the port. @return mask.
    uint32_t GetWatched(const Port& port) const;

    /**
     * @brief Listen to a trace source that fires for every frame.
     *
     * MakeCallback would call by way of a std::function for the member function, another for the
     * object and a third for a bound argument; here it is one. There is no way to disconnect it.
     *
     * @tparam Args arguments of the trace source
     * @tparam F takes them
     * @param object whose trace source it is. @param source its name. @param function called.
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
    std::map<const Port*, uint32_t> m_watched; //!< classes
};

/**
 * @ingroup observe
 * @brief A probe that can look every so often, too.
 */
class SampledProbe : public Probe
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    SampledProbe();
    ~SampledProbe() override;

    /// Record of a port periodically.
    /// @param port the port. @param classes bit c set: class c. @param period between two rows.
    void WatchEvery(Port& port, uint32_t classes, Time period);

  protected:
    void DoDispose() override;

  private:
    class Sampler; //!< a port that is sampled

    /// Write what a class of a port is like now.
    /// @param port the port. @param cls class.
    virtual void Sample(const Port& port, uint8_t cls) = 0;
    /// Is there something to write of the very start, and not only a period later?
    /// @return true unless it is of a period.
    virtual bool SamplesStart() const;

    std::vector<std::unique_ptr<Sampler>> m_samplers; //!< all
};

/**
 * @ingroup observe
 * @brief The columns that most tables begin with.
 */
class PortColumns
{
  public:
    /// Add "time_ps", "node", "peer" and "class".
    /// @param table where to.
    void Open(Table& table);
    /// Append a row's beginning, with the time that it is now.
    /// @param port node and peer. @param cls class.
    void Append(const Port& port, uint8_t cls);

  private:
    ColumnValues<int64_t>* m_time{nullptr};  //!< ps
    ColumnValues<uint32_t>* m_node{nullptr}; //!< number
    ColumnValues<uint32_t>* m_peer{nullptr}; //!< number
    ColumnValues<uint8_t>* m_cls{nullptr};   //!< class
};

/**
 * @ingroup observe
 * @brief The tables of a run, and the probes that fill them.
 */
class Recorder : public FabricObserver
{
  public:
    /// Begin with no tables.
    /// @param fabric of the network.
    explicit Recorder(Fabric& fabric);
    ~Recorder() override;

    /// Record a table at a port. Refuses one that no type of probe fills.
    /// @param table its name. @param port the port. @param classes bit c set: class c.
    /// @param period between samples; 0: at every change.
    void Trace(const std::string& table, Port& port, uint32_t classes, Time period);
    /// Add a table.
    /// @param name its name. @return the table, to add columns to.
    Table& AddTable(const std::string& name);
    /// All tables that were asked for. @return tables.
    const std::vector<std::unique_ptr<Table>>& GetTables() const;
    void NotifyFinish() override;

  private:
    Probe& Find(const std::string& table);

    Fabric& m_fabric;                             //!< what probes look at
    std::map<std::string, Ptr<Probe>> m_probes;   //!< by table
    std::vector<std::unique_ptr<Table>> m_tables; //!< in the order in which they were asked for
};

} // namespace lossless
} // namespace ns3

#endif /* OBSERVE_PROBE_H */
