/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_TEST_NETWORK_H
#define FACADE_TEST_NETWORK_H

#include "ns3/facade-simulation.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/string.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup facade-tests
 * What the suites of rdma share: small networks, a witness of everything a queue pair sends and
 * receives, and a switch agent that loses chosen frames.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

constexpr uint64_t GBPS = 1'000'000'000; //!< bit/s
constexpr int64_t US = 1'000'000;        //!< ps
constexpr uint8_t DATA_CLASS = 0;        //!< lossy, so that drops are no failure
constexpr uint8_t ANSWER_CLASS = 1;      //!< visible to the Eraser
constexpr int64_t FULL = 83'840;         //!< ps a full frame at 100 Gb/s
constexpr int64_t ANSWER = 5'120;        //!< ps an answer at 100 Gb/s

/// Time of a frame on a link, nearest picosecond, in arithmetic of the test's own.
/// @param bytes bytes on the wire. @param rate bit/s. @return ps.
inline int64_t
WireTime(int64_t bytes, uint64_t rate)
{
    return std::llroundl(static_cast<long double>(bytes) * 8e12L / static_cast<long double>(rate));
}

/// Attributes and their values in ns-3's spelling.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Set attributes of an object.
/// @param object whose. @param settings in turn: of two of one name the later one holds.
inline void
Apply(Ptr<Object> object, const Settings& settings)
{
    for (const auto& [name, value] : settings)
    {
        object->SetAttribute(name, StringValue(value));
    }
}

/// What a sender tells its congestion control, for tests that feed one without a network.
class Feeder
{
  public:
    /// Begin. @param control what is fed; it outlives this
    explicit Feeder(rdma::CongestionControl& control)
        : m_control(control)
    {
    }

    /// A frame is sent. @param frame data frame
    void Send(const lossless::Frame& frame)
    {
        m_meter.NoteSent(frame.psn, frame.repeat, lossless::NowPs());
        m_next = std::max<uint64_t>(m_next, frame.psn + 1);
        m_control.NotifySent(frame);
    }

    /// An answer comes. @param frame ACK or NACK
    void Answer(const lossless::Frame& frame)
    {
        const uint64_t before = m_first;
        m_first = std::max(m_first, frame.word[0]);
        rdma::Acknowledgement ack(frame);
        ack.first = m_first;
        ack.news = m_first - before;
        ack.next = m_next;
        const int64_t rtt = m_meter.Read(m_first, ack.answered, lossless::NowPs());
        ack.rtt = m_control.WantsRtt() ? rtt : -1;
        m_control.NotifyAck(ack);
    }

  private:
    rdma::CongestionControl& m_control; //!< what is fed
    rdma::RttMeter m_meter;             //!< measures all packets
    uint64_t m_first{0};                //!< first packet not acknowledged
    uint64_t m_next{0};                 //!< first packet never sent
};

/// A receiver's half that calls a function for each data frame.
/// @param told takes the frame, and returns whether to send a congestion notification. @return the
/// receiver.
inline std::unique_ptr<rdma::CongestionReceiver>
Hearing(std::function<bool(const lossless::Frame&)> told)
{
    class Receiver : public rdma::CongestionReceiver
    {
      public:
        explicit Receiver(std::function<bool(const lossless::Frame&)> told)
            : m_told(std::move(told))
        {
        }

        bool NotifyData(const lossless::Frame& frame) override
        {
            return m_told(frame);
        }

      private:
        std::function<bool(const lossless::Frame&)> m_told; //!< called
    };

    return std::make_unique<Receiver>(std::move(told));
}

/// A small network, and the results of its run by name.
class Network
{
  public:
    /// Start empty. @param seed of the run
    explicit Network(uint64_t seed = 1)
        : sim(seed)
    {
    }

    /// Set an attribute of the type that a short name stands for.
    /// @param type "Port" or "SharedBuffer", of lossless, or "QueuePair", of rdma, and so on.
    /// @param name attribute. @param value in ns-3's spelling.
    void Set(const std::string& type, const std::string& name, const std::string& value)
    {
        const std::string module = type == "QueuePair" || type == "Host" ? "rdma" : "lossless";
        sim.SetAttribute("ns3::" + module + "::" + type, name, value);
    }

    /// Set an attribute that is a number.
    /// @param type short name. @param name attribute. @param value the number.
    void Set(const std::string& type, const std::string& name, int64_t value)
    {
        Set(type, name, std::to_string(value));
    }

    /// Add nodes. @param hosts how many hosts, numbered first. @param switches how many switches.
    void Nodes(uint32_t hosts, uint32_t switches)
    {
        std::vector<uint8_t> kinds(hosts, 0);
        kinds.insert(kinds.end(), switches, 1);
        std::string names;
        for (std::size_t i = 0; i < kinds.size(); ++i)
        {
            names.append(kinds[i] ? "s" : "h").append(std::to_string(i)).append("\n");
        }
        sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    }

    /// Add a link. @param a node. @param b node. @param rate bit/s. @param delay ps.
    void Link(uint32_t a, uint32_t b, uint64_t rate, int64_t delay)
    {
        sim.AddLinks(&a, &b, &rate, &delay, 1);
    }

    /// Add a switch with a host on every port: hosts 0 .. n - 1, switch n.
    /// @param hosts how many. @param rate bit/s. @param delay ps.
    void Star(uint32_t hosts, uint64_t rate, int64_t delay)
    {
        Nodes(hosts, 1);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            Link(host, hosts, rate, delay);
        }
    }

    /// Add a flow.
    /// @param src source. @param dst destination. @param bytes size; 0: endless. @param start ps.
    /// @param cls class. @param rate cap in bit/s. @param window bytes. @param stop ps. @return its
    /// number.
    uint32_t Flow(uint32_t src,
                  uint32_t dst,
                  uint64_t bytes,
                  int64_t start = 0,
                  uint8_t cls = 3,
                  uint64_t rate = 0,
                  uint64_t window = 0,
                  int64_t stop = -1)
    {
        return sim.AddFlows(&src, &dst, &bytes, &start, &stop, &cls, &rate, &window, 1);
    }

    /// Trace one port, class 3. @param table name. @param node node. @param peer neighbour.
    void Trace(const std::string& table, uint32_t node, int64_t peer)
    {
        sim.Trace(table, &node, &peer, 1, 1U << 3, 0);
    }

    /// A column of a table.
    /// @param table name. @param column name. @return its values, whatever the type; empty when
    /// there is none.
    std::vector<int64_t> Column(const std::string& table, const std::string& column) const
    {
        for (uint32_t t = 0; t < sim.GetNTables(); ++t)
        {
            for (uint32_t c = 0; sim.GetTableName(t) == table && c < sim.GetNColumns(t); ++c)
            {
                if (sim.GetColumnName(t, c) != column)
                {
                    continue;
                }
                const std::string type = sim.GetColumnType(t, c);
                return type == "int64"    ? Values<int64_t>(t, c)
                       : type == "uint32" ? Values<uint32_t>(t, c)
                       : type == "uint16" ? Values<uint16_t>(t, c)
                                          : Values<uint8_t>(t, c);
            }
        }
        return {};
    }

    /// Run to the end.
    /// @param flows their numbers. @param end ps. @return what each flow delivers in the second
    /// half of the time (B).
    std::vector<double> DeliveredInSecondHalf(const std::vector<uint32_t>& flows, int64_t end)
    {
        std::vector<double> delivered;
        sim.Run(end / 2);
        for (const uint32_t flow : flows)
        {
            delivered.push_back(-static_cast<double>(sim.GetDeliveredBytes(flow)));
        }
        sim.Run(end);
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            delivered[i] += static_cast<double>(sim.GetDeliveredBytes(flows[i]));
        }
        return delivered;
    }

    /// Run a flow alone on 100 Gb/s whose path grows from 2 to 8 switches at 1 ms, and shrinks
    /// again at 3 ms: two hosts at neighbours in a ring of 8 switches whose link fails. The base
    /// round trip is 3 and 9 links' times.
    /// @param payload of frames of 1000 B. @return shares of the link's rate that its frames of
    /// 1000 B fill before, on the detour, after.
    std::vector<double> LoadsOnDetour(uint32_t payload)
    {
        constexpr uint32_t RING = 8;
        constexpr uint64_t RATE = 100 * GBPS;
        constexpr int64_t FAILS = 1'000 * US;
        constexpr int64_t RETURNS = 3 * FAILS;
        constexpr int64_t SETTLES = 300 * US;
        Set("Port", "Overhead", 0);
        Set("QueuePair", "TelemetryHops", RING);
        Set("QueuePair", "PayloadSize", payload);
        Set("QueuePair", "Timeout", "100us");
        sim.SetAllowLoss(true);
        Nodes(2, RING);
        Link(0, 2, RATE, US / 2);
        Link(1, 3, RATE, US / 2);
        for (uint32_t place = 0; place < RING; ++place)
        {
            Link(2 + place, 2 + (place + 1) % RING, RATE, US / 2);
        }
        sim.FailLink(2, FAILS, RETURNS);
        const uint32_t flow = Flow(0, 1, 0);
        sim.Build();
        std::vector<double> loads;
        for (const auto& [from, to] : {std::pair{SETTLES, FAILS},
                                       {FAILS + SETTLES, RETURNS},
                                       {RETURNS + SETTLES, RETURNS + FAILS}})
        {
            sim.Run(from);
            const auto before = static_cast<double>(sim.GetDeliveredBytes(flow));
            sim.Run(to);
            const double bytes = static_cast<double>(sim.GetDeliveredBytes(flow)) - before;
            loads.push_back(bytes / payload * static_cast<double>(WireTime(1000, RATE)) /
                            static_cast<double>(to - from));
        }
        sim.Finish();
        return loads;
    }

    /// What waits on average in the traced queue, from the middle of its changes on. @return bytes
    double MeanQueue() const
    {
        const auto times = Column("egress", "time_ps");
        const auto bytes = Column("egress", "bytes");
        double sum = 0;
        double time = 0;
        for (std::size_t i = times.size() / 2; i + 1 < times.size(); ++i)
        {
            const auto step = static_cast<double>(times[i + 1] - times[i]);
            sum += step * static_cast<double>(bytes[i]);
            time += step;
        }
        return sum / time;
    }

    /// A number of the summary. @param name its name. @return its value; NaN if there is none.
    double Number(const std::string& name) const
    {
        return sim.GetNumber(name);
    }

    Simulation sim; //!< the run

  private:
    /// Copy a column.
    /// @tparam T type of its elements. @param table number. @param column number. @return its
    /// values.
    template <class T>
    std::vector<int64_t> Values(uint32_t table, uint32_t column) const
    {
        const auto* data = reinterpret_cast<const T*>(sim.GetColumnData(table, column));
        return {data, data + sim.GetNRows(table)};
    }
};

/// @ingroup facade-tests
/// @brief A congestion control that controls nothing: it writes down what its queue pair sends and
/// receives, and keeps a receiver of its own that says what should have been delivered.
class Witness : public rdma::CongestionControl
{
  public:
    /// What one queue pair did.
    struct Log
    {
        std::vector<std::pair<int64_t, uint32_t>> sent;     //!< when (ps) and which packet
        std::vector<std::pair<int64_t, uint32_t>> received; //!< when (ps) and which packet
        std::vector<uint64_t> acked; //!< packets in order, as each answer said, in turn
        std::vector<uint8_t> ecn;    //!< Frame::ecn of each answer, in turn
        std::set<uint64_t> kept;     //!< received out of order and not yet delivered
        uint64_t expected{0};        //!< packets delivered in order
        int64_t lastDelivery{-1};    //!< when the last of them came (ps)
        uint64_t acks{0};            //!< ACKs that came back
        uint64_t nacks{0};           //!< NACKs that came back
        uint64_t mostInFlight{0};    //!< most packets sent and not acknowledged
        uint64_t highest{0};         //!< first packet never sent
        uint64_t wrongAnswers{0};    //!< answers that claim more than was delivered
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override;

    /// Make every queue pair of a network have one, and forget what others saw.
    /// @param net the network, not yet built. @param keepsGaps the receivers keep what comes out of
    /// order (Selective).
    static void Install(Network& net, bool keepsGaps = false);

    static std::map<uint32_t, Log> g_logs; //!< by flow
    static bool g_keepsGaps;               //!< see Install
};

/// @ingroup facade-tests
/// @brief A switch agent that loses chosen frames on the wire behind its switch, as a bit error
/// does.
///
/// It sees frames of the classes 0..7 only: give answers one of them.
class Eraser : public lossless::SwitchAgent, public lossless::QueueAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void NotifyDequeue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;

    /// Give every switch of a network one.
    /// @param net the network, still without nodes. @param choose says whether to lose a frame.
    static void Install(Network& net, std::function<bool(const lossless::Frame&)> choose);

    static std::function<bool(const lossless::Frame&)> g_choose; //!< see Install
    static uint64_t g_erased;                                    //!< frames lost
};

} // namespace tests
} // namespace facade
} // namespace ns3

#endif /* FACADE_TEST_NETWORK_H */
