package auth

import (
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"ubl"
	"ubl/transport/envelope"
)

// Before a command sends anything to a server on its own machine, that proves that it holds
// the key which the command reads: whoever else listens there gets no credential. The command
// draws a nonce, and the server answers with a statement signed by the key. It names the
// nonce and the address that the connection came to, so that a program in between can't pass
// on the proof of a server at another port. It is sealed, too: who hasn't the key learns from
// it neither the owner's address nor where the server is.

// ProofPath is where a server proves that it holds the key.
const ProofPath = "/auth/keyholder/proof"

const (
	// proofDomain, in front of the statement, keeps these signatures apart from all others
	// of the key: tokens begin with base64, backups with their own name.
	proofDomain = "ubl server proof v1\n"
	proofSeal   = "server proof v1 "
)

// Statement is what a server says of itself with a proof.
type Statement struct {
	Nonce string `json:"nonce"`
	// Address is where the connection came to, as HOST:PORT.
	Address string `json:"address"`
	// URL is where browsers reach the server, Owner whom it was started for.
	URL   string `json:"url"`
	Owner string `json:"owner"`
}

// ProofAnswer is a signed statement, sealed.
type ProofAnswer struct {
	Proof string `json:"proof"`
}

// signedStatement is what is sealed.
type signedStatement struct {
	Statement []byte `json:"statement"`
	Signature []byte `json:"signature"`
}

// proveServer answers whoever asks: only a holder of the key can read it.
func (a *Authenticator) proveServer(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Nonce string `json:"nonce"`
	}
	if err := readInto(w, r, &in); err != nil {
		return err
	}
	if !secretLike(in.Nonce) {
		return ubl.Errorf(ubl.CodeValidation, "nonce is 32 bytes in base64url")
	}
	said, err := json.Marshal(Statement{Nonce: in.Nonce, Address: localAddress(r), URL: a.origin, Owner: a.owner})
	if err != nil {
		return err
	}
	signature, err := a.key().Signer().Sign(nil, append([]byte(proofDomain), said...), crypto.Hash(0))
	if err != nil {
		return fmt.Errorf("couldn't sign a proof: %w", err)
	}
	plain, err := json.Marshal(signedStatement{said, signature})
	if err != nil {
		return err
	}
	sealed, err := a.seal(proofSeal+in.Nonce, plain)
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, ProofAnswer{Proof: sealed})
	return nil
}

// Proven is the statement that a server answered to a nonce. It fails where neither this key
// nor one before it, as the file has them, has signed it.
func (k *Key) Proven(answer ProofAnswer, nonce string) (*Statement, error) {
	plain, err := k.unseal(proofSeal+nonce, answer.Proof)
	if err != nil {
		return nil, errors.New("what it answers was not made with the key")
	}
	var signed signedStatement
	var said Statement
	if json.Unmarshal(plain, &signed) != nil || !k.signed(append([]byte(proofDomain), signed.Statement...), signed.Signature) {
		return nil, errors.New("what it answers was not signed with the key")
	}
	if json.Unmarshal(signed.Statement, &said) != nil || said.Nonce != nonce {
		return nil, errors.New("what it answers is of another question")
	}
	return &said, nil
}

// signed reports whether this key or one before it has signed a message.
func (k *Key) signed(message, signature []byte) bool {
	return slices.ContainsFunc(k.all(), func(e earlierKey) bool { return ed25519.Verify(e.key.public, message, signature) })
}
