package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// NATSVersion is the embedded server's.
const NATSVersion = server.VERSION

// natsStart bounds how long the embedded server may take to be ready.
const natsStart = 10 * time.Second

const subject = "rooms.general"

// RunJetStream embeds a NATS server with one JetStream stream (file store,
// every write synced before its ack) behind a minimal HTTP front: a POST
// publishes its body as it is and replies after the ack.
//
// JetStream has the easier task: one record a send, not hashed, not decoded,
// and no connection between front and server but memory.
func RunJetStream(ctx context.Context, out io.Writer, dir string) error {
	ns, err := server.NewServer(&server.Options{
		JetStream:  true,
		StoreDir:   dir,
		SyncAlways: true, // "sync_interval: always" in a configuration file
		DontListen: true,
		NoSigs:     true,
		NoLog:      true,
	})
	if err != nil {
		return fmt.Errorf("couldn't make the NATS server: %w", err)
	}
	ns.Start()
	defer ns.WaitForShutdown()
	defer ns.Shutdown()
	if !ns.ReadyForConnections(natsStart) {
		return errors.New("the NATS server was not ready in time")
	}
	conn, err := nats.Connect("", nats.InProcessServer(ns))
	if err != nil {
		return fmt.Errorf("couldn't connect to NATS: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("couldn't use JetStream: %w", err)
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "ROOMS", Subjects: []string{subject}, Storage: jetstream.FileStorage, Replicas: 1,
	})
	if err != nil {
		return fmt.Errorf("couldn't create the stream: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+MessagesPath, publish(js))
	return serve(ctx, out, mux)
}

func publish(js jetstream.JetStream) http.HandlerFunc {
	type message struct {
		RoomSeq uint64 `json:"room_seq"`
	}
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "couldn't read the body", http.StatusBadRequest)
			return
		}
		ack, err := js.Publish(r.Context(), subject, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		reply(w, map[string]message{"message": {RoomSeq: ack.Sequence}})
	}
}
