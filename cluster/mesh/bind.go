package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// bindTries is how often another port is picked when a picked one is free for
// TCP and taken for UDP.
const bindTries = 32

// keepAlive finds out within half a minute that a silent peer is gone.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}
}

// silentFor is how long what was sent to another node's gRPC server or from it may
// stay unconfirmed. Raft's connections have deadlines of their own, and snapshots
// wait for disks.
const silentFor = 3 * time.Second

// bind opens TCP and UDP on the same address and port.
func bind(listen string) (*net.TCPListener, *net.UDPConn, error) {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, nil, fmt.Errorf("couldn't listen between nodes: %w", err)
	}
	for try := 1; ; try++ {
		tcp, udp, err := bindOnce(listen)
		if err == nil {
			return tcp, udp, nil
		}
		if port != "0" || try == bindTries {
			return nil, nil, fmt.Errorf("couldn't listen between nodes: %w", err)
		}
	}
}

func bindOnce(listen string) (*net.TCPListener, *net.UDPConn, error) {
	l, err := (&net.ListenConfig{KeepAliveConfig: keepAlive()}).Listen(context.Background(), "tcp", listen)
	if err != nil {
		return nil, nil, err
	}
	tcp := l.(*net.TCPListener)
	at := tcp.Addr().(*net.TCPAddr)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port, Zone: at.Zone})
	if err != nil {
		return nil, nil, errors.Join(err, tcp.Close())
	}
	return tcp, udp, nil
}

// advertised is what others should dial: what was asked for, with the port that
// was bound in place of 0, else where we listen.
func advertised(advertise, listen string, bound *net.TCPAddr) (string, error) {
	if advertise == "" && bound.IP.IsUnspecified() {
		return "", errors.New("couldn't tell others where we are: listening on every address needs one to advertise")
	}
	if advertise == "" {
		advertise = listen
	}
	host, port, err := net.SplitHostPort(advertise)
	if err != nil {
		return "", fmt.Errorf("couldn't use the address to advertise: %w", err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if ip, ipErr := netip.ParseAddr(host); err != nil || host == "" || ipErr == nil && ip.IsUnspecified() {
		return "", errors.New("couldn't use the address to advertise: it must be a host and a port number")
	}
	if n == 0 {
		port = strconv.Itoa(bound.Port)
	}
	return net.JoinHostPort(host, port), nil
}
