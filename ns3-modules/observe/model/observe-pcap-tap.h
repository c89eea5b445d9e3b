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
namespace lossless
{

/**
 * @ingroup observe
 * @brief Writes the frames of a port into a pcap file, as their bytes would be on the wire.
 *
 * Classic pcap, link type Ethernet, time stamps of nanoseconds (the rest of the picoseconds is cut
 * off). A frame that goes is stamped when its first bit goes, one that comes when its last bit has
 * come, so that the file is in the order of time. A frame is as long as in the model (see
 * FrameSerializers::Serialize); where the standards need more bytes than the model gave it, the
 * captured length is the model's and the original length that of the standards.
 *
 * It listens to the trace sources Transmit and Receive: a port without a tap pays nothing. ns-3's
 * own PcapFile is not used, because it writes no frame whose captured length is below that of the
 * file's snap length and of the frame.
 *
 * Not in the file: control frames of an ideal scheme, which are not on the wire; frames that a
 * failed link loses, at their receiver.
 */
class PcapTap : public Object
{
  public:
    /// Which frames of a port are captured.
    enum class Direction
    {
        BOTH,     ///< all
        TRANSMIT, ///< those that go
        RECEIVE,  ///< those that come
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    PcapTap();
    ~PcapTap() override;

    /// Begin to capture. To be called once.
    /// @param file path; written anew. @param port the port; its network has all its links.
    /// @param serializers of its network; by default made here.
    /// @return false if the file cannot be written.
    bool Open(const std::string& file,
              Port& port,
              std::shared_ptr<const FrameSerializers> serializers = nullptr);
    /// End: nothing is captured any more, and all is written.
    /// @return false if the file could not be written to its end.
    bool Close();
    /// Where it writes. @return path.
    const std::string& GetFile() const;
    /// Frames captured. @return count.
    uint64_t GetFrames() const;
    /// Of them, those whose headers need more bytes by the standards than the model gave them.
    /// @return count.
    uint64_t GetCutFrames() const;

  protected:
    void DoDispose() override;

  private:
    void Transmitted(const Port& port, const Frame& frame);
    void Received(const Port& port, const Frame& frame);
    void Write(const Frame& frame, uint32_t sender);
    void WriteHeader();
    void Disconnect();

    // Attributes
    bool m_fcs;            //!< frames end with their FCS
    bool m_tagged;         //!< routed frames have an 802.1Q tag
    uint32_t m_snapLength; //!< most bytes of a frame that are written
    Direction m_direction; //!< which frames
    Time m_start;          //!< from when
    Time m_stop;           //!< until when; 0: the end

    std::shared_ptr<const FrameSerializers> m_serializers; //!< know the bytes
    Ptr<Port> m_port;                                      //!< the port, while it is tapped
    std::string m_file;                                    //!< path
    std::ofstream m_out;                                   //!< the file
    FrameBytes m_bytes;                                    //!< of one frame
    uint64_t m_frames{0};                                  //!< captured
    uint64_t m_cut{0};                                     //!< of them, longer by the standards
};

} // namespace lossless
} // namespace ns3

#endif /* OBSERVE_PCAP_TAP_H */
