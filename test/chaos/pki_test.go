//go:build linux

package chaos

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// ownPKI gives a node a certificate of a CA that nobody knows.
func (n *node) ownPKI() error {
	host, _, err := net.SplitHostPort(n.addresses().cluster)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := certificate(1, "a CA of its own")
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	leaf := certificate(2, n.id)
	leaf.IPAddresses = []net.IP{net.ParseIP(host)}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	leafDER, err2 := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
	keyDER, err3 := x509.MarshalECPrivateKey(key)
	return errors.Join(err, err2, err3,
		n.give("--cluster-ca", "CERTIFICATE", caDER), n.give("--cluster-cert", "CERTIFICATE", leafDER), n.give("--cluster-key", "EC PRIVATE KEY", keyDER))
}

func certificate(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
}

// give writes a PEM file and tells the node of it with a flag.
func (n *node) give(flag, kind string, der []byte) error {
	path := filepath.Join(n.home, flag[2:]+".pem")
	n.flags = append(n.flags, flag, path)
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
