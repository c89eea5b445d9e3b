/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LLR_FLOW_CONTROL_H
#define LLR_FLOW_CONTROL_H

#include "llr-receiver.h"
#include "llr-replay-buffer.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-link-retry.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

/**
 * @defgroup llr Link-level retry
 *
 * Link Layer Retry (LLR) of Ultra Ethernet 1.0, section 5.1, as the documents of SAI and the
 * interfaces of traffic testers describe it; the specification itself was not read.
 */

namespace ns3
{
namespace llr
{

/**
 * @ingroup llr
 * @brief Link-level retry (LLR): each end of a link keeps what it has sent until the other end
 * acknowledges it, and repeats what did not arrive.
 *
 * *Sender.* A protected frame has a number of 20 bits and stays in the replay buffer, which is
 * limited in bytes and frames; while a largest frame may not fit, none is sent. A NACK, or the
 * replay timer of the oldest frame, repeats all that are not acknowledged (go-back-N). After too
 * many replays without an acknowledgement between them the buffer is flushed, and its frames that
 * the other end lacks are lost.
 *
 * *Receiver.* See Receiver. Messages have AckSpacing bytes of the wire between them.
 *
 * *Messages* (ACK, NACK, INIT, ECHO) are control ordered sets of 8 B between the blocks of a frame:
 * they wait for nothing, and delay what is sent next by 8 B. Idealised: it is the next frame that
 * ends later and not the one in transmission; a message starts anywhere in a frame; an idle end
 * does not repeat its last ACK, so that one which is lost costs a replay.
 *
 * Links are up and initialised when the run starts. INIT and ECHO follow when one comes up again,
 * and after a flush with Reinitialize.
 *
 * Not modelled: negotiation, DATA_AGE_TIMEOUT, PCS_LOST_TIMEOUT (a link that fails flushes at
 * once), frames with a poisoned FCS, the action DISCARD.
 */
class Llr : public lossless::FlowControl, public lossless::LinkRetry
{
  public:
    /// States of the sender, named as in SAI.
    enum class State : uint8_t
    {
        OFF,     ///< the link is down
        INIT,    ///< an INIT was sent, its ECHO is awaited
        ADVANCE, ///< new frames are sent
        REPLAY,  ///< frames are repeated
        FLUSH,   ///< it gave up
    };

    /// Messages, with their numbers in the block (said by others).
    enum class Message : uint8_t
    {
        ACK = 1,  ///< all up to the number was accepted
        NACK = 2, ///< the same, and repeat what follows
        INIT = 3, ///< the next frame will have the number
        ECHO = 4, ///< answer to INIT
    };

    /// What happens to new frames in INIT and FLUSH.
    enum class NewFrames
    {
        BEST_EFFORT, ///< they are sent unprotected
        BLOCK,       ///< they wait
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Llr();

    /**
     * @brief More room beyond the stop than other members of the chain need: pauses do not stop
     * replays, so that what the peer has sent and this end lacks still comes, and not only what is
     * on the wire. With ProtectControl a PAUSE may also wait for a replay.
     *
     * @return the largest demand of the others, and the peer's replay buffer less a link delay.
     */
    lossless::BufferDemand GetBufferDemand() const override;
    void Start() override;
    std::string Check() const override;
    std::string Warn() const override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;
    void SetPlaces(const std::function<eventloop::Place()>& next) override;
    void SetApart(bool apart) override;
    bool Protects(const lossless::Frame& frame) const override;
    Repeat GetRepeat() const override;
    bool MaySend() const override;
    lossless::Frame* NotifySent(lossless::Frame* frame,
                                lossless::LinkErrors::Fate fate,
                                int64_t end) override;
    lossless::Frame* NotifyRepeated(lossless::LinkErrors::Fate fate, int64_t end) override;
    lossless::Frame* NotifyArrival(lossless::Frame* frame) override;

    /**
     * @brief Longest time from the last bit of a frame to the effect of its ACK: two link delays,
     * Latency, and a message that waits for AckSpacing.
     *
     * @return ps.
     */
    int64_t GetLoop() const;
    /**
     * @brief The replay buffer with which frames of any size leave at line rate, by the rule of
     * Slingshot: what the link sends in a loop, and whole frames, here two of the largest.
     *
     * @return bytes.
     */
    int64_t GetNeededBytes() const;

    /// @return the limit of its replay buffer (B): MaxBytes, or GetNeededBytes.
    int64_t GetMaxBytes() const;
    /// @return the replay timer (ps): ReplayTimer, or by the rule of Slingshot three loops and
    /// 500 ns, as far as the timer reaches.
    int64_t GetReplayTimer() const;

    /// @return the sender's state.
    State GetState() const
    {
        return m_state;
    }

    /// @return the sender's replay buffer.
    const ReplayBuffer& GetBuffer() const
    {
        return m_buffer;
    }

    /// TracedCallback signature of replays.
    /// @param port the port that repeats. @param sequence number of the first frame.
    /// @param frames how many. @param timer true: the timer was the cause; false: a NACK.
    typedef void (*ReplayCallback)(const lossless::Port& port,
                                   uint32_t sequence,
                                   uint32_t frames,
                                   bool timer);
    /// TracedCallback signature of messages.
    /// @param port the port that sends it. @param message its kind. @param sequence its number.
    typedef void (*MessageCallback)(const lossless::Port& port, Message message, uint32_t sequence);
    /// TracedCallback signature of states.
    /// @param port the port. @param state the sender's new state.
    typedef void (*StateCallback)(const lossless::Port& port, State state);

  private:
    /// Does the sender protect frames now?
    bool IsActive() const;
    /// The LLR of the other end, or null.
    Llr* FindPeer() const;
    /// Names the port in messages to people.
    std::string Where() const;
    /// The largest frame that it protects (B).
    uint32_t GetLargest() const;
    /// The time of bytes on the wire (ps).
    int64_t GetTimeOf(int64_t bytes) const;
    /// Change the sender's state, and tell of it.
    void SetState(State state);
    /// What arrives of a protected frame: itself if the other end will accept it, else a damaged
    /// one in its place, or null for nothing.
    lossless::Frame* Pass(uint16_t bytes,
                          uint32_t sequence,
                          lossless::LinkErrors::Fate fate,
                          bool accepted);
    /// Send a message; round is that of INIT and ECHO.
    void Send(Message message, uint32_t sequence, uint64_t round);
    /// Send what the receiver has to say, now or when AckSpacing allows.
    void SendNews();
    /// AckSpacing allows the next message.
    void NewsDue();
    /// INIT has arrived, for the receiver.
    void TakeInit(lossless::Frame* frame);
    /// ACK, NACK or ECHO has arrived, for the sender.
    void TakeAnswer(lossless::Frame* frame);
    /// The other end has accepted all up to a number.
    void Acknowledge(uint32_t sequence, bool nack);
    /// Send INIT, and again each replay timer until ECHO comes.
    void Initialise();
    /// Repeat from the oldest frame, or give up.
    void StartReplay(bool timer);
    /// Drop what the other end lacks, and number anew.
    void Flush(lossless::DropCause cause);
    /// Let the timer expire at a time (ps), and at no other.
    void SetTimer(int64_t at);
    /// Let the timer expire for the oldest frame, if it does not run.
    void ArmTimer();
    /// The timer has expired, or an occurrence of it that no longer counts.
    void Expire();

    // Attributes
    int64_t m_maxBytes;     //!< B; 0: derived
    uint32_t m_maxFrames;   //!< frames
    uint32_t m_spacing;     //!< B
    Time m_replayTimer;     //!< 0: derived
    uint32_t m_replayCount; //!< UNLIMITED, or most replays in a row
    Time m_latency;         //!< of both ends together
    bool m_protectControl;  //!< MAC control frames are protected
    NewFrames m_newFrames;  //!< in INIT and FLUSH
    bool m_reinitialise;    //!< after a flush
    uint32_t m_initial;     //!< first number

    // Sender
    Llr* m_peer{nullptr};                //!< the other end
    State m_state{State::OFF};           //!< state
    ReplayBuffer m_buffer;               //!< what is not acknowledged
    int64_t m_limit{0};                  //!< GetMaxBytes
    int64_t m_timeout{0};                //!< GetReplayTimer (ps)
    uint32_t m_inARow{0};                //!< replays since the last progress
    uint64_t m_round{0};                 //!< counts INITs; ECHO repeats it
    int64_t m_lastEnd{0};                //!< when the last protected frame has been sent (ps)
    int64_t m_timerDue{lossless::NEVER}; //!< which occurrence of m_timer counts (ps)
    int64_t m_largest{0};                //!< of a protected frame (B)

    // Receiver
    Receiver m_receiver;       //!< state
    int64_t m_nextMessage{0};  //!< when an ACK or a NACK may be sent (ps)
    bool m_newsPending{false}; //!< an occurrence of m_newsDue is scheduled

    lossless::EventStream<Llr, lossless::Frame, &Llr::TakeInit> m_inits;        //!< to its receiver
    lossless::EventStream<Llr, lossless::Frame, &Llr::TakeAnswer> m_answers;    //!< to its sender
    lossless::EventOutlet<Llr, lossless::Frame, &Llr::TakeInit> m_initsOut;     //!< to the peer
    lossless::EventOutlet<Llr, lossless::Frame, &Llr::TakeAnswer> m_answersOut; //!< to the peer
    lossless::ReusableEvent<Llr> m_newsDue;                                     //!< spacing is over
    lossless::ReusableEvent<Llr> m_timer;                                       //!< replay timer

    // Counters
    uint64_t m_sent[5]{};     //!< messages sent, by kind
    uint64_t m_damaged{0};    //!< of these, damaged on the link
    uint64_t m_unexpected{0}; //!< ACKs and NACKs with numbers that are not here
    uint64_t m_protected{0};  //!< frames sent
    uint64_t m_replays{0};    //!< replays
    uint64_t m_timeouts{0};   //!< of these, by the timer
    uint64_t m_flushes{0};    //!< flushes
    uint64_t m_flushed{0};    //!< frames that were lost in them
    uint64_t m_seen[4]{};     //!< frames received, by verdict

    TracedCallback<const lossless::Port&, uint32_t, uint32_t, bool> m_replayTrace; //!< Replay
    TracedCallback<const lossless::Port&, Message, uint32_t> m_messageTrace;       //!< Message
    TracedCallback<const lossless::Port&, State> m_stateTrace;                     //!< State
};

} // namespace llr
} // namespace ns3

#endif /* LLR_FLOW_CONTROL_H */
