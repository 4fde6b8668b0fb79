package public

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// maxSending bounds the contents that a node sends at a time, and maxSendingTo those to one
	// address: each may take as long as its reader's line is slow.
	maxSending, maxSendingTo = 256, 8
	// perNetwork is how much of an IPv6 address counts as one: all behind it are one customer's.
	perNetwork = 64
)

// sending counts contents that are on their way, in all and by address.
type sending struct {
	mu  sync.Mutex
	all int
	to  map[netip.Prefix]int
}

// begin takes a place for an address, or refuses.
func (s *sending) begin(a netip.Addr) (end func(), err error) {
	bits := a.BitLen()
	if a.Is6() && !a.Is4In6() {
		bits = perNetwork
	}
	to, _ := a.Prefix(bits) // the zero one where the address isn't known
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all >= maxSending:
		return nil, ubl.Errorf(ubl.CodeOverloaded, "too many contents are sent at the moment").Later(time.Second)
	case s.to[to] >= maxSendingTo:
		return nil, ubl.Errorf(ubl.CodeRateLimited, "%d contents are on their way to your address; wait for one", maxSendingTo).Later(time.Second)
	}
	if s.to == nil {
		s.to = map[netip.Prefix]int{}
	}
	s.all++
	s.to[to]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.to[to]--; s.to[to] == 0 {
			delete(s.to, to)
		}
	}, nil
}

// send answers with the content of a file of which a is the record, or parts of it. One whose
// file stops being public meanwhile is sent to its end.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, tenant ubl.TenantID, a *answer) error {
	var f ubl.PublicFile
	if err := json.Unmarshal(a.body, &f); err != nil {
		return err
	}
	if h.Blobs == nil {
		return ubl.Errorf(ubl.CodeUnavailable, "this server has no contents of files")
	}
	var from netip.Addr
	if h.Client != nil {
		from = h.Client(r)
	}
	end, err := h.sending.begin(from)
	if err != nil {
		return err
	}
	defer end()
	bytes, err := h.Blobs.Open(r.Context(), tenant, f.SHA256)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		err = ubl.Damaged("the content of a file is missing")
	}
	if err != nil {
		return err
	}
	defer bytes.Close()
	head := w.Header()
	head["Cache-Control"] = kept
	envelope.TellContent(head, f.SHA256, f.Type, f.Name)
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // many parts of one file are for nobody but who wants to make work
	}
	http.ServeContent(envelope.Unhurried(w, h.Now), r, "", time.Time{}, bytes)
	return nil
}
