package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"ubl/secretfile"
	"ubl/storage"
)

// ageHeader begins every file in the age format (age-encryption.org/v1).
var ageHeader = []byte("age-encryption.org/v1\n")

// encryption says for whom a file is encrypted, in the age format. The server's
// data never leaves the command unencrypted where a recipient is named.
type encryption struct {
	EncryptTo     []string `name:"encrypt-to" help:"Encrypt for this age recipient; may be repeated." placeholder:"age1…"`
	EncryptToFile string   `name:"encrypt-to-file" type:"path" help:"Encrypt for the age recipients in this file, one a line." placeholder:"FILE"`
}

// recipients are all that were named; none means no encryption.
func (e *encryption) recipients() ([]age.Recipient, error) {
	var all []age.Recipient
	for _, text := range e.EncryptTo {
		r, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, usagef("--encrypt-to takes an age recipient, which begins with age1")
		}
		all = append(all, r...)
	}
	if e.EncryptToFile == "" {
		return all, nil
	}
	const holds = "age recipients, one a line, which begin with age1"
	text, err := secretfile.Read(e.EncryptToFile, holds)
	if err != nil {
		return nil, err
	}
	more, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil { // age's error may show a line of the file
		return nil, secretfile.Wrong("the file "+e.EncryptToFile, holds)
	}
	return append(all, more...), nil
}

// encrypted has write's bytes encrypted for the recipients, if there are any. A
// write that failed leaves an end that nobody can decrypt.
func encrypted(w io.Writer, recipients []age.Recipient, write func(io.Writer) error) error {
	if len(recipients) == 0 {
		return write(w)
	}
	sealed, err := age.Encrypt(w, recipients...)
	if err != nil {
		return fmt.Errorf("couldn't encrypt: %w", err)
	}
	if err := write(sealed); err != nil {
		return err
	}
	return sealed.Close()
}

// decryption says with what an encrypted file is opened. Keys are in files.
type decryption struct {
	DecryptWith string `name:"decrypt-with" type:"path" help:"File with the age identity that an encrypted backup was made for." placeholder:"FILE"`
}

// decrypted is the plain text of a file, encrypted or not.
func (d *decryption) decrypted(in io.Reader) (io.Reader, error) {
	peeked := bufio.NewReader(in)
	start, _ := peeked.Peek(len(ageHeader)) // a shorter file isn't encrypted
	switch isAge := bytes.Equal(start, ageHeader); {
	case !isAge && d.DecryptWith == "":
		return peeked, nil
	case !isAge:
		return nil, errors.New("the backup isn't encrypted, or its beginning is damaged: restore it without --decrypt-with if it never was encrypted")
	case d.DecryptWith == "":
		return nil, errors.New("the backup is encrypted: give the file with your age identity with --decrypt-with")
	}
	const holds = "an age identity as age-keygen writes it, which begins with AGE-SECRET-KEY-"
	text, err := secretfile.Read(d.DecryptWith, holds)
	if err != nil {
		return nil, err
	}
	identities, err := age.ParseIdentities(strings.NewReader(text))
	if err != nil { // age's error may show a line of the file
		return nil, secretfile.Wrong("the file "+d.DecryptWith, holds)
	}
	plain, err := age.Decrypt(peeked, identities...)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return nil, fmt.Errorf("the backup was encrypted for another key than the one in %s, or its beginning is damaged", d.DecryptWith)
	}
	if err != nil {
		return nil, spoiledBackup(err)
	}
	return &decrypting{plain}, nil
}

func spoiledBackup(err error) error {
	return fmt.Errorf("the encrypted backup is damaged or cut short: %w: %w", storage.ErrDamaged, err)
}

// decrypting says of what can't be decrypted that it is damaged: the key is the right
// one.
type decrypting struct{ plain io.Reader }

func (d *decrypting) Read(b []byte) (int, error) {
	n, err := d.plain.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = spoiledBackup(err)
	}
	return n, err
}
