/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SEND_PIPELINE_H
#define RDMA_SEND_PIPELINE_H

#include "ns3/lossless-event.h"
#include "ns3/lossless-frame-source.h"
#include "ns3/lossless-port.h"

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief What makes the packets of a NIC that processes only so many a second: it stands between a
 * host and its port, and lets two packets begin no less than an interval apart.
 *
 * Data and answers take turns where both wait, and so do the classes of data. What has passed waits
 * in the port as ever, for a pause or for its turn there: one packet of each class.
 */
class SendPipeline : public lossless::FrameSource
{
  public:
    /// Stand before a port.
    /// @param source who makes data frames. @param port port that takes them.
    /// @param interval least time between two packets (ps), above 0.
    SendPipeline(lossless::FrameSource& source, lossless::Port& port, int64_t interval);
    ~SendPipeline() override;

    lossless::Frame* Pull(uint8_t cls) override;
    void Reopen(uint16_t queue) override;
    /// An answer is ready to be sent.
    /// @param answer it; taken over.
    void Send(lossless::Frame* answer);

    /// @return answers that wait.
    uint64_t CountHeld() const
    {
        return m_answers.GetFrames();
    }

  private:
    bool IsFree(int64_t now) const
    {
        return now >= m_next;
    }

    void Take(int64_t now);
    void Arm(int64_t now);
    void Offer();
    void OfferData(int64_t now);

    lossless::FrameSource& m_source; //!< who makes data frames
    lossless::Port& m_port;          //!< who takes them
    int64_t m_interval;              //!< least time between two packets (ps)
    int64_t m_next{0};               //!< when the next packet may begin (ps)
    uint32_t m_waiting{0};           //!< bit c: data of class c was asked for too early
    uint8_t m_lastClass{0};          //!< class of the last data
    bool m_dataTurn{false};          //!< the last packet was an answer
    bool m_armed{false};             //!< m_offer is pending
    lossless::FrameFifo m_answers;   //!< answers that wait
    lossless::ReusableEvent<SendPipeline> m_offer; //!< the next packet may begin
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SEND_PIPELINE_H */
