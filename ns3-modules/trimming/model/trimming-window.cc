/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "trimming-window.h"

namespace ns3
{
namespace trimming
{

NS_OBJECT_ENSURE_REGISTERED(TrimWindow);

TypeId
TrimWindow::GetTypeId()
{
    static TypeId tid = TypeId("ns3::trimming::TrimWindow")
                            .SetParent<rdma::WindowControl>()
                            .SetGroupName("trimming")
                            .AddConstructor<TrimWindow>()
                            .AddTraceSource("Window",
                                            "The window has changed: flow, W in bytes.",
                                            MakeTraceSourceAccessor(&TrimWindow::m_windowTrace),
                                            "ns3::trimming::TrimWindow::WindowCallback");
    return tid;
}

void
TrimWindow::NotifyAck(const rdma::Acknowledgement& ack)
{
    const auto packet = static_cast<double>(m_connection->GetPayloadSize());
    const double gain = packet * packet * static_cast<double>(ack.news) / m_bytes;
    SetWindow(m_bytes + gain - (ack.IsTruncated() ? packet : 0));
    m_windowTrace(m_connection->GetFlow(), m_bytes);
}

} // namespace trimming
} // namespace ns3
