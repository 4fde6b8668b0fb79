package etcdload

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"ubl/test/bench/internal/rawgrpc"
)

// The methods of etcd's v3 API, and as much of their messages as is needed. The
// numbers are those of etcd's rpc.proto, which are fixed for good.
const (
	putPath   = "/etcdserverpb.KV/Put"
	rangePath = "/etcdserverpb.KV/Range"

	putKey, putValue                 = 1, 2
	rangeKey, rangeEnd, rangeCounted = 1, 2, 9
	replyHeader, headerRevision      = 1, 3
	rangeCount                       = 4
)

// digits is how long the number is that makes a key new, so that all puts of a client
// are equally long.
const digits = 10

// puts makes a client's requests: the same bytes, but for the number in the key.
type puts struct {
	message []byte
	number  []byte // within message
}

func newPuts(prefix, value string) *puts {
	key := slices.Concat([]byte(prefix), slices.Repeat([]byte("0"), digits))
	var b []byte
	b = protowire.AppendTag(b, putKey, protowire.BytesType)
	b = protowire.AppendBytes(b, key)
	end := len(b)
	b = protowire.AppendTag(b, putValue, protowire.BytesType)
	b = protowire.AppendString(b, value)
	message := rawgrpc.Message(b)
	end += len(message) - len(b)
	return &puts{message: message, number: message[end-digits : end]}
}

// next is the request for another key; it is valid until the one after.
func (p *puts) next() []byte {
	for i := digits - 1; i >= 0; i-- {
		if p.number[i]++; p.number[i] <= '9' {
			break
		}
		p.number[i] = '0'
	}
	return p.message
}

// countOf asks how many keys begin with a prefix.
func countOf(prefix string) []byte {
	end := []byte(prefix)
	end[len(end)-1]++
	var b []byte
	b = protowire.AppendTag(b, rangeKey, protowire.BytesType)
	b = protowire.AppendString(b, prefix)
	b = protowire.AppendTag(b, rangeEnd, protowire.BytesType)
	b = protowire.AppendBytes(b, end)
	b = protowire.AppendTag(b, rangeCounted, protowire.VarintType)
	b = protowire.AppendVarint(b, 1)
	return rawgrpc.Message(b)
}

// revision is the store's revision that a reply names: behind a put, its own.
func revision(reply []byte) (uint64, error) {
	header, err := field(reply, replyHeader)
	if err != nil {
		return 0, err
	}
	n, err := number(header, headerRevision)
	if err == nil && n == 0 {
		err = errors.New("a reply has no revision")
	}
	return n, err
}

// number is a field of a message that is a number, 0 where it is left out.
func number(message []byte, of protowire.Number) (uint64, error) {
	value, err := field(message, of)
	if err != nil || value == nil {
		return 0, err
	}
	n, size := protowire.ConsumeVarint(value)
	return n, protowire.ParseError(min(size, 0))
}

// field finds a field of a message: a string's or message's content, a number's bytes; nil
// where it is left out.
func field(message []byte, of protowire.Number) ([]byte, error) {
	for rest := message; len(rest) > 0; {
		n, kind, size := protowire.ConsumeTag(rest)
		if size < 0 {
			return nil, fmt.Errorf("couldn't decode a reply: %w", protowire.ParseError(size))
		}
		rest = rest[size:]
		if size = protowire.ConsumeFieldValue(n, kind, rest); size < 0 {
			return nil, fmt.Errorf("couldn't decode a reply: %w", protowire.ParseError(size))
		}
		if n == of && kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(rest)
			return content, nil
		}
		if n == of {
			return rest[:size], nil
		}
		rest = rest[size:]
	}
	return nil, nil
}
