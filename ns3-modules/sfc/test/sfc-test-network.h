/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_TEST_NETWORK_H
#define SFC_TEST_NETWORK_H

#include "ns3/facade-simulation.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/sfc-message.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup sfc-tests
 * What the suites of sfc share: small networks, and a witness on every node that writes down what
 * joins and leaves queues, which messages are made, arrive and are obeyed.
 */

namespace ns3
{
namespace sfc
{
namespace tests
{

/// What the witnesses saw, in the order of time.
struct Log
{
    /// A data frame that joined or left a queue of a switch, or went out of a host.
    struct Moved
    {
        int64_t time;         //!< ps
        uint32_t node;        //!< where
        uint16_t port;        //!< egress port
        lossless::Frame data; //!< the frame
        bool joined;          //!< joined, else begins to go
    };

    /// A message that was made, or that a NIC obeys.
    struct Said
    {
        int64_t time;    //!< ps
        uint32_t node;   //!< where
        uint32_t host;   //!< whom it is for
        uint32_t flow;   //!< of a pause
        Message message; //!< it
        int64_t from;    //!< of a pause: ps
        int64_t until;   //!< of a pause: ps
        int64_t octets;  //!< of a message that was made
    };

    /// A MAC control frame that took effect.
    struct Told
    {
        int64_t time;                   //!< ps
        uint32_t node;                  //!< where
        lossless::ControlFrame control; //!< it
    };

    std::vector<Moved> moved;  //!< data frames
    std::vector<Said> made;    //!< messages made
    std::vector<Said> arrived; //!< messages that came to a host
    std::vector<Said> paused;  //!< messages obeyed
    std::vector<Told> told;    //!< PFC frames
};

/// @ingroup sfc-tests
/// @brief An agent that writes the log, and may tamper with messages.
class Witness : public lossless::SwitchAgent,
                public lossless::QueueAgent,
                public lossless::TransitAgent,
                public lossless::ControlAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    void NotifyEnqueue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void NotifyDequeue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    bool NotifyTransit(lossless::Frame* frame, lossless::Port& ingress) override;
    void NotifyControl(lossless::Port& port, const lossless::ControlFrame& control) override;

    static Log g_seen;                                         //!< of the run
    static std::function<bool(lossless::Frame&)> g_lose;       //!< messages that a switch loses
    static std::function<void(lossless::Frame&)> g_tamper;     //!< at a host, before it is obeyed
    static std::function<void(lossless::FabricNode&)> g_start; //!< called for every node

  private:
    void NoteMessage(const Message& message, uint32_t source, int64_t octets);
    void NotePause(const Message& message, uint32_t flow, int64_t from, int64_t until);
};

/// A run with source flow control.
class Network
{
  public:
    /// Every switch a congestion point, every host one and a reaction point, or, with plain NICs, a
    /// proxy at the switches.
    /// @param plain plain NICs
    explicit Network(bool plain = false);

    /// Set an attribute of the congestion points.
    /// @param name attribute. @param value in ns-3's spelling.
    void SetPoint(const std::string& name, const std::string& value);
    /// Add nodes. @param hosts numbered first. @param switches then.
    void Nodes(uint32_t hosts, uint32_t switches);
    /// Add a link. @param a node. @param b node. @param rate bit/s. @param delay ps.
    void Link(uint32_t a, uint32_t b, uint64_t rate, int64_t delay);
    /// Hosts 0 .. n - 1 at switch n. @param hosts n. @param rate bit/s. @param delay ps.
    void Star(uint32_t hosts, uint64_t rate, int64_t delay);
    /// Add a flow.
    /// @param src source. @param dst destination. @param bytes size; 0: endless. @param start ps.
    /// @param cls class. @param rate cap in bit/s. @return its number.
    uint32_t Flow(uint32_t src,
                  uint32_t dst,
                  uint64_t bytes,
                  int64_t start = 0,
                  uint8_t cls = 3,
                  uint64_t rate = 0);
    /// Build, run and finish. @param until ps. @return problems.
    std::string Run(int64_t until);
    /// A number of the summary. @param name its name. @return value.
    double Number(const std::string& name);

    facade::Simulation sim;           //!< the run
    std::vector<uint32_t> m_egress{}; //!< node and neighbour of a port whose egress is traced

  private:
    std::map<std::string, double> m_summary; //!< after Run
};

} // namespace tests
} // namespace sfc
} // namespace ns3

#endif /* SFC_TEST_NETWORK_H */
