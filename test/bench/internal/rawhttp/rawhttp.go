// Package rawhttp is the cheapest HTTP/1.1 client that still reads its replies
// properly: the request is a block of bytes made beforehand, the reply is its
// status and body. It leaves the two cores to the servers it measures.
package rawhttp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// timeout bounds one exchange where nothing else is asked for; nothing that is
// measured comes near it.
const timeout = 20 * time.Second

// Post builds the bytes of a JSON POST. An empty token leaves out the header;
// more headers are of the form "Name: value".
func Post(host, path, token string, body []byte, headers ...string) []byte {
	return Request(http.MethodPost, host, path, token, body, headers...)
}

// Request builds the bytes of a request with a body of JSON; see [Post].
func Request(method, host, path, token string, body []byte, headers ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", method, path, host, len(body))
	finish(&b, token, headers)
	b.Write(body)
	return b.Bytes()
}

// Get builds the bytes of a GET; see [Post].
func Get(host, path, token, accept string, headers ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: %s\r\n", path, host, accept)
	finish(&b, token, headers)
	return b.Bytes()
}

// finish writes the rest of the head.
func finish(b *bytes.Buffer, token string, headers []string) {
	if token != "" {
		fmt.Fprintf(b, "Authorization: Bearer %s\r\n", token)
	}
	for _, header := range headers {
		b.WriteString(header + "\r\n")
	}
	b.WriteString("\r\n")
}

// Conn is one keep-alive connection, for one goroutine.
type Conn struct {
	conn    net.Conn
	in      *bufio.Reader
	body    []byte
	timeout time.Duration

	// RetryAfter is what the last reply said, in seconds; 0 for nothing.
	RetryAfter int
}

// Dial connects to host, a HOST:PORT.
func Dial(host string) (*Conn, error) { return DialWithin(host, timeout) }

// DialWithin connects with another bound for connecting and for each exchange.
func DialWithin(host string, timeout time.Duration) (*Conn, error) {
	return dial(host, net.Dialer{Timeout: timeout})
}

// DialFrom connects from one of this machine's addresses.
func DialFrom(host string, from net.IP) (*Conn, error) {
	return dial(host, net.Dialer{Timeout: timeout, LocalAddr: &net.TCPAddr{IP: from}})
}

func dial(host string, d net.Dialer) (*Conn, error) {
	conn, err := d.Dial("tcp", host)
	if err != nil {
		return nil, fmt.Errorf("couldn't connect: %w", err)
	}
	return &Conn{conn: conn, in: bufio.NewReaderSize(conn, 16<<10), timeout: d.Timeout}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Do sends a request and reads the whole reply. The body is valid until the
// next call.
func (c *Conn) Do(request []byte) (status int, body []byte, err error) {
	head, err := c.begin(request)
	if err != nil {
		return 0, nil, err
	}
	if err := c.rest(head); err != nil {
		return 0, nil, err
	}
	return head.Status, c.body, nil
}

// Listen sends the request for a stream. Where that is granted, the connection is good
// for [Conn.Drain] and Close only.
func (c *Conn) Listen(request []byte) (status int, err error) {
	head, err := c.begin(request)
	if err == nil && head.Status != http.StatusOK {
		err = c.rest(head)
	}
	return head.Status, err
}

// Drain throws away what comes, until the connection is closed.
func (c *Conn) Drain() {
	if c.conn.SetDeadline(time.Time{}) == nil {
		_, _ = io.Copy(io.Discard, c.in) // ends with an error, as the connection is closed meanwhile
	}
}

func (c *Conn) begin(request []byte) (Head, error) {
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return Head{}, fmt.Errorf("couldn't set a deadline: %w", err)
	}
	if _, err := c.conn.Write(request); err != nil {
		return Head{}, fmt.Errorf("couldn't send: %w", err)
	}
	head, err := ReadHead(c.in)
	c.body, c.RetryAfter = c.body[:0], head.RetryAfter
	return head, err
}

// rest reads the body behind a head.
func (c *Conn) rest(head Head) (err error) {
	switch {
	case head.Chunked:
		err = c.readChunks()
	case head.Length >= 0:
		err = c.readBody(head.Length)
	default:
		err = errors.New("a reply has neither a length nor chunks")
	}
	if err != nil {
		return fmt.Errorf("couldn't read the reply: %w", err)
	}
	return nil
}

func (c *Conn) readBody(n int) error {
	old := len(c.body)
	c.body = append(c.body, make([]byte, n)...)
	_, err := io.ReadFull(c.in, c.body[old:])
	return err
}

func (c *Conn) readChunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
		if err != nil {
			return fmt.Errorf("bad chunk size: %w", err)
		}
		if err := c.readBody(int(size)); err != nil {
			return err
		}
		if _, err := c.in.Discard(len("\r\n")); err != nil {
			return err
		}
		if size == 0 {
			return nil
		}
	}
}

// Head is what matters of a reply's status line and headers.
type Head struct {
	Status  int
	Length  int // -1 where there is none
	Chunked bool
	// RetryAfter is in seconds; 0 where there is none.
	RetryAfter int
}

// ReadHead reads up to and including the empty line.
func ReadHead(in *bufio.Reader) (Head, error) {
	head := Head{Length: -1}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return head, fmt.Errorf("couldn't read a status line: %w", err)
	}
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return head, fmt.Errorf("not a status line: %q", line)
	}
	if head.Status, err = strconv.Atoi(string(fields[1])); err != nil {
		return head, fmt.Errorf("not a status: %w", err)
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return head, fmt.Errorf("couldn't read a header: %w", err)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return head, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if head.Length, err = strconv.Atoi(string(value)); err != nil || head.Length < 0 {
				return head, fmt.Errorf("bad Content-Length %q", value)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			head.Chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Retry-After")):
			if head.RetryAfter, err = strconv.Atoi(string(value)); err != nil || head.RetryAfter < 0 {
				return head, fmt.Errorf("bad Retry-After %q", value)
			}
		}
	}
}
