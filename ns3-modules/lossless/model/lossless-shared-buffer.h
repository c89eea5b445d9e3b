/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_SHARED_BUFFER_H
#define LOSSLESS_SHARED_BUFFER_H

#include "lossless-constants.h"

#include "ns3/object.h"

#include <array>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The packet buffer of a switch: private, shared and headroom segments of a lossless pool,
 * and a lossy pool.
 *
 * Arithmetic only: no events, no devices. A lossless queue is an (ingress port, class); its private
 * part, its headroom and the dynamic threshold T = alpha (Bs - sum w) over the shared bytes w
 * follow the PFC buffer background of the DSH paper (ICDCS 2023, section II), with these rules
 * where that text is not lossless or silent:
 *
 * - A frame is charged as a whole: to private if it fits there, else to shared if w + frame <= T,
 * else to headroom; it is refused only when the headroom cannot take it. (Comparing q with phi + T
 * + eta can drop with the headroom empty, because T shrinks while a queue is paused.)
 * - The queue turns OFF with the first headroom byte. It turns ON when its headroom is empty and w
 * < Xon, or w = 0; this is evaluated when it releases bytes and whenever T rises.
 * - Bytes are released from headroom first, then shared, then private.
 *
 * Static thresholds replace T by Xoff, limited by what the shared pool still has.
 * A lossy queue is an (egress port, class) with a dynamic threshold on the lossy pool.
 */
class SharedBuffer : public Object
{
  public:
    /// How Xoff is set.
    enum class Threshold
    {
        DYNAMIC, ///< T = alpha (Bs - sum w)
        STATIC,  ///< bytes given
    };

    /// What became of a frame.
    enum class Verdict : uint8_t
    {
        ADMITTED,    ///< charged
        TURNED_OFF,  ///< charged, and its queue has just turned OFF
        REFUSED,     ///< not charged: drop it
        REFUSED_OFF, ///< not charged, and its queue has just turned OFF: where a headroom holds not
                     ///< one frame, the pause must still come
    };

    /// Bytes of one lossless queue.
    struct Usage
    {
        int64_t priv{0};     //!< in its private part
        int64_t shared{0};   //!< in the shared part (w)
        int64_t headroom{0}; //!< in its headroom
        bool off{false};     //!< OFF: its upstream is to be paused

        /**
         * @brief All.
         *
         * @return bytes.
         */
        int64_t Total() const
        {
            return priv + shared + headroom;
        }
    };

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    SharedBuffer();

    /**
     * @brief Fix the geometry. Attributes are not read afterwards.
     * @param headroom headroom of each port's lossless queues in bytes, one entry a port; used
     * where the attribute is 0.
     */
    void Configure(const std::vector<int64_t>& headroom);

    /**
     * @brief What makes the configuration impossible. Precondition: configured.
     *
     * @return one problem a line; empty if none.
     */
    std::string Check() const;

    /**
     * @brief A frame has arrived.
     * @param ingress port it came in by.
     * @param egress port it will leave by.
     * @param cls its class, 0..7.
     * @param bytes its size.
     * @return what became of it.
     */
    Verdict Admit(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes);

    /**
     * @brief An admitted frame has left. Afterwards take the queues that turned ON with
     * TakeResumed().
     * @param ingress port it came in by.
     * @param egress port it left by.
     * @param cls its class, 0..7.
     * @param bytes its size.
     */
    void Release(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes);

    /**
     * @brief What would be left of a queue if only some of its bytes stayed.
     * @param usage its usage now.
     * @param rest bytes that stay.
     * @return its usage then, OFF if it is OFF now.
     */
    Usage Shrink(const Usage& usage, int64_t rest) const;
    /**
     * @brief Would an OFF queue stay OFF?
     * @param usage its usage.
     * @param pool shared bytes of all queues.
     * @return true if so; false for a queue that is ON.
     */
    bool StaysOff(const Usage& usage, int64_t pool) const;

    /**
     * @brief Take one queue that has turned ON and was not taken yet.
     * @param port its port.
     * @param cls its class.
     * @return false when there is none.
     */
    bool TakeResumed(uint16_t& port, uint8_t& cls);

    /**
     * @brief Is a class lossless?
     *
     * @param cls class.
     * @return true if so.
     */
    bool IsLossless(uint8_t cls) const
    {
        return (m_losslessClasses >> cls) & 1U;
    }

    /**
     * @brief Bytes of a lossless queue.
     *
     * @param port ingress port.
     * @param cls class.
     * @return usage.
     */
    const Usage& GetUsage(uint16_t port, uint8_t cls) const
    {
        return m_usage[Index(port, cls)];
    }

    /**
     * @brief Bytes of a lossy queue.
     *
     * @param egress egress port.
     * @param cls class.
     * @return bytes.
     */
    int64_t GetLossyBytes(uint16_t egress, uint8_t cls) const
    {
        return m_lossy[Index(egress, cls)];
    }

    /**
     * @brief The Xoff threshold on the shared bytes of a queue.
     *
     * @param port ingress port.
     * @param cls class.
     * @return bytes.
     */
    int64_t GetXoff(uint16_t port, uint8_t cls) const;
    /**
     * @brief Size of the shared segment Bs.
     *
     * @return bytes.
     */
    int64_t GetSharedSize() const;
    /**
     * @brief Sum of w.
     *
     * @return bytes.
     */
    int64_t GetSharedUsed() const;
    /**
     * @brief Headroom of a lossless queue.
     *
     * @param port ingress port.
     * @return bytes.
     */
    int64_t GetHeadroom(uint16_t port) const;
    /**
     * @brief All bytes held now.
     *
     * @return bytes.
     */
    int64_t GetUsed() const;
    /**
     * @brief Most bytes ever held.
     *
     * @return bytes.
     */
    int64_t GetPeak() const;
    /**
     * @brief Most bytes that any lossless queue ever held.
     *
     * @return bytes.
     */
    int64_t GetPeakQueue() const;
    /**
     * @brief Most bytes that any headroom ever held.
     *
     * @return bytes.
     */
    int64_t GetPeakHeadroom() const;

  private:
    static constexpr int64_t ALWAYS =
        NEVER; //!< resume level of a queue that may resume whatever the pool holds
    static constexpr int64_t NOT_NOW =
        -1; //!< resume level of a queue that must first release bytes of its own
    static constexpr uint32_t ALPHA_SHIFT =
        20; //!< alpha is kept as a fixed-point number with so many bits

    std::size_t Index(uint16_t port, uint8_t cls) const
    {
        return static_cast<std::size_t>(port) * N_CLASSES + cls;
    }

    int64_t XoffOf(const Usage& usage) const;
    /**
     * @brief The largest pool use (sum w) at which an OFF queue turns ON.
     *
     * @param usage its bytes.
     * @return bytes or a constant.
     */
    int64_t ResumeLevel(const Usage& usage) const;
    void ResumeAllBelow();
    void HeapPush(uint32_t queue, int64_t level);
    void HeapUpdate(uint32_t queue, int64_t level);
    uint32_t HeapPop();
    void HeapUp(std::size_t at);
    void HeapDown(std::size_t at);
    void HeapPlace(std::size_t at, uint32_t queue);

    // Attributes
    int64_t m_size;             //!< whole buffer (B)
    int64_t m_lossyPool;        //!< lossy pool (B)
    uint32_t m_losslessClasses; //!< bit c: class c is lossless
    int64_t m_private;          //!< phi (B)
    int64_t m_headroomAttr;     //!< eta (B); 0: as Configure says
    Threshold m_threshold;      //!< dynamic or static
    double m_alpha;             //!< of the lossless pool
    int64_t m_xonOffset;        //!< Xon = T - this (B), dynamic
    int64_t m_xoff;             //!< static Xoff (B)
    int64_t m_xon;              //!< static Xon (B)
    double m_lossyAlpha;        //!< of the lossy pool

    // State
    std::vector<Usage> m_usage;      //!< per (ingress port, class)
    std::vector<int64_t> m_lossy;    //!< per (egress port, class)
    std::vector<int64_t> m_headroom; //!< per port
    int64_t m_sharedSize{0};         //!< Bs
    int64_t m_sharedUsed{0};         //!< sum w
    int64_t m_lossyUsed{0};          //!< bytes in the lossy pool
    int64_t m_used{0};               //!< all bytes
    int64_t m_peak{0};               //!< most bytes
    int64_t m_peakQueue{0};          //!< most bytes in one lossless queue
    int64_t m_peakHeadroom{0};       //!< most bytes in one headroom
    uint64_t m_alphaFixed{0};        //!< alpha << ALPHA_SHIFT
    uint64_t m_lossyAlphaFixed{0};   //!< lossy alpha << ALPHA_SHIFT

    // OFF queues in a heap with the highest resume level on top, so that a release looks at one
    // queue, not at all.
    std::vector<uint32_t> m_heap;    //!< queue indices
    std::vector<int64_t> m_level;    //!< resume level per queue
    std::vector<uint32_t> m_heapAt;  //!< position in the heap per queue
    std::vector<uint32_t> m_resumed; //!< queues that turned ON and were not taken
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SHARED_BUFFER_H */
