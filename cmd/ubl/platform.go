package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ubl"
	"ubl/storage"
	"ubl/transport/auth"
)

// announcement is an act of the platform and the message that tells it, in a
// room of tenant 0.
type announcement struct {
	to   ubl.RoomID
	did  ubl.Did
	text string
	more ubl.Fields
}

// announce receipts an act of the platform. The same request announces once,
// however often it is tried.
func (n *node) announce(ctx context.Context, req ubl.Request, a announcement) error {
	this := append(ubl.Fields{ubl.Str("node_id", n.id()), ubl.Str("version", version())}, a.more...)
	_, err := n.asker.Ask(ctx, ubl.RoomName(ubl.CoreTenant, a.to), ubl.Announce{Request: req, Did: a.did, This: this, Text: a.text})
	if err != nil {
		return fmt.Errorf("couldn't receipt %s: %w", a.did, err)
	}
	return nil
}

// announceNow receipts an act that is tried once.
func (n *node) announceNow(ctx context.Context, a announcement) error {
	req, err := n.request()
	if err != nil {
		return err
	}
	return n.announce(ctx, req, a)
}

// announceStart receipts the start, and before it the key where that is still
// to be done.
func (n *node) announceStart(ctx context.Context, req ubl.Request, key *auth.Key) error {
	if err := n.bootstrap(ctx); err != nil {
		return err
	}
	if err := n.announceKey(ctx, key); err != nil {
		return err
	}
	return n.announce(ctx, req, announcement{to: ubl.OpsRoom, did: ubl.DidPlatformStart, text: n.named("Node started")})
}

// named says of which node something is, where there are others.
func (n *node) named(text string) string {
	if n.cluster == nil {
		return text
	}
	return text + ": " + n.id()
}

// announceRestore receipts a restore, once: a process that died between
// restoring and telling leaves it to the next that opens the directory.
func (n *node) announceRestore(ctx context.Context) error {
	if !n.store.Restored() {
		return nil
	}
	req, err := n.request()
	if err != nil {
		return err
	}
	req.Key = "platform.restore:" + n.store.Incarnation()
	err = n.announce(ctx, req, announcement{to: ubl.OpsRoom, did: ubl.DidPlatformRestore, text: "Restored from a backup"})
	if err != nil {
		return err
	}
	return n.store.ForgetRestore()
}

// announceKey receipts the making of the node's key, once: a node that died
// between making and telling tells it at its next start.
func (n *node) announceKey(ctx context.Context, key *auth.Key) error {
	told := n.named("Key made: " + key.String())
	done, err := n.announced(ctx, ubl.CeremonyRoom, "Key made: "+key.String())
	if err != nil {
		return fmt.Errorf("couldn't read the key ceremonies: %w", err)
	}
	if done {
		return nil
	}
	req, err := n.request()
	if err != nil {
		return err
	}
	req.Key = "platform.key:" + key.ID() // nodes that start together tell it once
	return n.announce(ctx, req, announcement{to: ubl.CeremonyRoom, did: ubl.DidPlatformKeyCreate, text: told,
		more: ubl.Fields{ubl.Str("key_id", key.ID())}})
}

// announced looks for a message of the platform in the whole of a room, whatever node it names.
func (n *node) announced(ctx context.Context, room ubl.RoomID, text string) (bool, error) {
	for before := int64(0); ; {
		messages, next, err := ubl.ReadMessages(ctx, n.asker, ubl.RoomName(ubl.CoreTenant, room),
			ubl.ReadHistory{Who: ubl.Platform(), Before: before, Limit: 200})
		if err != nil {
			return false, err
		}
		for _, raw := range messages {
			var m ubl.Message
			if json.Unmarshal(raw, &m) == nil && strings.HasPrefix(m.Body.Text, text) && m.SenderID == ubl.Platform().UserID {
				return true, nil
			}
		}
		if next == nil {
			return false, nil
		}
		before = *next
	}
}

// backup writes an archive of everything. Its receipt comes before the first
// byte leaves: no copy of the data goes unrecorded. by is who asked.
func (n *node) backup(ctx context.Context, w io.Writer, by string, o *storage.BackupOptions) error {
	out := &receiptedWriter{w: w, receipt: func() error {
		return n.announceNow(ctx, announcement{to: ubl.OpsRoom, did: ubl.DidPlatformBackup, text: "Backup made by " + by,
			more: ubl.Fields{ubl.Str("by", by)}})
	}}
	with := storage.BackupOptions{}
	if o != nil {
		with = *o
	}
	with.Blob = n.blobs.Open
	n.backups.RLock()
	defer n.backups.RUnlock()
	backup := n.store.Backup
	if n.cluster != nil {
		backup = n.cluster.Backup
	}
	if err := backup(ctx, out, &with); err != nil {
		return err
	}
	n.noteBackup()
	return nil
}

// receiptedWriter gets a receipt before it writes anything.
type receiptedWriter struct {
	w       io.Writer
	receipt func() error // nil once it was got
}

func (r *receiptedWriter) Write(b []byte) (int, error) {
	if r.receipt != nil {
		if err := r.receipt(); err != nil {
			return 0, err
		}
		r.receipt = nil
	}
	return r.w.Write(b)
}
