// Package nameserver is a DNS resolver on loopback, for tests: it has what it is told,
// and follows aliases as a real one does.
package nameserver

import (
	"net"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

// Server answers over UDP and TCP until it is closed.
type Server struct {
	// Addr is where it listens, HOST:PORT.
	Addr string

	mu      sync.Mutex
	zone    map[string][]dns.RR
	asked   []string
	servers []*dns.Server
	stopped sync.WaitGroup
	spoil   func(answer *dns.Msg, tcp bool)
}

// Start opens a server with nothing in it. Spoil changes its answers before they are
// sent, nil for none.
func Start(spoil func(answer *dns.Msg, tcp bool)) (*Server, error) {
	udp, tcp, err := listen()
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: udp.LocalAddr().String(), zone: map[string][]dns.RR{}, spoil: spoil}
	s.serve(&dns.Server{PacketConn: udp}, false)
	s.serve(&dns.Server{Listener: tcp}, true)
	return s, nil
}

// listen finds a port that is free for both; a free one for one may be taken for the other.
func listen() (udp net.PacketConn, tcp net.Listener, err error) {
	for range 50 {
		if tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, nil, err
		}
		if udp, err = net.ListenPacket("udp", tcp.Addr().String()); err == nil {
			return udp, tcp, nil
		}
		tcp.Close()
	}
	return nil, nil, err
}

func (s *Server) serve(d *dns.Server, tcp bool) {
	started := make(chan struct{})
	d.NotifyStartedFunc = func() { close(started) }
	d.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := s.answer(q)
		if edns := q.IsEdns0(); !tcp && edns != nil {
			answer.Truncate(int(edns.UDPSize()))
		}
		if s.spoil != nil {
			s.spoil(answer, tcp)
		}
		if len(answer.Question) > 0 || answer.Rcode != dns.RcodeRefused { // a refusal without a question is silence
			_ = w.WriteMsg(answer)
		}
	})
	s.servers = append(s.servers, d)
	s.stopped.Go(func() { _ = d.ActivateAndServe() })
	<-started
}

// Set has a name hold records as a zone file writes them, such as `TXT "text"` or
// `CNAME other.example.`, and nothing else.
func (s *Server) Set(name string, records ...string) error {
	list := make([]dns.RR, len(records))
	for i, r := range records {
		rr, err := dns.NewRR(dns.Fqdn(name) + " 60 IN " + r)
		if err != nil {
			return err
		}
		list[i] = rr
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zone[strings.ToLower(dns.Fqdn(name))] = list
	return nil
}

// Asked are the names of all questions so far.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *Server) answer(q *dns.Msg) *dns.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := new(dns.Msg).SetReply(q)
	name := q.Question[0].Name
	s.asked = append(s.asked, name)
	for range 8 {
		list, ok := s.zone[strings.ToLower(name)]
		if !ok {
			a.Rcode = dns.RcodeNameError
			return a
		}
		alias := ""
		for _, rr := range list {
			if c, ok := rr.(*dns.CNAME); ok {
				alias = c.Target
			}
			if t := rr.Header().Rrtype; t == q.Question[0].Qtype || t == dns.TypeCNAME {
				a.Answer = append(a.Answer, rr)
			}
		}
		if alias == "" {
			return a
		}
		name = alias
	}
	return a
}

// Close ends it.
func (s *Server) Close() {
	for _, d := range s.servers {
		_ = d.Shutdown()
	}
	s.stopped.Wait()
}
