/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-host.h"

namespace ns3
{
namespace fabricdevice
{

using lossless::DropCause;
using lossless::Frame;
using lossless::FrameKind;

NS_OBJECT_ENSURE_REGISTERED(PlainHost);

TypeId
PlainHost::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabricdevice::PlainHost")
                            .SetParent<lossless::FabricNode>()
                            .SetGroupName("fabricdevice")
                            .AddConstructor<PlainHost>();
    return tid;
}

PlainHost::PlainHost() = default;
PlainHost::~PlainHost() = default;

int64_t
PlainHost::GetPipelineLatency() const
{
    return 0;
}

void
PlainHost::Receive(Frame* frame, lossless::Port& ingress)
{
    if (frame->kind == FrameKind::SIGNAL)
    {
        ++m_counters.taken;
        if (!m_roles.OfferTransit(frame, ingress))
        {
            lossless::FramePool::Give(frame);
        }
        return;
    }
    if (frame->kind != FrameKind::PACKET)
    {
        Drop(frame, DropCause::NO_ROUTE); // for a queue pair, but this host has none
        return;
    }
    if (!ingress.GetChain().CountsBytes() || PassThrough(frame, ingress))
    {
        HandOver(frame);
    }
}

void
PlainHost::Inject(Frame* frame)
{
    CountMade(frame);
    m_ports.front()->Enqueue(frame);
}

} // namespace fabricdevice
} // namespace ns3
