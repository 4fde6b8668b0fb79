package storage_test

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"testing"

	"ubl/storage"
)

// signedBackup is an archive of a small store, and who signed it.
func signedBackup(t *testing.T) (archive []byte, signer ed25519.PublicKey) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte("k"), ed25519.SeedSize))
	e := open(t, t.TempDir(), &storage.Options{Partitions: 2})
	fill(t, e, 3, 5, 300)
	var b bytes.Buffer
	if err := e.Backup(t.Context(), &b, &storage.BackupOptions{Signer: key}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), key.Public().(ed25519.PublicKey)
}

// rewritten is an archive whose backup.json and its header were changed.
func rewritten(t *testing.T, archive []byte, change func(*tar.Header, []byte) []byte) []byte {
	t.Helper()
	in := tar.NewReader(bytes.NewReader(archive))
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for first := true; ; first = false {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if first {
			content = change(header, content)
			header.Size = int64(len(content))
		}
		if err := errors.Join(out.WriteHeader(header), func() error { _, err := out.Write(content); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSignatures: who restores learns whose key signed, before anything is
// unpacked, and no change of the list or the signature passes for signed.
func TestSignatures(t *testing.T) {
	archive, signer := signedBackup(t)
	unsigned, _ := backupOf(t)
	other := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	tests := []struct {
		name    string
		archive []byte
		signer  ed25519.PublicKey // whom Signed is told
		want    error
	}{
		{"signed", archive, signer, nil},
		{"never signed", unsigned, nil, nil},
		{"the signature taken away", rewritten(t, archive, func(h *tar.Header, list []byte) []byte {
			h.PAXRecords = nil
			return list
		}), nil, nil},
		{"the list changed", rewritten(t, archive, func(h *tar.Header, list []byte) []byte {
			return bytes.Replace(list, []byte(`"created"`), []byte(`"CREATED"`), 1)
		}), nil, storage.ErrDamaged},
		{"another key named", rewritten(t, archive, func(h *tar.Header, list []byte) []byte {
			h.PAXRecords["UBL.key"] = base64.StdEncoding.EncodeToString(other)
			return list
		}), nil, storage.ErrDamaged},
		{"a key that isn't one", rewritten(t, archive, func(h *tar.Header, list []byte) []byte {
			h.PAXRecords["UBL.key"] = "AAAA"
			return list
		}), nil, storage.ErrDamaged},
		{"half a signature", rewritten(t, archive, func(h *tar.Header, list []byte) []byte {
			delete(h.PAXRecords, "UBL.signature")
			return list
		}), nil, storage.ErrDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var told []ed25519.PublicKey
			err := storage.Restore(t.Context(), bytes.NewReader(test.archive), t.TempDir(), nil, &storage.RestoreOptions{
				Signed: func(k ed25519.PublicKey) error { told = append(told, k); return nil },
			})
			if !errors.Is(err, test.want) {
				t.Fatalf("Restore: %v, want %v", err, test.want)
			}
			if test.want == nil && (len(told) != 1 || !bytes.Equal(told[0], test.signer)) {
				t.Errorf("told %x, want %x", told, test.signer)
			}
			if test.want != nil && len(told) != 0 {
				t.Error("a false signature was called one")
			}
		})
	}
}

// TestDistrustedSignature: a refusal leaves nothing behind.
func TestDistrustedSignature(t *testing.T) {
	archive, _ := signedBackup(t)
	dir := t.TempDir()
	distrust := errors.New("not ours")
	err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, &storage.RestoreOptions{
		Signed: func(ed25519.PublicKey) error { return distrust },
	})
	if !errors.Is(err, distrust) {
		t.Fatalf("Restore: %v", err)
	}
	if err := storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, nil); err != nil {
		t.Errorf("a restore that is trusted afterwards: %v", err)
	}
}

// TestSignedBackupIsWhole: the signature changes nothing of what is restored.
func TestSignedBackupIsWhole(t *testing.T) {
	archive, _ := signedBackup(t)
	plain := rewritten(t, archive, func(h *tar.Header, list []byte) []byte {
		h.PAXRecords = nil
		return list
	})
	if !maps.Equal(mustContents(t, openRestored(t, archive)), mustContents(t, openRestored(t, plain))) {
		t.Error("the restored data differs")
	}
}
