/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef DCFIT_DETECTOR_H
#define DCFIT_DETECTOR_H

#include "dcfit-breaker.h"
#include "dcfit-heavy-hitters.h"
#include "dcfit-message.h"

#include "ns3/data-rate.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief DCFIT on one switch: finds deadlocks of PFC by messages that follow the pauses.
 *
 * It knows its own ports, what the node's FeedMap says, and what the messages of its neighbours
 * say; nothing else. A neighbour without DCFIT, a server in general, counts as the initial trigger
 * of the pauses it sends.
 */
class Dcfit : public Breaker,
              public lossless::QueueAgent,
              public lossless::PauseAgent,
              public lossless::ControlAgent,
              public lossless::ArrivalAgent
{
  public:
    /// How a bit of the traffic map is cleared.
    enum class Clearing
    {
        COUNTERS, ///< when the last byte from that ingress has gone: a counter a bit
        ROW,      ///< with all of its row when the egress runs empty
    };

    /// Which egress is held to be behind a pause.
    enum class Cause
    {
        ARRIVING, ///< that of the frame that made it necessary
        LARGEST,  ///< that which most bytes of the ingress are for
    };

    /// Which message a port remembers.
    enum class Conflict
    {
        HIGHEST, ///< the one that precedes the others (Message::Precedes)
        NEWEST,  ///< the last
    };

    /// What a consistency round asks of an ingress that waits for an egress.
    enum class Evidence
    {
        MAP,   ///< that it feeds the egress and pauses its upstream
        BYTES, ///< and that what waits for egresses with the same message keeps it from resuming
    };

    /// What is done about pauses of a server that are the initial trigger.
    enum class ServerCure
    {
        IGNORE, ///< they are not obeyed any more
        LOSSY,  ///< frames for it go in the lossy class
    };

    using enum Detection::Way;
    using Way = Detection::Way; //!< how a detection came about

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    Dcfit();

    void Start() override;
    std::string Check() const override;
    bool NotifyArrival(lossless::Frame& frame, lossless::Port& ingress) override;
    void NotifyDequeue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void NotifyPauseSent(lossless::Port& port, uint8_t cls, bool on) override;
    void NotifyPaused(lossless::Port& port, uint8_t cls, bool on) override;
    void Decorate(lossless::Port& port, lossless::ControlFrame& control) override;
    void NotifyControl(lossless::Port& port, const lossless::ControlFrame& control) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief Memory of the detector on a switch, one class: traffic map, and for each port what
     * PortState holds.
     *
     * @param ports of the switch.
     * @return bits.
     */
    uint64_t GetStateBits(uint32_t ports) const;
    /**
     * @brief Memory of the counters that clear the traffic map exactly, one class.
     *
     * @param ports of the switch.
     * @return bits; 0 with Clearing Row and Evidence Map.
     */
    uint64_t GetCounterBits(uint32_t ports) const;
    /**
     * @brief Memory of what handles initial triggers, one class: heavy hitters of each egress,
     * limited flows, and which servers are treated.
     *
     * @param ports of the switch.
     * @return bits; 0 without HandleTrigger.
     */
    uint64_t GetHandlingBits(uint32_t ports) const;

  private:
    /// What is kept of a (port, class); the comment gives the bits of hardware.
    struct PortState
    {
        // As an egress
        Message info;        //!< what was last received: 14 + 6 + sequence, + rank with Highest
        bool known{false};   //!< info is of the present pause: 1
        bool paused{false};  //!< by the peer: 1
        bool resumed{false}; //!< the RESUME tag r: 1
        uint8_t fresh{0};    //!< looks until info is old: 2
        uint8_t checked{0};  //!< rounds that have passed for info: 1; 2 if there are more
        // As an ingress
        bool pausing{false};  //!< the peer: 1
        uint8_t cause{0};     //!< egress behind the pause: 6
        uint16_t sequence{0}; //!< of the last process begun here: sequence
        uint8_t rank{0};      //!< its rank: 4 with Highest
        bool own{false};      //!< that process stands for the present pause: 1
        bool trigger{false};  //!< the egress was not paused: the initial trigger is here: 1
        Way way{ON_LOOP};     //!< why it was begun: 1 more, together with trigger
        bool aged{false};     //!< the pause, and a process begun here, has outlasted a look: 1
        bool declared{false}; //!< a deadlock was declared: 1
        // For the handling of triggers
        bool noticed{false}; //!< as an egress, its loop's notice has gone by it: 1
        bool treated{false}; //!< as an egress, its server is treated: 1
        int64_t calm{0};     //!< since when the server has not begun to pause (ps): 32
        // For results only
        int64_t begun{-1};  //!< when the process was begun (ps)
        int64_t looped{-1}; //!< when its message came back (ps)
    };

    /// A flow that is limited.
    struct Limit
    {
        uint32_t flow;   //!< its number
        int64_t tokens;  //!< bits x 1e12 it may send now
        int64_t updated; //!< when tokens was right (ps)
        int64_t dropped; //!< when it last sent too much (ps)
    };

    PortState& At(uint16_t port, uint8_t cls)
    {
        return m_state[static_cast<std::size_t>(cls) * m_node->GetNPorts() + port];
    }

    bool Speaks(uint16_t port) const;
    bool Feeds(uint16_t egress, uint16_t ingress, uint8_t cls) const;
    bool IsMiddle(uint16_t port, uint8_t cls, const Message& message);
    bool WaitsForPaused(uint16_t ingress, uint8_t cls);
    bool HearsOthers(uint16_t ingress, uint8_t cls);
    uint8_t NextRank(const Message& message) const;
    bool StaysOff(uint16_t ingress, uint8_t cls, const Message& message);
    uint16_t FindInfo(uint16_t ingress, uint8_t cls);
    bool FindTag(uint16_t ingress, uint8_t cls, Message& message);
    uint8_t RankAbove(uint16_t ingress, uint8_t cls);
    void Begin(uint16_t ingress, uint8_t cls, Way way, bool trigger, uint8_t rank);
    bool Remember(uint16_t port, uint8_t cls, const Message& message, bool fresh);
    void ReceivePause(uint16_t port, uint8_t cls, bool tagged, const Message& message);
    void ReceiveCheck(uint16_t port, uint8_t cls, const Message& message, bool fresh);
    void ReceiveConsistency(uint16_t port, uint8_t cls, const Message& message);
    void Declare(uint16_t port, uint16_t ingress, uint8_t cls);
    uint16_t FindLoop(uint16_t ingress, uint8_t cls, const Message& message);
    bool TellSuspects(uint16_t ingress, uint8_t cls, const Message& message);
    void ReceiveNotice(uint16_t ingress, uint8_t cls, Kind kind, Message message);
    void TreatServer(uint16_t port, uint8_t cls);
    void TreatFlows(uint16_t port);
    void SpareServer(uint16_t port, uint8_t cls);
    void Restore();
    void AwaitRestoration();
    bool Admits(const lossless::Frame& frame);
    void SendAlone(Kind kind, uint16_t port, uint8_t cls, const Message& message);
    void ForwardFrom(Kind kind, uint16_t port, uint8_t cls, const Message& message);
    void Look();
    void BeginAgain(uint16_t ingress, uint8_t cls);

    // Attributes
    uint32_t m_switchBits;   //!< kept of a switch's number
    Clearing m_clearing;     //!< of the traffic map
    Cause m_cause;           //!< of a pause
    Conflict m_conflict;     //!< between messages
    Evidence m_evidence;     //!< of a consistency round
    uint32_t m_rounds;       //!< consistency rounds
    Time m_retry;            //!< until a pause is looked into again
    bool m_drained;          //!< begin a process when an egress has drained
    bool m_untold;           //!< begin a process for want of a message
    bool m_handle;           //!< handle the initial trigger
    ServerCure m_serverCure; //!< what is done about servers
    uint32_t m_heavyEntries; //!< flows counted an egress
    DataRate m_limitRate;    //!< of a heavy flow
    uint32_t m_limitBurst;   //!< bytes
    uint32_t m_mostLimits;   //!< flows that are limited at a time
    Time m_restoration;      //!< until what is calm is treated no longer

    // State
    std::vector<PortState> m_state;           //!< by class, port
    std::vector<bool> m_speaks;               //!< by port: the neighbour has DCFIT
    std::vector<HeavyHitters> m_heavy;        //!< by egress; none if triggers are not handled
    std::vector<Limit> m_limits;              //!< flows that are limited
    uint16_t m_number{0};                     //!< of the switch, in messages
    bool m_lookPending{false};                //!< an occurrence of m_look is scheduled
    bool m_restorePending{false};             //!< an occurrence of m_restore is scheduled
    lossless::ReusableEvent<Dcfit> m_look;    //!< look for pauses that last
    lossless::ReusableEvent<Dcfit> m_restore; //!< look for what need not be treated any more

    // Counted
    uint64_t m_begun{0};        //!< processes
    uint64_t m_suspected{0};    //!< loops found by CHECK
    uint64_t m_refuted{0};      //!< CONSISTENCY messages that ended at a port that had resumed
    uint64_t m_alone{0};        //!< messages that travelled alone
    uint64_t m_tags{0};         //!< messages in PAUSE frames
    uint64_t m_messageBytes{0}; //!< wire bytes of those alone
    std::array<uint64_t, 3> m_detections{}; //!< by Way
    uint64_t m_handled{0};                  //!< triggers
    uint64_t m_restored{0};                 //!< of them, that are treated no longer
    int64_t m_firstAt{-1};                  //!< first detection (ps)
    int64_t m_firstBegun{-1};               //!< its process (ps)
    int64_t m_firstLooped{-1};              //!< its loop (ps)
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_DETECTOR_H */
