package mesh

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func privateSeed(c *Credentials) []byte { return c.cert().PrivateKey.(ed25519.PrivateKey).Seed() }

func TestOneSecretOneAuthority(t *testing.T) {
	s := newSecret(t)
	a, _, err := authorityOf(s.all()[0])
	if err != nil {
		t.Fatal(err)
	}
	b, _, _ := authorityOf(s.all()[0])
	if !bytes.Equal(a.Raw, b.Raw) {
		t.Error("two nodes derive two authorities from one secret")
	}
	if other, _, _ := authorityOf(newSecret(t).all()[0]); bytes.Equal(a.RawSubjectPublicKeyInfo, other.RawSubjectPublicKeyInfo) {
		t.Error("two secrets have one authority")
	}
	if bytes.Equal(privateSeed(credentials(t, s, "n1@a")), privateSeed(credentials(t, s, "n1@a"))) {
		t.Error("two starts of a node have the same key")
	}
}

// TestDerivedCertificatesHoldAtAnyTime: a node whose clock is wrong must still
// be able to vote.
func TestDerivedCertificatesHoldAtAnyTime(t *testing.T) {
	s := newSecret(t)
	ours, theirs := credentials(t, s, "n1@a"), credentials(t, s, "n2@b")
	chain, err := parseAll(theirs.cert().Certificate)
	if err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{1970, 2026, 2500, 9999} {
		if err := ours.verify(chain, time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Errorf("in %d: %v", year, err)
		}
	}
	if err := credentials(t, newSecret(t), "n3@c").verify(chain, time.Now()); err == nil {
		t.Error("a certificate of another secret was accepted")
	}
	if err := ours.verify(nil, time.Now()); err == nil {
		t.Error("no certificate was accepted")
	}
}

// pki is an operator's own authority, made for one test.
type pki struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  ed25519.PrivateKey
}

func newPKI(t *testing.T) *pki {
	p := &pki{t: t, dir: t.TempDir()}
	p.cert, p.key = p.sign(nil, func(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign })
	return p
}

// under is an intermediate authority.
func (p *pki) under() *pki {
	lower := &pki{t: p.t, dir: p.t.TempDir()}
	lower.cert, lower.key = p.sign(p.cert, func(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign })
	return lower
}

func (p *pki) sign(parent *x509.Certificate, change func(*x509.Certificate)) (*x509.Certificate, ed25519.PrivateKey) {
	p.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, ExtKeyUsage: bothEnds(),
	}
	change(c)
	signer := p.key
	if parent == nil {
		parent, signer = c, private
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, signer)
	if err != nil {
		p.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		p.t.Fatal(err)
	}
	return cert, private
}

func (p *pki) write(name, kind string, blocks ...[]byte) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	var b bytes.Buffer
	for _, der := range blocks {
		pem.Encode(&b, &pem.Block{Type: kind, Bytes: der})
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *pki) ca() string { return p.write("ca.pem", "CERTIFICATE", p.cert.Raw) }

// node writes a node's files; chain goes behind its certificate.
func (p *pki) node(change func(*x509.Certificate), chain ...*x509.Certificate) (cert, key string) {
	p.t.Helper()
	c, private := p.sign(p.cert, change)
	ders := [][]byte{c.Raw}
	for _, between := range chain {
		ders = append(ders, between.Raw)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.write("cert.pem", "CERTIFICATE", ders...), p.write("key.pem", "PRIVATE KEY", der)
}

func plain(*x509.Certificate) {}

func TestOwnPKI(t *testing.T) {
	p := newPKI(t)
	lower := p.under()
	for name, files := range map[string]func() (ca, cert, key string){
		"both usages": func() (string, string, string) { c, k := p.node(plain); return p.ca(), c, k },
		"no usages": func() (string, string, string) {
			c, k := p.node(func(c *x509.Certificate) { c.ExtKeyUsage = nil })
			return p.ca(), c, k
		},
		"an intermediate": func() (string, string, string) { c, k := lower.node(plain, lower.cert); return p.ca(), c, k },
		"two authorities": func() (string, string, string) {
			c, k := p.node(plain)
			return p.write("two.pem", "CERTIFICATE", newPKI(t).cert.Raw, p.cert.Raw), c, k
		},
	} {
		t.Run(name, func(t *testing.T) {
			ca, cert, key := files()
			own, err := FromFiles(ca, cert, key, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			s, d := newSecret(t), &directory{}
			with := func(o *Options) { o.Credentials = own }
			a, _ := listen(t, s, d, "n1@a", with)
			b, _ := listen(t, s, d, "n2@b", with)
			echo(t, b.GRPC())
			c, err := a.DialGRPC(t.Context(), "n2@b")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			says(t, c)
		})
	}
}

func TestBadPKIFilesAreRefused(t *testing.T) {
	p, other := newPKI(t), newPKI(t)
	cert, key := p.node(plain)
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	caText, err := os.ReadFile(p.ca())
	if err != nil {
		t.Fatal(err)
	}
	bad := func(change func(*x509.Certificate)) func() (string, string, string) {
		return func() (string, string, string) { c, k := newPKI(t).with(p).node(change); return p.ca(), c, k }
	}
	for name, files := range map[string]func() (string, string, string){
		"no such CA":     func() (string, string, string) { return filepath.Join(t.TempDir(), "none"), cert, key },
		"an empty CA":    func() (string, string, string) { return write("ca", ""), cert, key },
		"text behind CA": func() (string, string, string) { return write("ca", string(caText)+"more"), cert, key },
		"a key as CA":    func() (string, string, string) { return key, cert, key },
		"a leaf as CA":   func() (string, string, string) { return cert, cert, key },
		"a foreign CA":   func() (string, string, string) { return other.ca(), cert, key },
		"no certificate": func() (string, string, string) { return p.ca(), key, key },
		"another's key":  func() (string, string, string) { _, k := other.node(plain); return p.ca(), cert, k },
		"server only": bad(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}),
		"client only": bad(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}),
		"expired": bad(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
		"not yet": bad(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }),
	} {
		t.Run(name, func(t *testing.T) {
			ca, c, k := files()
			if _, err := FromFiles(ca, c, k, time.Now()); err == nil {
				t.Error("they were accepted")
			}
		})
	}
}

// with writes files into this directory, signed by another authority.
func (p *pki) with(signer *pki) *pki {
	p.cert, p.key = signer.cert, signer.key
	return p
}
