package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestStopIsReceipted: a client that never finishes its request delays a stop
// for as long as is configured, and suppresses neither its end nor its receipt.
func TestStopIsReceipted(t *testing.T) {
	n := newNode(t, "--operator", "op@ops.example", "--stop-timeout", "1s")
	conn, err := net.Dial("tcp", n.addr)
	must(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /api/rooms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	must(t, err)
	op := n.client(n.token("op@ops.example"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, op.do(ctx, "GET", "/api/whoami", "", nil, nil)) // the slow request is under way by now
	n.stop()
	n.start()
	all, err := op.history(ctx, "r:platform-ops")
	must(t, err)
	var texts []string
	for _, m := range all {
		texts = append(texts, m.Body.Text)
	}
	told := strings.Join(texts, "|")
	if !strings.Contains(told, "Node started|") || !strings.Contains(told, "|Node stopped|Node started") {
		t.Errorf("r:platform-ops tells %q", told)
	}
}
