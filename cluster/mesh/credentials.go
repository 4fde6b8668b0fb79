package mesh

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"time"
)

// nodeName is the DNS name of every certificate under the derived authority:
// it says "a node", not which. Which one is the preface's business.
const nodeName = "node.ubl.internal"

// The derived authority and its certificates are valid at any time: a node
// whose clock is wrong must still be able to vote. Their keys end with the
// secret (the authority's) and with the process (the node's).
var (
	validFrom  = time.Unix(0, 0).UTC()
	validUntil = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// Credentials say who we are between nodes, and who may speak with us. They
// hold a private key and never show it.
type Credentials struct {
	cert  func() tls.Certificate // a function for the reason that Secret.key is one
	roots *x509.CertPool
	name  string // the DNS name that every certificate must bear; empty: any
}

// FromSecret makes credentials under an authority that every node derives from
// the same secret: from its first key, while those of all its keys are accepted.
// The node's own key is new each time and only in memory.
func FromSecret(s Secret, serverID string) (*Credentials, error) {
	seeds, err := s.derived("certificate authority")
	if err != nil {
		return nil, err
	}
	ca, caKey, err := authorityOf(seeds[0])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for _, seed := range seeds[1:] {
		also, _, err := authorityOf(seed)
		if err != nil {
			return nil, err
		}
		roots.AddCert(also)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("couldn't make the node's key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, nodeTemplate(serverID), ca, public, caKey)
	if err != nil {
		return nil, fmt.Errorf("couldn't make the node's certificate: %w", err)
	}
	pair := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
	return &Credentials{cert: func() tls.Certificate { return pair }, roots: roots, name: nodeName}, nil
}

// authorityOf is the cluster's authority: the same seed gives the same key and,
// byte for byte, the same certificate.
func authorityOf(seed []byte) (*x509.Certificate, ed25519.PrivateKey, error) {
	key := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "ubl cluster"},
		NotBefore:    validFrom, NotAfter: validUntil,
		// Given here, because how it is computed changed between releases of Go.
		SubjectKeyId: key.Public().(ed25519.PublicKey)[:20],
		IsCA:         true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage:            x509.KeyUsageCertSign,
		PermittedDNSDomains: []string{nodeName}, PermittedDNSDomainsCritical: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("couldn't make the cluster's authority: %w", err)
	}
	ca, err := x509.ParseCertificate(der)
	return ca, key, err
}

func nodeTemplate(serverID string) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: serverID}, // for those who look at it; nothing depends on it
		NotBefore: validFrom, NotAfter: validUntil,
		DNSNames:              []string{nodeName},
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           bothEnds(),
		BasicConstraintsValid: true,
	}
}

func bothEnds() []x509.ExtKeyUsage {
	return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
}

// config is for either side of a connection that speaks one of the protocols.
func (c *Credentials) config(now func() time.Time, protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{c.cert()},
		NextProtos:   protocols,
		// Both sides judge the other's certificate with the one function below,
		// instead of with crypto/tls's two, which want a host name.
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			return c.verify(s.PeerCertificates, now())
		},
		SessionTicketsDisabled: true, // each connection shows a certificate
	}
}

// verify reports whether the chain, leaf first, is of a node of this cluster:
// every node both calls and is called, so its certificate must do for both.
func (c *Credentials) verify(chain []*x509.Certificate, now time.Time) error {
	if len(chain) == 0 {
		return errors.New("there is no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	for _, use := range bothEnds() {
		o := x509.VerifyOptions{
			Roots: c.roots, Intermediates: between, DNSName: c.name,
			CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use},
		}
		if _, err := chain[0].Verify(o); err != nil {
			return err
		}
	}
	return nil
}

// String, GoString and LogValue keep the private key out of texts and logs.
func (c Credentials) String() string       { return "[credentials]" }
func (c Credentials) GoString() string     { return c.String() }
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }
