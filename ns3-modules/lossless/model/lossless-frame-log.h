/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_FRAME_LOG_H
#define LOSSLESS_FRAME_LOG_H

#include "lossless-port.h"
#include "lossless-recorder.h"

#include <set>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Makes the table "frame": a row for every frame that begins to go.
 *
 * It listens to the ports' trace source Transmit; ports without it pay nothing. Precondition: it
 * lives as long as the ports send.
 */
class FrameLog
{
  public:
    /**
     * @brief Add the table.
     *
     * @param recorder where to.
     */
    explicit FrameLog(Recorder& recorder);
    FrameLog(const FrameLog&) = delete;
    FrameLog& operator=(const FrameLog&) = delete;
    /**
     * @brief Log the frames of a port. A second call for the same port changes nothing.
     *
     * @param port the port.
     */
    void Add(Port& port);

  private:
    void Record(const Port& port, const Frame& frame);

    std::set<const Port*> m_ports; //!< those logged
    std::vector<int64_t>* m_time;  //!< ps: first bit
    std::vector<uint32_t>* m_node; //!< number
    std::vector<uint32_t>* m_peer; //!< number
    std::vector<uint8_t>* m_kind;  //!< FrameKind
    std::vector<uint8_t>* m_cls;   //!< class; CONTROL_CLASS: the control queue, or MAC control
    std::vector<uint32_t>* m_flow; //!< number; 0 for MAC control
    std::vector<int64_t>* m_psn;   //!< DATA: packet; ACK, NACK: next in order; else -1
    std::vector<uint16_t>* m_code; //!< MAC: opcode; else 0
    std::vector<int64_t>* m_bytes; //!< wire bytes
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FRAME_LOG_H */
