/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-send-pipeline.h"

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::NowPs;

SendPipeline::SendPipeline(FrameSource& source, lossless::Port& port, int64_t interval)
    : m_source(source),
      m_port(port),
      m_interval(interval),
      m_offer(this, &SendPipeline::Offer)
{
}

SendPipeline::~SendPipeline()
{
    while (!m_answers.IsEmpty())
    {
        lossless::FramePool::Give(m_answers.Pop());
    }
}

void
SendPipeline::Take(int64_t now)
{
    m_next = now + m_interval;
}

void
SendPipeline::Arm(int64_t now)
{
    if (!m_armed)
    {
        m_armed = true;
        m_offer.Schedule(m_next - now);
    }
}

Frame*
SendPipeline::Pull(uint8_t cls)
{
    const int64_t now = NowPs();
    if (!IsFree(now) || (!m_answers.IsEmpty() && !m_dataTurn))
    {
        m_waiting |= 1U << cls;
        m_port.GetEgress().SetReady(this, cls, false);
        Arm(now);
        return nullptr;
    }
    Frame* frame = m_source.Pull(cls);
    if (frame)
    {
        Take(now);
        m_dataTurn = false;
        m_lastClass = cls;
    }
    return frame;
}

void
SendPipeline::Reopen(uint16_t queue)
{
    m_source.Reopen(queue);
}

void
SendPipeline::Send(Frame* answer)
{
    const int64_t now = NowPs();
    if (IsFree(now) && m_answers.IsEmpty() && m_waiting == 0)
    {
        Take(now);
        m_dataTurn = true;
        m_port.Enqueue(answer);
        return;
    }
    m_answers.Push(answer);
    Arm(now);
}

void
SendPipeline::OfferData(int64_t now)
{
    for (uint8_t step = 1; step <= lossless::N_CLASSES && m_waiting && IsFree(now); ++step)
    {
        const auto cls = static_cast<uint8_t>((m_lastClass + step) % lossless::N_CLASSES);
        if (!((m_waiting >> cls) & 1U))
        {
            continue;
        }
        m_waiting &= ~(1U << cls);
        m_port.GetEgress().SetReady(this, cls, true);
        m_port.Kick(); // may pull, here and now
        if (IsFree(now) && m_port.IsUp())
        {
            m_port.GetEgress().Refill(); // it is busy: a packet may be ready when it is not
        }
    }
}

void
SendPipeline::Offer()
{
    m_armed = false;
    const int64_t now = NowPs();
    if (m_dataTurn || m_answers.IsEmpty())
    {
        OfferData(now);
    }
    if (IsFree(now) && !m_answers.IsEmpty())
    {
        Take(now);
        m_dataTurn = true;
        m_port.Enqueue(m_answers.Pop());
    }
    if (m_waiting || !m_answers.IsEmpty())
    {
        Arm(now);
    }
}

} // namespace rdma
} // namespace ns3
