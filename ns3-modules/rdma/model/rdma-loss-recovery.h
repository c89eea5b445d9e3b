/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_LOSS_RECOVERY_H
#define RDMA_LOSS_RECOVERY_H

#include "rdma-frame-format.h"
#include "rdma-scoreboard.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"

#include <memory>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief Which packet the sender of a queue pair sends next: what NACKs and silences make it
 * repeat, as its attributes say.
 */
class LossRecovery : public FrameFormat
{
  public:
    /// What to do about lost packets.
    enum class Retransmit
    {
        NONE,      ///< nothing: a lost packet leaves the flow unfinished
        GO_BACK_N, ///< repeat everything from the gap
        SELECTIVE, ///< repeat what is missing
    };

    /// What a time-out makes a sender repeat that repeats what is missing.
    enum class TimeoutRepeats
    {
        ALL,   ///< all that was not received
        FIRST, ///< the first packet, and what NACKs have told of
    };

    LossRecovery();
    ~LossRecovery() override;

  protected:
    /// Add the attributes, those of FrameFormat included, to the type of a class derived from this.
    /// @param tid type. @return the same.
    static TypeId AddAttributes(TypeId tid);

    /// The attributes are known.
    void StartRecovery();
    /// A silence has been answered: there may be something to repeat.
    virtual void NotifyTimeout() = 0;

    /// @return true if only what is missing is repeated.
    bool IsSelective() const
    {
        return m_retransmit == Retransmit::SELECTIVE;
    }

    /// @return true if a packet is to be repeated, whatever the window.
    bool HasMissing() const
    {
        return m_scoreboard && m_scoreboard->HasMissing();
    }

    /// Take the packet to send next.
    /// @param repeat set to true if it was sent before. @return its number.
    uint64_t TakeNext(bool& repeat);
    /// A packet was sent.
    /// @param psn its number. @param now ps.
    void WatchProgress(uint64_t psn, int64_t now);
    /// All before a packet is acknowledged.
    /// @param first that packet. @param now ps. @return true if it was not known.
    bool Advance(uint64_t first, int64_t now);
    /// An answer came, after Advance.
    /// @param nack it is a NACK. @param expected packet that the receiver waits for.
    /// @param got packet that it answers.
    void NoteAnswer(bool nack, uint64_t expected, uint64_t got);

    uint64_t m_first{0};   //!< first packet not acknowledged
    uint64_t m_next{0};    //!< next packet to send, unless one is missing
    uint64_t m_highest{0}; //!< first packet never sent

  private:
    void Look();
    void LookAt(int64_t time, int64_t now);
    int64_t GetShortTimeout() const;

    // Attributes
    Retransmit m_retransmit;         //!< what to do about loss
    Time m_timeout;                  //!< silence that causes repeats
    Time m_shortTimeout;             //!< the same where few packets are in flight; 0: no other one
    uint32_t m_shortPackets;         //!< at most so many are few
    TimeoutRepeats m_timeoutRepeats; //!< of Selective

    std::unique_ptr<Scoreboard> m_scoreboard; //!< Selective, or null
    int64_t m_progress{0};                    //!< last sign of progress (ps)
    int64_t m_lookAt{lossless::NEVER};        //!< when to look for silence (ps); NEVER: not at all
    lossless::ReusableEvent<LossRecovery> m_look; //!< look for silence
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_LOSS_RECOVERY_H */
