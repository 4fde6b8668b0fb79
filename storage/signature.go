package storage

import (
	"archive/tar"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
)

// A backup's signature stands in the PAX records of backup.json's tar header:
// it is read before anything else of the archive, and programs that don't know
// it read past it. It covers backup.json, which has the hash of every part.
const (
	paxKey       = "UBL.key"       // the signer's Ed25519 public key, base64
	paxSignature = "UBL.signature" // over signedAs and backup.json, base64
	signedAs     = "ubl backup v1\n"
)

// sign adds the signature of an archive's list to its header. Without a signer
// the archive stays unsigned.
func sign(header *tar.Header, list []byte, signer crypto.Signer) error {
	if signer == nil {
		return nil
	}
	public, ok := signer.Public().(ed25519.PublicKey)
	if !ok {
		return fmt.Errorf("couldn't sign with a %T: only Ed25519 keys sign backups", signer.Public())
	}
	signature, err := signer.Sign(nil, append([]byte(signedAs), list...), crypto.Hash(0))
	if err != nil {
		return fmt.Errorf("couldn't sign: %w", err)
	}
	header.PAXRecords = map[string]string{
		paxKey:       base64.StdEncoding.EncodeToString(public),
		paxSignature: base64.StdEncoding.EncodeToString(signature),
	}
	return nil
}

// signerOf is the key that signed an archive's list, nil where it isn't signed.
// A signature that doesn't match is damage, or somebody's change.
func signerOf(header *tar.Header, list []byte) (ed25519.PublicKey, error) {
	key, signature := header.PAXRecords[paxKey], header.PAXRecords[paxSignature]
	if key == "" && signature == "" {
		return nil, nil
	}
	public, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, damaged("the signer's key can't be read")
	}
	bytes, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || !ed25519.Verify(public, append([]byte(signedAs), list...), bytes) {
		return nil, damaged("the signature doesn't match the backup")
	}
	return public, nil
}
