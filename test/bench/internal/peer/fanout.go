package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ubl/test/bench/internal/commit"
	"ubl/test/bench/internal/receipt"
)

// fanQueue is how many frames may wait for their messages to be durable.
const fanQueue = 4096

// EventsPath is UBL's path for the live stream of the room.
const EventsPath = "/api/events/rooms/r:general"

// Fan is the bare fan-out program. A POST makes one event frame and appends it
// to a log in memory; every stream follows the log with an offset of its own
// and writes all that is new in one piece. With a store, a frame is appended and
// its POST answered once the message is durable, as the bare program's are.
type Fan struct {
	frameBytes int          // frames are padded to this length
	loop       *commit.Loop // nil: nothing is stored
	stored     chan framed  // in the order of the loop; not used without it

	chainMu sync.Mutex
	chain   *receipt.Chain

	mu     sync.RWMutex
	log    []byte        // append-only: streams read the old bytes without the lock
	notify chan struct{} // closed and replaced when the log grows
}

// framed is a frame that waits for its message to be durable.
type framed struct {
	frame    []byte
	durable  chan error
	answered chan error
}

// event is UBL's envelope of a live event.
type event struct {
	Event    string       `json:"event"`
	Payload  eventPayload `json:"payload"`
	RoomID   string       `json:"room_id"`
	TenantID string       `json:"tenant_id"`
	TS       string       `json:"ts"`
}

type eventPayload struct {
	Message json.RawMessage `json:"message"`
}

// RunFan serves the bare fan-out program until ctx is done, on a store in dir; ""
// stores nothing. Frames are padded with blanks to frameBytes, so that both programs
// move equal bytes.
func RunFan(ctx context.Context, out io.Writer, dir string, frameBytes int) (err error) {
	f := &Fan{frameBytes: frameBytes, chain: receipt.NewChain(time.Now), notify: make(chan struct{})}
	if dir != "" {
		if f.loop, err = commit.Open(filepath.Join(dir, "fan.db")); err != nil {
			return err
		}
		f.stored = make(chan framed, fanQueue)
		var publishing sync.WaitGroup
		publishing.Go(f.publishStored)
		defer func() {
			close(f.stored)
			publishing.Wait()
			err = errors.Join(err, f.loop.Close())
		}()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+MessagesPath, f.post)
	mux.HandleFunc("GET "+EventsPath, f.stream)
	return serve(ctx, out, mux)
}

func (f *Fan) post(w http.ResponseWriter, r *http.Request) {
	var in sendRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	entry, err := f.publish(in)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, sendReply{Message: entry.Message, RequestID: entry.RequestID, ServerTime: entry.Time})
}

// publish returns when the frame has been appended.
func (f *Fan) publish(in sendRequest) (receipt.Entry, error) {
	hash, err := receipt.BodyHash(in.Body)
	if err != nil {
		return receipt.Entry{}, err
	}
	entry, answered, err := f.enqueue(in, hash)
	if err != nil {
		return receipt.Entry{}, err
	}
	if err := <-answered; err != nil {
		return receipt.Entry{}, fmt.Errorf("couldn't commit: %w", err)
	}
	return entry, nil
}

// enqueue numbers a send and has its frame appended; the lock of the chain keeps frames
// in order.
func (f *Fan) enqueue(in sendRequest, hash string) (receipt.Entry, <-chan error, error) {
	f.chainMu.Lock()
	defer f.chainMu.Unlock()
	entry, err := f.chain.Append(in.Type, in.Body, hash)
	if err != nil {
		return receipt.Entry{}, nil, err
	}
	frame, err := f.frame(entry)
	if err != nil {
		return receipt.Entry{}, nil, err
	}
	answered := make(chan error, 1)
	if f.loop == nil {
		f.append(frame)
		answered <- nil
		return entry, answered, nil
	}
	durable := make(chan error, 1)
	f.loop.Enqueue(entry, durable)
	f.stored <- framed{frame, durable, answered}
	return entry, answered, nil
}

// publishStored appends what has become durable, in order.
func (f *Fan) publishStored() {
	for next := range f.stored {
		err := <-next.durable
		if err == nil {
			f.append(next.frame)
		}
		next.answered <- err
	}
}

func (f *Fan) append(frame []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, frame...)
	close(f.notify)
	f.notify = make(chan struct{})
}

func (f *Fan) frame(e receipt.Entry) ([]byte, error) {
	data, err := json.Marshal(event{
		Event: "message.created", Payload: eventPayload{e.Message},
		RoomID: "r:general", TenantID: "t:bench.example", TS: e.Time,
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't encode an event: %w", err)
	}
	head := fmt.Sprintf("id: %d\nevent: message.created\ndata: ", e.RoomSeq)
	padding := max(0, f.frameBytes-len(head)-len(data)-len("\n\n"))
	return slices.Concat([]byte(head), data, bytes.Repeat([]byte(" "), padding), []byte("\n\n")), nil
}

func (f *Fan) stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	f.mu.RLock()
	offset := len(f.log)
	f.mu.RUnlock()
	if err := out.Flush(); err != nil {
		return
	}
	for {
		f.mu.RLock()
		fresh, notify := f.log[offset:], f.notify
		f.mu.RUnlock()
		if len(fresh) == 0 {
			select {
			case <-notify:
				continue
			case <-r.Context().Done():
				return
			}
		}
		if _, err := w.Write(fresh); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		offset += len(fresh)
	}
}
