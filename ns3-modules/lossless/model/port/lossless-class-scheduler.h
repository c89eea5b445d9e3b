/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_CLASS_SCHEDULER_H
#define LOSSLESS_CLASS_SCHEDULER_H

#include "lossless-egress-queue.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-state-visitor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace lossless
{

/// How the next class of a port is chosen.
enum class ClassService
{
    STRICT, ///< strict priority, highest class first
    DWRR,   ///< deficit weighted round robin, in bytes
    FIFO,   ///< the frame that has waited longest
};

/**
 * @ingroup lossless
 * @brief Chooses the class of a port to be served next.
 *
 * Under DWRR some classes may have strict priority over all others, as in IEEE 802.1Q: the highest
 * of them that has frames is served, and the others share by weight what these leave.
 */
class ClassScheduler
{
  public:
    /// Bytes per round, by class (DWRR).
    using Quanta = std::array<int64_t, N_CLASSES>;

    /// Initialise, before the first choice.
    /// @param service discipline. @param quanta bytes per round (DWRR).
    /// @param strict bit c: class c has strict priority over those that are not (DWRR).
    void Configure(ClassService service, const Quanta& quanta, uint32_t strict)
    {
        m_service = service;
        m_quanta = quanta;
        m_strict = strict;
    }

    /// A class is served out of turn, which counts towards its share.
    /// @param cls class. @param bytes of the frame.
    void Charge(uint8_t cls, int64_t bytes)
    {
        m_deficit[cls] = std::max(m_deficit[cls] - bytes, -m_quanta[cls] - bytes);
    }

    /**
     * @brief Choose a queue.
     *
     * @tparam F type of `selectOf`.
     * @param classes bit c: class c has frames that are not blocked.
     * @param queues egress queues of the port.
     * @param selectOf returns the queue that a class would be served from, or -1.
     * @return the queue, or -1 if none can be served.
     */
    template <class F>
    int Select(uint32_t classes, const std::vector<EgressQueue>& queues, F selectOf)
    {
        switch (m_service)
        {
        case ClassService::STRICT:
            return SelectStrict(classes, selectOf);
        case ClassService::DWRR:
            if (classes & m_strict)
            {
                const int queue = SelectStrict(classes & m_strict, selectOf);
                if (queue >= 0)
                {
                    return queue;
                }
            }
            return SelectDwrr(classes & ~m_strict, queues, selectOf);
        case ClassService::FIFO:
            return SelectFifo(classes, queues, selectOf);
        }
        return -1;
    }

    /// Visit the state. @param visitor visitor.
    void Visit(StateVisitor& visitor) const
    {
        visitor.Inside(*this);
        visitor.Same(m_turn, m_fresh); // constant: m_service, m_strict, m_quanta
        for (const int64_t& deficit : m_deficit)
        {
            visitor.Same(deficit);
        }
    }

  private:
    template <class F>
    static int SelectStrict(uint32_t classes, F selectOf)
    {
        while (classes)
        {
            const auto cls = static_cast<uint8_t>(std::bit_width(classes) - 1);
            classes &= ~(1U << cls);
            const int queue = selectOf(cls);
            if (queue >= 0)
            {
                return queue;
            }
        }
        return -1;
    }

    template <class F>
    static int SelectFifo(uint32_t classes, const std::vector<EgressQueue>& queues, F selectOf)
    {
        int best = -1;
        for (; classes; classes &= classes - 1)
        {
            const int queue = selectOf(static_cast<uint8_t>(std::countr_zero(classes)));
            if (queue >= 0 &&
                (best < 0 || queues[queue].Head()->queued < queues[best].Head()->queued))
            {
                best = queue;
            }
        }
        return best;
    }

    template <class F>
    int SelectDwrr(uint32_t classes, const std::vector<EgressQueue>& queues, F selectOf)
    {
        // The first eligible queue of each class represents the class in this round.
        std::array<int, N_CLASSES> candidate;
        candidate.fill(-1);
        bool any = false;
        for (; classes; classes &= classes - 1)
        {
            const auto cls = static_cast<uint8_t>(std::countr_zero(classes));
            candidate[cls] = selectOf(cls);
            any = any || candidate[cls] >= 0;
        }
        while (any)
        {
            const int queue = candidate[m_turn];
            if (queue >= 0)
            {
                if (m_fresh)
                {
                    m_deficit[m_turn] += m_quanta[m_turn];
                    m_fresh = false;
                }
                const int64_t bytes = queues[queue].Head()->bytes;
                if (bytes <= m_deficit[m_turn])
                {
                    m_deficit[m_turn] -= bytes;
                    return queue;
                }
            }
            else
            {
                m_deficit[m_turn] = std::min<int64_t>(m_deficit[m_turn], 0);
            }
            m_turn = (m_turn + 1) % N_CLASSES;
            m_fresh = true;
        }
        return -1;
    }

    ClassService m_service{ClassService::STRICT}; //!< discipline
    uint32_t m_strict{0};                         //!< bit c: class c is served first
    Quanta m_quanta{};                            //!< bytes per round
    uint8_t m_turn{0};                            //!< class being served
    bool m_fresh{true};                           //!< it has not received its quantum of this round
    std::array<int64_t, N_CLASSES> m_deficit{};   //!< remaining bytes of a class
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_CLASS_SCHEDULER_H */
