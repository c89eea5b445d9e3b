/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-table.h"

#include "ns3/eventloop-cell-loop.h"

#include <limits>
#include <numeric>

namespace ns3
{
namespace observe
{

std::unique_lock<std::mutex>
Table::BeginRow()
{
    return eventloop::CellLoop::Lock(m_mutex);
}

void
Table::Sort()
{
    const std::size_t rows = m_time->size();
    const int64_t* time = m_time->data();
    const uint32_t* node = m_node->data();
    // Cells are never far apart in time. So the rows fall into short sections, each of which ends
    // before the next one begins, and only these are sorted.
    std::vector<int64_t> earliestFrom(rows + 1, std::numeric_limits<int64_t>::max());
    for (std::size_t row = rows; row-- > 0;)
    {
        earliestFrom[row] = std::min(time[row], earliestFrom[row + 1]);
    }
    std::vector<uint32_t> order;
    for (std::size_t first = 0, end = 0; first < rows; first = end)
    {
        int64_t latest = time[end++];
        while (end < rows && latest >= earliestFrom[end])
        {
            latest = std::max(latest, time[end++]);
        }
        order.resize(end - first);
        std::iota(order.begin(), order.end(), 0);
        const auto before = [=](uint32_t a, uint32_t b) {
            return time[first + a] != time[first + b] ? time[first + a] < time[first + b]
                                                      : node[first + a] < node[first + b];
        };
        if (!std::is_sorted(order.begin(), order.end(), before))
        {
            std::stable_sort(order.begin(), order.end(), before);
            for (const auto& column : m_columns)
            {
                column->Permute(first, order);
            }
        }
    }
}

} // namespace observe
} // namespace ns3
