package mesh

import "crypto/tls"

// Secret is what the node uses and accepts now.
func (m *Mesh) Secret() Secret {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.secret
}

// SetSecret has the node use and accept another secret from now on, for
// connections and gossip. Connections with peers that are no longer accepted are
// closed; the others stay. With an operator's own PKI it changes gossip alone.
func (m *Mesh) SetSecret(s Secret) error {
	keys, err := s.derived("gossip key")
	if err != nil {
		return err
	}
	if m.credentials.Load().name == nodeName {
		c, err := FromSecret(s, m.o.ServerID)
		if err != nil {
			return err
		}
		m.credentials.Store(c)
	}
	m.mu.Lock()
	m.secret = s
	g := m.gossip
	m.mu.Unlock()
	if g != nil {
		if err := g.setKeys(keys); err != nil {
			return err
		}
	}
	m.closeRefused()
	return nil
}

// closeRefused closes what the newest credentials wouldn't let in.
func (m *Mesh) closeRefused() {
	c, now := m.credentials.Load(), m.o.Now()
	accepts := func(t *tls.Conn) bool { return c.verify(t.ConnectionState().PeerCertificates, now) == nil }
	m.rpc.closeRefused(accepts)
	for _, l := range m.openLayers() {
		if l.conns != &m.rpc {
			l.conns.closeRefused(accepts)
		}
	}
}
