package proc

import (
	"fmt"
	"net"
)

// tries is how many ports are looked at for each one found: a port may be free
// for TCP and taken for UDP.
const tries = 20

// FreePorts finds n loopback addresses whose ports are free for TCP and UDP
// alike. Nodes that must know each other's address before they start need
// them; another process might take one meanwhile, which shows as a failed
// start.
func FreePorts(n int) ([]string, error) {
	var found []string
	for range n * tries {
		if len(found) == n {
			break
		}
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("couldn't find a free port: %w", err)
		}
		// All are held until the last is found, so that none comes twice.
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil {
			continue
		}
		defer udp.Close()
		found = append(found, tcp.Addr().String())
	}
	if len(found) < n {
		return nil, fmt.Errorf("couldn't find %d ports that are free for TCP and UDP", n)
	}
	return found, nil
}
