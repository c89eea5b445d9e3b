/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_PCAP_TAP_H
#define OBSERVE_PCAP_TAP_H

#include "observe-frame-serializer.h"

#include "ns3/lossless-port.h"
#include "ns3/nstime.h"

#include <fstream>
#include <memory>
#include <string>

namespace ns3
{
namespace observe
{

/**
 * @ingroup observe
 * @brief Writes the frames of a port to a pcap file, as the bytes on the wire.
 *
 * Classic pcap, link type Ethernet, time stamps in nanoseconds (truncated from picoseconds).
 * Transmitted frames are stamped at their first bit, received ones at their last bit, so that the
 * file is in time order. A frame has the length of the model (see FrameSerializers::Serialize); if
 * the standards need more bytes than the model gave it, the captured length is the model's and the
 * original length that of the standards.
 *
 * The tap connects to the trace sources Transmit and Receive: a port without a tap has no overhead.
 * ns-3's own PcapFile is not used, because it cannot write a frame whose captured length is below
 * both the file's snap length and the frame's original length.
 *
 * Not captured: control frames of an ideal scheme, which are not on the wire; frames lost by a
 * failed link, at their receiver.
 */
class PcapTap : public Object
{
  public:
    /// Which frames of a port are captured.
    enum class Direction
    {
        BOTH,     ///< all frames
        TRANSMIT, ///< transmitted frames
        RECEIVE,  ///< received frames
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    PcapTap();
    ~PcapTap() override;

    /// Start capturing. To be called once.
    /// @param file path; overwritten. @param port the port; all links of its network have been
    /// added.
    /// @param serializers serializers of its network; created here by default.
    /// @return false if the file cannot be written.
    bool Open(const std::string& file,
              lossless::Port& port,
              std::shared_ptr<const FrameSerializers> serializers = nullptr);
    /// Stop capturing and write all data.
    /// @return false if the file could not be written completely.
    bool Close();
    /// The output file. @return path.
    const std::string& GetFile() const;
    /// Number of frames captured. @return count.
    uint64_t GetFrames() const;
    /// Number of these whose headers by the standards exceed their length in the model.
    /// @return count.
    uint64_t GetCutFrames() const;

  protected:
    void DoDispose() override;

  private:
    void Transmitted(const lossless::Port& port, const lossless::Frame& frame);
    void Received(const lossless::Port& port, const lossless::Frame& frame);
    void Write(const lossless::Frame& frame, uint32_t sender);
    void WriteHeader();
    void Disconnect();

    // Attributes
    bool m_fcs;            //!< frames include their FCS
    bool m_tagged;         //!< routed frames have an 802.1Q tag
    uint32_t m_snapLength; //!< maximum bytes written per frame
    Direction m_direction; //!< which frames are captured
    Time m_start;          //!< start of the capture
    Time m_stop;           //!< end of the capture; 0: none

    std::shared_ptr<const FrameSerializers> m_serializers; //!< serializers of the network
    Ptr<lossless::Port> m_port;                            //!< the port, while it is tapped
    std::string m_file;                                    //!< path
    std::ofstream m_out;                                   //!< the file
    FrameBytes m_bytes;                                    //!< bytes of one frame
    uint64_t m_frames{0};                                  //!< frames captured
    uint64_t m_cut{0};                                     //!< of these, longer by the standards
};

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_PCAP_TAP_H */
