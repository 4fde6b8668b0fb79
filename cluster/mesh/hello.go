package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxIDBytes bounds node and server ids.
const maxIDBytes = 128

// helloVersion is raised when the preface changes; the ALPN protocols have
// versions of their own.
const helloVersion = 1

// hello is the preface that a dialer sends right after the TLS handshake:
//
//	1 byte    version
//	2 bytes   partition, big endian (0 where the protocol has none)
//	1+n       the server that is wanted; empty means whoever is there
//	1+n       the server that is calling
//
// The acceptor answers with one byte.
type hello struct {
	partition      uint16
	target, sender string
}

func (h hello) encode() ([]byte, error) {
	if h.target != "" && !validID(h.target) || !validID(h.sender) {
		return nil, errors.New("couldn't call: that isn't a server id")
	}
	b := binary.BigEndian.AppendUint16([]byte{helloVersion}, h.partition)
	b = append(append(b, byte(len(h.target))), h.target...)
	return append(append(b, byte(len(h.sender))), h.sender...), nil
}

// readHello takes no byte more than the preface from r.
func readHello(r io.Reader) (hello, error) {
	var head [3]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return hello{}, fmt.Errorf("couldn't read the preface: %w", err)
	}
	if head[0] != helloVersion {
		return hello{}, fmt.Errorf("the preface has version %d", head[0])
	}
	target, err := readID(r)
	if err != nil {
		return hello{}, err
	}
	sender, err := readID(r)
	if err == nil && sender == "" {
		err = errors.New("the preface names no sender")
	}
	return hello{binary.BigEndian.Uint16(head[1:]), target, sender}, err
}

// readID reads a server id or nothing.
func readID(r io.Reader) (string, error) {
	var size [1]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return "", fmt.Errorf("couldn't read the preface: %w", err)
	}
	if size[0] > maxIDBytes {
		return "", errors.New("the preface is too long")
	}
	id := make([]byte, size[0])
	if _, err := io.ReadFull(r, id); err != nil {
		return "", fmt.Errorf("couldn't read the preface: %w", err)
	}
	if len(id) > 0 && !validID(string(id)) {
		return "", errors.New("the preface names something that isn't a server id")
	}
	return string(id), nil
}

// validID reports whether a name can be a node's or a server's: printable ASCII
// without spaces, so that it reads the same in every log.
func validID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxIDBytes
}

// What Dial fails with when the other side knows us and yet refuses.
var (
	ErrWrongServer = errors.New("another server answers at that address")
	ErrNotServing  = errors.New("the server doesn't serve that partition now")
	errItself      = errors.New("that is this node itself")
)

// answer is the acceptor's byte.
type answer byte

const (
	welcome answer = 1 + iota
	wrongServer
	notServing
	itself
)

func (a answer) err() error {
	switch a {
	case welcome:
		return nil
	case wrongServer:
		return ErrWrongServer
	case notServing:
		return ErrNotServing
	case itself:
		return errItself
	}
	return fmt.Errorf("the other side gave answer %d", a)
}
