package mesh

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// FromFiles reads credentials of an operator's own PKI, all PEM: the
// certificates of the authority, the node's certificate with the intermediate
// ones behind it, and its key. A node is whoever has a certificate that chains
// to the authority and is good for both ends of a connection (serverAuth and
// clientAuth, or no extended usage at all); host names are not compared. The
// authority should therefore be the cluster's own.
//
// What is wrong with the files, expiry included, is an error here and not a
// surprise later. They are read once: a renewed certificate needs a restart.
func FromFiles(ca, cert, key string, now time.Time) (*Credentials, error) {
	roots, err := readAuthority(ca)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the cluster's authority %s: %w", ca, err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the node's certificate %s with its key %s: %w", cert, key, err)
	}
	c := &Credentials{cert: func() tls.Certificate { return pair }, roots: roots}
	chain, err := parseAll(pair.Certificate)
	if err == nil {
		err = c.verify(chain, now)
	}
	if err != nil {
		return nil, fmt.Errorf("the node's certificate %s isn't good for both ends under %s: %w", cert, ca, err)
	}
	return c, nil
}

func readAuthority(path string) (*x509.CertPool, error) {
	rest, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for n := 0; ; n++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return pool, atEnd(n, rest)
		}
		cert, err := parseAuthority(block)
		if err != nil {
			return nil, err
		}
		pool.AddCert(cert)
	}
}

func atEnd(found int, rest []byte) error {
	if found == 0 {
		return errors.New("there is no PEM certificate in it")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return errors.New("there is something behind its last certificate")
	}
	return nil
}

func parseAuthority(block *pem.Block) (*x509.Certificate, error) {
	if block.Type != "CERTIFICATE" {
		return nil, errors.New("it holds something other than certificates")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	if !cert.BasicConstraintsValid || !cert.IsCA {
		return nil, errors.New("it holds a certificate that is not an authority's")
	}
	return cert, nil
}

func parseAll(ders [][]byte) ([]*x509.Certificate, error) {
	certs := make([]*x509.Certificate, len(ders))
	for i, der := range ders {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		certs[i] = cert
	}
	return certs, nil
}
