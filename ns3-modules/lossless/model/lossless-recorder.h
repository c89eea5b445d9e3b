/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_RECORDER_H
#define LOSSLESS_RECORDER_H

#include "lossless-event.h"
#include "lossless-frame.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class Port;

/**
 * @brief Name of a column's type as numpy spells it.
 *
 * @tparam T the type.
 * @return the name.
 */
template <class T>
constexpr const char* ColumnTypeName();

template <>
constexpr const char*
ColumnTypeName<int64_t>()
{
    return "int64";
}

template <>
constexpr const char*
ColumnTypeName<uint32_t>()
{
    return "uint32";
}

template <>
constexpr const char*
ColumnTypeName<uint16_t>()
{
    return "uint16";
}

template <>
constexpr const char*
ColumnTypeName<uint8_t>()
{
    return "uint8";
}

/**
 * @ingroup lossless
 * @brief A result table: typed columns of equal length, appended row by row and read in place.
 */
class Table
{
  public:
    /// A column without its type.
    class AnyColumn
    {
      public:
        /**
         * @brief Name it.
         *
         * @param name name ending in its unit.
         * @param type numpy's name of the type.
         */
        AnyColumn(std::string name, const char* type)
            : m_name(std::move(name)),
              m_type(type)
        {
        }

        virtual ~AnyColumn() = default;
        /**
         * @brief First element.
         *
         * @return address.
         */
        virtual const void* GetData() const = 0;
        /**
         * @brief Length.
         *
         * @return rows.
         */
        virtual uint64_t GetRows() const = 0;
        std::string m_name; //!< name, ending in its unit
        const char* m_type; //!< numpy's name of the type
    };

    /**
     * @brief A column of T.
     *
     * @tparam T element type
     */
    template <class T>
    class Column : public AnyColumn
    {
      public:
        /**
         * @brief Name it.
         *
         * @param name name ending in its unit.
         */
        explicit Column(std::string name)
            : AnyColumn(std::move(name), ColumnTypeName<T>())
        {
        }

        const void* GetData() const override
        {
            return m_values.data();
        }

        uint64_t GetRows() const override
        {
            return m_values.size();
        }

        std::vector<T> m_values; //!< the values
    };

    /**
     * @brief Name it.
     *
     * @param name the table's name.
     */
    explicit Table(std::string name)
        : m_name(std::move(name))
    {
    }

    /**
     * @brief Add a column.
     *
     * @tparam T element type.
     * @param name name ending in its unit.
     * @return its values, to append to.
     */
    template <class T>
    std::vector<T>* Add(const std::string& name)
    {
        auto column = std::make_unique<Column<T>>(name);
        std::vector<T>* values = &column->m_values;
        m_columns.push_back(std::move(column));
        return values;
    }

    /**
     * @brief Its name.
     *
     * @return name.
     */
    const std::string& GetName() const
    {
        return m_name;
    }

    /**
     * @brief Its columns.
     *
     * @return them in order.
     */
    const std::vector<std::unique_ptr<AnyColumn>>& GetColumns() const
    {
        return m_columns;
    }

    /**
     * @brief Its length.
     *
     * @return rows.
     */
    uint64_t GetRows() const
    {
        return m_columns.empty() ? 0 : m_columns.front()->GetRows();
    }

  private:
    std::string m_name;                                //!< name
    std::vector<std::unique_ptr<AnyColumn>> m_columns; //!< columns
};

/**
 * @ingroup lossless
 * @brief Keeps what a run was asked to trace, in typed columns.
 *
 * Ports call the Record functions only for what was asked for: they hold a mask of classes for each
 * table.
 */
class Recorder
{
  public:
    /// Tables that Trace() knows.
    static constexpr const char* TABLES =
        "queue, buffer, egress, rate, pause, drop, control, control_value, detection";

    Recorder();
    ~Recorder();

    /**
     * @brief Trace a table on a port.
     * @param table one of TABLES.
     * @param port the port.
     * @param classes bit c set: class c.
     * @param period ps between samples; 0: on every change.
     * @return false when there is no such table.
     */
    bool Trace(const std::string& table, Port* port, uint32_t classes, int64_t period);

    /**
     * @brief Add a table of a module's own.
     *
     * @param name its name.
     * @return the table, to add columns to.
     */
    Table* AddTable(const std::string& name);
    /**
     * @brief All tables that were asked for.
     *
     * @return tables.
     */
    const std::vector<std::unique_ptr<Table>>& GetTables() const;

    /**
     * @brief Ingress bytes of a (port, class).
     *
     * @param port the port.
     * @param cls class.
     * @param bytes bytes now.
     */
    void RecordQueue(const Port& port, uint8_t cls, int64_t bytes);
    /**
     * @brief Where the buffer holds the bytes of a (port, class).
     *
     * @param port the port.
     * @param cls class.
     */
    void RecordBuffer(const Port& port, uint8_t cls);
    /**
     * @brief Bytes that wait in the egress queues of a (port, class).
     *
     * @param port the port.
     * @param cls class.
     * @param bytes bytes now.
     */
    void RecordEgress(const Port& port, uint8_t cls, int64_t bytes);
    /**
     * @brief Wire bytes since the last row.
     *
     * @param port the port.
     * @param cls class.
     * @param rx in.
     * @param tx out.
     */
    void RecordRate(const Port& port, uint8_t cls, int64_t rx, int64_t tx);
    /**
     * @brief A pause interval that has ended.
     *
     * @param port the port.
     * @param cls class.
     * @param side 0 sent, 1 obeyed.
     * @param start ps.
     */
    void RecordPause(const Port& port, uint8_t cls, uint8_t side, int64_t start);
    /**
     * @brief A MAC control frame whose transmission begins.
     *
     * @param port the port.
     * @param frame the frame.
     */
    void RecordControl(const Port& port, const Frame& frame);
    /**
     * @brief What a state (Port::SendState) whose transmission begins says of each class it
     * addresses.
     *
     * @param port the port.
     * @param frame the frame.
     * @param classes mask of those to record.
     */
    void RecordControlValues(const Port& port, const Frame& frame, uint32_t classes);
    /**
     * @brief A drop.
     *
     * @param node node number.
     * @param peer neighbour it came from.
     * @param frame the frame.
     * @param cause why.
     */
    void RecordDrop(uint32_t node, uint32_t peer, const Frame& frame, DropCause cause);

    /// Somebody takes an egress queue for deadlocked.
    struct Detection
    {
        uint8_t cls;    //!< class
        uint8_t way;    //!< how it was found; each agent says what its numbers mean
        int64_t begun;  //!< when the finding began (ps)
        int64_t looped; //!< when a cycle was suspected (ps)
    };

    /**
     * @brief A detector speaks; nothing happens if the table "detection" was not asked for.
     *
     * What it says is held at once against what the oracle says of that queue at this moment; so it
     * is to be called before anything is done about it.
     *
     * @param port egress that it takes for deadlocked.
     * @param detection what it says.
     */
    void RecordDetection(const Port& port, const Detection& detection);
    /**
     * @brief Are drops traced?
     *
     * @return true if so.
     */
    bool TracesDrops() const;

  private:
    struct QueueColumns;     //!< columns of "queue" and of "egress"
    struct BufferColumns;    //!< columns of "buffer"
    struct RateColumns;      //!< columns of "rate"
    struct PauseColumns;     //!< columns of "pause"
    struct DropColumns;      //!< columns of "drop"
    struct ControlColumns;   //!< columns of "control"
    struct ValueColumns;     //!< columns of "control_value"
    struct DetectionColumns; //!< columns of "detection"

    /// One (table, port) that is sampled.
    class Sampler
    {
      public:
        /// Which table.
        enum class Kind : uint8_t
        {
            QUEUE,  ///< "queue"
            BUFFER, ///< "buffer"
            EGRESS, ///< "egress"
            RATE,   ///< "rate"
        };

        /**
         * @brief Start sampling.
         *
         * @param recorder where to.
         * @param port of.
         * @param classes mask.
         * @param period ps.
         * @param kind what to sample.
         */
        Sampler(Recorder* recorder, Port* port, uint32_t classes, int64_t period, Kind kind);

      private:
        void Sample();

        Recorder* m_recorder;           //!< where rows go
        Port* m_port;                   //!< whom to ask
        uint32_t m_classes;             //!< mask
        int64_t m_period;               //!< ps
        Kind m_kind;                    //!< which table
        std::vector<int64_t> m_rx;      //!< bytes at the last sample
        std::vector<int64_t> m_tx;      //!< bytes at the last sample
        ReusableEvent<Sampler> m_event; //!< next sample
    };

    std::vector<std::unique_ptr<Table>> m_tables;     //!< all
    std::unique_ptr<QueueColumns> m_queue;            //!< or null
    std::unique_ptr<BufferColumns> m_buffer;          //!< or null
    std::unique_ptr<QueueColumns> m_egress;           //!< or null
    std::unique_ptr<RateColumns> m_rate;              //!< or null
    std::unique_ptr<PauseColumns> m_pause;            //!< or null
    std::unique_ptr<DropColumns> m_drop;              //!< or null
    std::unique_ptr<ControlColumns> m_control;        //!< or null
    std::unique_ptr<ValueColumns> m_values;           //!< or null
    std::unique_ptr<DetectionColumns> m_detection;    //!< or null
    std::vector<std::unique_ptr<Sampler>> m_samplers; //!< those that sample
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_RECORDER_H */
