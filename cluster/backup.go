package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"

	"ubl"
	"ubl/storage"
)

// Backup writes an archive of the whole cluster: each partition as its leader
// has it now.
func (n *Node) Backup(ctx context.Context, w io.Writer, o *storage.BackupOptions) error {
	return n.engine.BackupFrom(ctx, w, n.fetch, o)
}

// fetch copies a partition from its leader into a file, and says whether that is this
// node. It waits for a leader as every question does.
func (n *Node) fetch(ctx context.Context, partition int, path string) (here bool, err error) {
	err = n.untilLed(ctx, partition, time.Now().Add(askTimeout), func(w way) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // what an attempt before has left
		}
		here = w.leader == n.server
		return n.fetchFrom(ctx, w.leader, partition, path)
	})
	return here, err
}

func (n *Node) fetchFrom(ctx context.Context, leader string, partition int, path string) error {
	switch leader {
	case "":
		return ubl.Errorf(ubl.CodeUnavailable, "the partition has no leader now")
	case n.server:
		return n.copyHere(ctx, partition, path)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := openStream(ctx, n, leader, callFetch, &fetchRequest{Partition: partition})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(receive(leader, stream, f), f.Close())
}

func receive(server string, stream grpc.ClientStream, w io.Writer) error {
	for {
		var c chunk
		err := stream.RecvMsg(&c)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fromStatus(server, err)
		}
		if _, err := w.Write(c.Data); err != nil {
			return err
		}
	}
}

// copyHere copies a partition that this node leads, and makes sure that it does.
func (n *Node) copyHere(ctx context.Context, partition int, path string) error {
	epoch, g := n.engine.Epoch(partition), n.group(partition)
	if epoch == 0 || g == nil {
		return ubl.Errorf(ubl.CodeUnavailable, "this node doesn't lead the partition")
	}
	if err := g.confirm(ctx, epoch); err != nil {
		return err
	}
	return n.engine.CopyPartition(ctx, partition, path)
}

// serveFetch sends a copy. It is made locally first: a slow receiver must not
// hold a transaction open.
func (n *Node) serveFetch(q *fetchRequest, stream grpc.ServerStream) (err error) {
	if q.Partition < 0 || q.Partition >= n.engine.Partitions() {
		return ubl.Errorf(ubl.CodeValidation, "there is no such partition")
	}
	dir, err := n.engine.TempDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "copy")
	if err := n.copyHere(stream.Context(), q.Partition, path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for buf := make([]byte, 256<<10); ; {
		read, err := f.Read(buf)
		if read > 0 {
			if err := stream.SendMsg(&chunk{Data: buf[:read]}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
