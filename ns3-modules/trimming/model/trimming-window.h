/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef TRIMMING_WINDOW_H
#define TRIMMING_WINDOW_H

#include "ns3/rdma-window-control.h"
#include "ns3/traced-callback.h"

namespace ns3
{
namespace trimming
{

/**
 * @ingroup trimming
 * @brief A window that trimmed packets close: each takes a packet off it, and a window's worth of
 * acknowledged packets adds one.
 *
 * That is what NSCC and DCTCP of uet-htsim's uec.cpp do after a NACK, and DCTCP there as long as
 * nothing is marked (both verified); what they do by delays and marks is not modelled.
 * Retransmissions ignore a window, so that W limits them by the rate alone, W over the base
 * round-trip time; there they obey the window, too.
 */
class TrimWindow : public rdma::WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void NotifyAck(const rdma::Acknowledgement& ack) override;

    /// TracedCallback signature of changes.
    /// @param flow number. @param window W in bytes.
    typedef void (*WindowCallback)(uint32_t flow, double window);

  private:
    TracedCallback<uint32_t, double> m_windowTrace; //!< Window
};

} // namespace trimming
} // namespace ns3

#endif /* TRIMMING_WINDOW_H */
