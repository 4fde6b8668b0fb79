package rawgrpc

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// tableSize is the server's table for headers by default, on which the headers that
// are made beforehand rely (RFC 9113, 6.5.2).
const tableSize = 4096

// Status is what a server answered instead of a reply.
type Status struct {
	HTTP    string
	Code    string // gRPC's, "" where there was none
	Message string
}

func (s *Status) Error() string {
	return fmt.Sprintf("HTTP status %s, gRPC status %q: %s", s.HTTP, s.Code, s.Message)
}

// status is what a call's headers and trailers say.
type status struct{ http, code, message string }

// err is nil where all went well.
func (s status) err() error {
	if s.http == "200" && s.code == "0" {
		return nil
	}
	return &Status{s.http, s.code, s.message}
}

// reader is the goroutine that reads a connection.
type reader struct {
	*Conn
	decoder *hpack.Decoder
	state   *status // where decoded fields go
	taken   uint32  // bytes of replies since the server was last told of more room
}

// read runs until the connection ends.
func (c *Conn) read() {
	r := &reader{Conn: c}
	r.decoder = hpack.NewDecoder(tableSize, r.field)
	c.framer.SetReuseFrames()
	for {
		frame, err := c.framer.ReadFrame()
		if err == nil {
			err = r.take(frame)
		}
		if err != nil {
			c.fail(fmt.Errorf("couldn't read a reply: %w", err))
			return
		}
	}
}

// take is what a frame leads to. What the server is to be told goes along with the next
// call: a write of its own would cost as much as that. Errors end the connection.
func (r *reader) take(frame http2.Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := frame.Header().StreamID
	switch f := frame.(type) {
	case *http2.HeadersFrame:
		return r.headers(f)
	case *http2.DataFrame:
		if call := r.calls[id]; call != nil {
			call.reply = append(call.reply, f.Data()...)
			if f.StreamEnded() {
				r.end(id, call.state.err()) // it has none: trailers would come behind
			}
		}
		r.makeRoom(f.Length)
	case *http2.RSTStreamFrame:
		r.end(id, fmt.Errorf("the server broke a call off: %s", f.ErrCode))
	case *http2.WindowUpdateFrame:
		if id == 0 {
			r.window += int64(f.Increment)
			r.room.Broadcast()
		}
	case *http2.SettingsFrame:
		return r.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() { // gRPC's servers send one with every few calls
			r.wrote(r.framer.WritePing(true, f.Data))
		}
	case *http2.GoAwayFrame:
		return fmt.Errorf("the server ends the connection: %s %.200q", f.ErrCode, f.DebugData())
	case *http2.ContinuationFrame, *http2.PushPromiseFrame:
		return errors.New("the server sends frames of a kind that isn't expected")
	}
	return nil
}

// headers reads a reply's headers or trailers. Those of calls that nobody waits for
// are read as well: the table of later ones depends on it.
func (r *reader) headers(f *http2.HeadersFrame) error {
	if !f.HeadersEnded() {
		return errors.New("the headers of a reply are too long")
	}
	if call := r.calls[f.StreamID]; call != nil {
		r.state = &call.state
	} else {
		r.state = new(status)
	}
	if _, err := r.decoder.Write(f.HeaderBlockFragment()); err != nil {
		return err
	}
	if err := r.decoder.Close(); err != nil {
		return err
	}
	if f.StreamEnded() {
		r.end(f.StreamID, r.state.err())
	}
	return nil
}

func (r *reader) field(f hpack.HeaderField) {
	switch f.Name {
	case ":status":
		r.state.http = f.Value
	case "grpc-status":
		r.state.code = f.Value
	case "grpc-message":
		r.state.message = f.Value
	}
}

// end tells a call's caller how it ended, once.
func (r *reader) end(id uint32, err error) {
	if call := r.calls[id]; call != nil {
		delete(r.calls, id)
		call.done <- err
	}
}

// makeRoom gives the server back what replies took, now and then.
func (r *reader) makeRoom(n uint32) {
	if r.taken += n; r.taken >= connWindow/2 {
		r.wrote(r.framer.WriteWindowUpdate(0, r.taken))
		r.taken = 0
	}
}

func (r *reader) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	if size, ok := f.Value(http2.SettingHeaderTableSize); ok && size < tableSize {
		return fmt.Errorf("the server's table for headers has %d bytes, too few", size)
	}
	if window, ok := f.Value(http2.SettingInitialWindowSize); ok {
		r.longest = int64(window)
	}
	r.wrote(r.framer.WriteSettingsAck())
	return nil
}
