/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/observe-probe.h"
#include "ns3/rdma-host.h"
#include "ns3/rdma-queue-pair.h"

namespace ns3
{
namespace rdma
{

namespace
{

/// "flow_rate": each change of the rate that a flow may use; of the flows that begin at a port.
class FlowRateProbe : public observe::Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::rdma::FlowRateProbe")
                                .SetParent<observe::Probe>()
                                .SetGroupName("rdma")
                                .AddConstructor<FlowRateProbe>();
        return tid;
    }

    void Open(lossless::Fabric& /* fabric */, observe::Table& table) override
    {
        m_columns.Open(table);
        // number of the flow
        m_flow = table.Add<uint32_t>("flow");
        // on the wire; 0 once its message is acknowledged
        m_rate = table.Add<int64_t>("rate_bps");
    }

    void Watch(lossless::Port& port, uint32_t classes) override
    {
        classes = Claim(port, classes);
        const auto* host = dynamic_cast<const Host*>(&port.GetNode());
        for (uint32_t flow = 0; host && flow < host->GetNFlows(); ++flow)
        {
            QueuePair* queuePair = host->FindSender(flow);
            if (queuePair && (classes >> queuePair->GetDemand().cls) & 1U)
            {
                queuePair->TraceConnectWithoutContext(
                    "Rate",
                    MakeCallback(&FlowRateProbe::Record, this, queuePair));
            }
        }
    }

  private:
    void Record(QueuePair* queuePair, uint32_t flow, uint64_t rate)
    {
        const auto row =
            m_columns.Append(queuePair->GetSource()->GetPort(0), queuePair->GetDemand().cls);
        m_flow->push_back(flow);
        m_rate->push_back(static_cast<int64_t>(rate));
    }

    observe::PortColumns m_columns;                   //!< time, node, peer, class
    observe::ColumnValues<uint32_t>* m_flow{nullptr}; //!< number
    observe::ColumnValues<int64_t>* m_rate{nullptr};  //!< bit/s on the wire
};

} // namespace

NS_OBJECT_ENSURE_REGISTERED(FlowRateProbe);

} // namespace rdma
} // namespace ns3
