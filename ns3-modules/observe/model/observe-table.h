/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_TABLE_H
#define OBSERVE_TABLE_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/**
 * @defgroup observe Observers
 *
 * Result tables of a fabric, and captures with the bytes of its frames.
 */

namespace ns3
{
namespace observe
{

/**
 * @ingroup observe
 * @brief Name of a column's type in numpy's spelling.
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
 * @ingroup observe
 * @brief The values of a column, append-only.
 *
 * Like a std::vector, but it grows by realloc, which remaps the pages of a long column instead of
 * copying its bytes.
 *
 * @tparam T element type
 */
template <class T>
class ColumnValues
{
    static_assert(std::is_trivially_copyable_v<T>, "realloc moves the values byte by byte");

  public:
    ColumnValues() = default;
    ColumnValues(const ColumnValues&) = delete;
    ColumnValues& operator=(const ColumnValues&) = delete;

    ~ColumnValues()
    {
        std::free(m_values);
    }

    /// Append a value.
    /// @param value the value.
    void push_back(T value)
    {
        if (m_size == m_room) [[unlikely]]
        {
            Grow();
        }
        m_values[m_size++] = value;
    }

    /// The last value. Precondition: there is one. @return value.
    T& back()
    {
        return m_values[m_size - 1];
    }

    /// Number of values. @return count.
    std::size_t size() const
    {
        return m_size;
    }

    /// The values, contiguous. @return address; null while there are none.
    const T* data() const
    {
        return m_values;
    }

    /// Change the order of some values.
    /// @param first index of the first of them. @param order by new place, the old one, both
    /// counted from `first`.
    void Permute(std::size_t first, const std::vector<uint32_t>& order)
    {
        const std::vector<T> old(m_values + first, m_values + first + order.size());
        std::transform(order.begin(), order.end(), m_values + first, [&old](uint32_t from) {
            return old[from];
        });
    }

  private:
    [[gnu::noinline]] void Grow()
    {
        const std::size_t room = std::max<std::size_t>(2 * m_room, 64);
        T* values = static_cast<T*>(std::realloc(m_values, room * sizeof(T)));
        if (!values)
        {
            throw std::bad_alloc();
        }
        m_values = values;
        m_room = room;
    }

    T* m_values{nullptr};  //!< the values
    std::size_t m_size{0}; //!< number of values
    std::size_t m_room{0}; //!< capacity
};

/**
 * @ingroup observe
 * @brief A result table: typed columns of equal length, appended row by row and read in place.
 */
class Table
{
  public:
    /// Type-erased base of a column.
    class AnyColumn
    {
      public:
        /// Constructor.
        /// @param name name ending in its unit. @param type numpy's name of the type.
        AnyColumn(std::string name, const char* type)
            : m_name(std::move(name)),
              m_type(type)
        {
        }

        virtual ~AnyColumn() = default;
        /// First value. @return address.
        virtual const void* GetData() const = 0;
        /// Number of values. @return rows.
        virtual uint64_t GetRows() const = 0;
        /// Change the order of some values, see ColumnValues::Permute.
        virtual void Permute(std::size_t first, const std::vector<uint32_t>& order) = 0;
        std::string m_name; //!< name, ending in its unit
        const char* m_type; //!< numpy's name of the type
    };

    /**
     * @brief A column of values of type T.
     *
     * @tparam T element type
     */
    template <class T>
    class Column : public AnyColumn
    {
      public:
        /// Constructor.
        /// @param name name ending in its unit.
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

        void Permute(std::size_t first, const std::vector<uint32_t>& order) override
        {
            m_values.Permute(first, order);
        }

        ColumnValues<T> m_values; //!< the values
    };

    /// Constructor.
    /// @param name the table's name.
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
    ColumnValues<T>* Add(const std::string& name)
    {
        auto column = std::make_unique<Column<T>>(name);
        ColumnValues<T>* values = &column->m_values;
        m_columns.push_back(std::move(column));
        return values;
    }

    /// Keep other threads from appending while a row is appended. Every probe that records what
    /// happens at a node calls it, as several threads may simulate the nodes.
    /// @return to be kept until the row is complete, and while what the probe knows is changed.
    [[nodiscard]] std::unique_lock<std::mutex> BeginRow();

    /// Say by which columns it is sorted; without, its rows stay in the order of the events.
    /// @param time a column, in which the rows of each node are in order.
    /// @param node a column: the node where the event of a row happened.
    void SetOrder(const ColumnValues<int64_t>* time, const ColumnValues<uint32_t>* node)
    {
        m_time = time;
        m_node = node;
    }

    /// Has SetOrder been called? @return true if so.
    bool HasOrder() const
    {
        return m_time;
    }

    /// Sort the rows by time, then node; those of the same node and time stay in the order of the
    /// events. Precondition: HasOrder().
    void Sort();

    /// Its name. @return name.
    const std::string& GetName() const
    {
        return m_name;
    }

    /// Its columns. @return in order.
    const std::vector<std::unique_ptr<AnyColumn>>& GetColumns() const
    {
        return m_columns;
    }

    /// Number of rows. @return rows.
    uint64_t GetRows() const
    {
        return m_columns.empty() ? 0 : m_columns.front()->GetRows();
    }

  private:
    std::string m_name;                                //!< name
    std::mutex m_mutex;                                //!< see BeginRow
    std::vector<std::unique_ptr<AnyColumn>> m_columns; //!< columns
    const ColumnValues<int64_t>* m_time{nullptr};      //!< see SetOrder
    const ColumnValues<uint32_t>* m_node{nullptr};     //!< see SetOrder
};

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_TABLE_H */
