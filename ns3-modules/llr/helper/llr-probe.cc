/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/llr-flow-control.h"
#include "ns3/lossless-port.h"
#include "ns3/observe-probe.h"

#include <bit>

/**
 * @file
 * @ingroup llr
 * The table of this module.
 */

namespace ns3
{
namespace llr
{

namespace
{

/// The retry of a port.
/// @param port the port. @return it, or null.
Llr*
Find(const lossless::Port& port)
{
    for (const auto& member : port.GetChain().GetMembers())
    {
        if (auto* retry = dynamic_cast<Llr*>(PeekPointer(member)))
        {
            return retry;
        }
    }
    return nullptr;
}

/// "llr": the replay buffer of a port, at each start or end of a replay or periodically.
class LlrProbe : public observe::SampledProbe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::llr::LlrProbe")
                                .SetParent<observe::SampledProbe>()
                                .SetGroupName("llr")
                                .AddConstructor<LlrProbe>();
        return tid;
    }

    void Open(lossless::Fabric& /* fabric */, observe::Table& table) override
    {
        m_columns.Open(table);
        // in the replay buffer
        m_bytes = table.Add<int64_t>("replay_bytes");
        // repeated so far
        m_repeated = table.Add<int64_t>("repeated_frames");
        // 0 OFF, 1 INIT, 2 ADVANCE, 3 REPLAY, 4 FLUSH
        m_state = table.Add<uint8_t>("state");
    }

    void Watch(lossless::Port& port, uint32_t classes) override
    {
        Llr* retry = Find(port);
        const uint32_t claimed = Claim(port, classes);
        if (retry && claimed != 0 && claimed == GetWatched(port))
        {
            const auto cls = static_cast<uint8_t>(std::countr_zero(claimed));
            Listen<const lossless::Port&, Llr::State>(
                *retry,
                "State",
                [this, cls](const lossless::Port& at, Llr::State) { Sample(at, cls); });
        }
    }

  private:
    void Sample(const lossless::Port& port, uint8_t cls) override
    {
        if (const Llr* retry = Find(port))
        {
            const auto row = m_columns.Append(port, cls);
            m_bytes->push_back(retry->GetBuffer().GetBytes());
            m_repeated->push_back(static_cast<int64_t>(retry->GetBuffer().GetRepeated()));
            m_state->push_back(static_cast<uint8_t>(retry->GetState()));
        }
    }

    observe::PortColumns m_columns;                      //!< time, node, peer, class
    observe::ColumnValues<int64_t>* m_bytes{nullptr};    //!< in the replay buffer (B)
    observe::ColumnValues<int64_t>* m_repeated{nullptr}; //!< frames repeated so far
    observe::ColumnValues<uint8_t>* m_state{nullptr};    //!< Llr::State
};

NS_OBJECT_ENSURE_REGISTERED(LlrProbe);

} // namespace

} // namespace llr
} // namespace ns3
