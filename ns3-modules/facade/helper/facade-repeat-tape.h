/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_REPEAT_TAPE_H
#define FACADE_REPEAT_TAPE_H

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-switch.h"
#include "ns3/trace-source-accessor.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief What happens in the switches of a network in a period, and what of it the order of events
 * of the same time could change.
 *
 * That order is drawn anew for every instant (eventloop::Place), so a state that recurs is no proof
 * by itself. Within a switch these happen at the same time in any order: frames arrive by different
 * ports, and transmissions end. They change the same things where they lead to the same egress, and
 * in the buffer. FindTie() rejects all at an egress whose order could choose another frame. What is
 * left of it in a buffer are the peaks; PeaksAfter() computes them from the order that each instant
 * would have. In no order may a queue fill so far that an agent acts, or a buffer up to a pause.
 */
class RepeatTape
{
  public:
    /// Peaks of a buffer: of the total, and of a lossless queue (B).
    using Peaks = std::pair<int64_t, int64_t>;

    /// Constructor. @param fabric the network.
    explicit RepeatTape(lossless::Fabric& fabric);

    /// Note what happens from now on.
    void Start();
    /// Note nothing more. @return how much was noted.
    int64_t Stop();
    /// What an order of events of the same time could change, or fills a buffer too far.
    /// @param period of what was noted (ps). @return why it is no proof; empty: nothing.
    std::string FindTie(int64_t period);
    /// Peaks of each switch after more periods, in the order of the switches. Precondition: FindTie
    /// was called.
    /// @param periods how many. @return by switch, at least the present ones.
    std::vector<Peaks> PeaksAfter(int64_t periods);
    /// @return the present peaks of each switch.
    std::vector<Peaks> GetPeaks() const;
    /// Set the peaks of each switch.
    /// @param peaks not lower than the present ones.
    void RaisePeaks(const std::vector<Peaks>& peaks) const;

  private:
    /// A frame has arrived, or starts to be sent.
    struct Note
    {
        int64_t time;                 //!< ps
        const lossless::Frame* frame; //!< which one
        uint16_t port;                //!< by which
        uint16_t ingress;             //!< by which it has arrived
        uint16_t bytes;               //!< size
        uint8_t cls;                  //!< class, or CONTROL_CLASS
        bool arrives;                 //!< else it starts to be sent
    };

    /// What happens to a buffer.
    struct Change
    {
        int64_t time;           //!< ps
        eventloop::Place place; //!< where
        int64_t bytes;          //!< added
        std::size_t queue;      //!< index of the lossless queue
    };

    /// An instant whose order decides whether a peak rises.
    struct Instant
    {
        int64_t used;                //!< total before (B)
        std::vector<Change> changes; //!< at that time
        std::vector<int64_t> queues; //!< by change: bytes of its queue before
        std::vector<uint32_t> sames; //!< by change: index of the first one of its queue
        Peaks most;                  //!< in the worst order
    };

    /// A switch.
    struct Site
    {
        lossless::Switch* node;        //!< the switch
        std::vector<Note> notes;       //!< in order of time
        std::vector<uint64_t> waiting; //!< by port: frames that waited at the start
        std::vector<int64_t> depths;   //!< by port: bytes of these, but for the control queue
        int64_t used;                  //!< bytes of its buffer at the start
        std::vector<int64_t> queues;   //!< of its lossless queues
        std::vector<Instant> instants; //!< see Instant
    };

    /// Receives the traces of a switch.
    void NoteArrival(const lossless::Port& port, const lossless::Frame& frame);
    void NoteStart(const lossless::Port& port, const lossless::Frame& frame);
    void Connect(bool on);
    Peaks PeaksOf(const Instant& instant, int64_t time);
    std::string FindTieAt(Site& site, int64_t period) const;
    std::string FindPeaksAt(Site& site, int64_t period) const;

    std::vector<Site> m_sites;                          //!< switches
    std::vector<std::size_t> m_siteOf;                  //!< by number of a node
    int64_t m_start{0};                                 //!< ps
    int64_t m_period{0};                                //!< ps
    std::vector<std::pair<uint64_t, uint32_t>> m_order; //!< scratch memory of PeaksOf
    std::vector<int64_t> m_queues;                      //!< the same
    Ptr<const TraceSourceAccessor> m_received;          //!< of a port
    Ptr<const TraceSourceAccessor> m_sent;              //!< of a port
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_REPEAT_TAPE_H */
