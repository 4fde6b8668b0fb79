package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"ubl"
)

const (
	clientIDBytes = 16
	secretBytes   = 32

	// serviceBearer begins a service token that is sent as a bearer's: no JWT begins so, and
	// scanners find what begins so in places where it shouldn't be.
	serviceBearer = "ubl_"
	tenantPrefix  = "t:"
)

// NewClientID draws the client id of a service of a tenant: "<32 hex>.<tenant id>", so that
// any node finds the tenant that knows it. An agent that a person connects has no more.
func NewClientID(tenant ubl.TenantID, random io.Reader) (clientID string, err error) {
	var drawn [clientIDBytes]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", fmt.Errorf("couldn't draw a service: %w", err)
	}
	return hex.EncodeToString(drawn[:]) + "." + string(tenant), nil
}

// NewServiceToken draws a service token for a tenant. The secret is 64 hex digits and shown
// once; its hash, the hex SHA-256 of those digits, is all that is stored.
func NewServiceToken(tenant ubl.TenantID, random io.Reader) (clientID, secret, secretHash string, err error) {
	if clientID, err = NewClientID(tenant, random); err != nil {
		return "", "", "", err
	}
	var drawn [secretBytes]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", "", "", fmt.Errorf("couldn't draw a service token: %w", err)
	}
	secret = hex.EncodeToString(drawn[:])
	return clientID, secret, hashSecret(secret), nil
}

// ServiceBearer is a service token as one string, for the Authorization header:
// "ubl_<32 hex>_<64 hex of the secret>_<tenant id without t:>". It is "" for a client id or
// a secret of another form.
func ServiceBearer(clientID, secret string) string {
	tenant := TenantOfClient(clientID)
	if tenant == "" || !lowerHex(secret, secretBytes) {
		return ""
	}
	return serviceBearer + clientID[:2*clientIDBytes] + "_" + secret + "_" + strings.TrimPrefix(string(tenant), tenantPrefix)
}

// hashSecret needs no salt and no stretching: a secret is 128 random bits or more.
func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// TenantOfClient is the tenant inside a client id, "" where it has not the form of
// [NewClientID].
func TenantOfClient(clientID string) ubl.TenantID {
	digits, rest, _ := strings.Cut(clientID, ".")
	tenant := ubl.TenantID(rest)
	if !lowerHex(digits, clientIDBytes) || !tenant.Valid() {
		return ""
	}
	return tenant
}

// lowerHex reports whether s is n bytes in lower-case hex.
func lowerHex(s string, n int) bool {
	if len(s) != 2*n {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
