package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/alecthomas/kong"
)

// secretUse is a command that reads a secret from a file.
type secretUse struct {
	flag  string   // of the command line, or the place in the YAML file
	args  []string // FILE stands for the secret's file, DIR for a folder
	yaml  string   // the file of --config, "" for none
	holds string   // what the error says belongs there
}

func secretUses() []secretUse {
	serve := []string{"serve", "--data", "DIR/data", "--listen", "127.0.0.1:0"}
	with := func(flags ...string) []string { return append(slices.Clip(serve), flags...) }
	return []secretUse{
		{"identity-key", with("--identity-key", "FILE"), "", "Ed25519 key"},
		{"identity-key", []string{"token", "ana@example.com", "--identity-key", "FILE"}, "", "Ed25519 key"},
		{"identity-key", []string{"key", "rotate", "--identity-key", "FILE"}, "", "Ed25519 key"},
		{"identity-key", []string{"restore", "DIR/backup", "--data", "DIR/new", "--identity-key", "FILE"}, "", "Ed25519 key"},
		{"cluster-secret-file", with("--cluster-listen", "127.0.0.1:0", "--cluster-secret-file", "FILE"), "", `as "ubl cluster secret" makes it`},
		{"oidc-client-secret-file", with("--oidc-issuer", "https://id.example", "--oidc-client-id", "c", "--oidc-client-secret-file", "FILE"), "", "the client's secret"},
		{"oidc[].client-secret-file", with("--config", "DIR/ubl.yaml"), "oidc: [{issuer: https://id.example, client-id: c, client-secret-file: FILE}]", "the client's secret"},
		{"gateway.providers[].key-file", with("--config", "DIR/ubl.yaml"), "gateway: {providers: [{name: p, url: https://p.example, key-file: FILE}]}", "an API key"},
		{"s3-secret-file", with("--s3-endpoint", "http://127.0.0.1:1", "--s3-bucket", "b", "--s3-access-key", "k", "--s3-secret-file", "FILE"), "", "the secret of the key"},
		{"mail-password-file", with("--mail-server", "127.0.0.1:1", "--mail-from", "ubl@example.com", "--mail-user", "u", "--mail-password-file", "FILE"), "", "the mail server's password"},
		{"password-file", []string{"bridge", "irc", "general", "--url", "http://127.0.0.1:1", "--server", "127.0.0.1:1", "--channel", "#ubl", "--login", "l", "--password-file", "FILE"}, "", "the password of the IRC account"},
		{"turn-secret-file", with("--call-server", "turn:turn.example.com", "--turn-secret-file", "FILE"), "", "the TURN servers' secret"},
		{"token-file", []string{"rooms", "--url", "http://127.0.0.1:1", "--token-file", "FILE"}, "", `as "ubl token" prints it`},
		{"with-token", []string{"login", "http://127.0.0.1:1", "--with-token", "FILE"}, "", `as "ubl token" prints it`},
		{"encrypt-to-file", []string{"backup", "DIR/b.tar", "--url", "http://127.0.0.1:1", "--encrypt-to-file", "FILE"}, "", "begin with age1"},
		{"decrypt-with", []string{"restore", "DIR/backup", "--data", "DIR/new", "--decrypt-with", "FILE"}, "", "AGE-SECRET-KEY-"},
	}
}

// TestBadSecretFilesAreNamed: whatever is wrong with a secret's file, the error names the
// file and what it should hold, and shows nothing of what is in it.
func TestBadSecretFilesAreNamed(t *testing.T) {
	const leak = "hunter2 is nobody's business"
	for _, u := range secretUses() {
		for what, content := range map[string]string{"empty": " \n", "wrong": leak + "\n" + leak, "missing": "", "folder": ""} {
			dir := t.TempDir()
			file := filepath.Join(dir, "the-secret")
			switch what {
			case "folder":
				works(t, os.Mkdir(file, 0o700))
			case "missing":
			default:
				works(t, os.WriteFile(file, []byte(content), 0o600))
			}
			works(t, os.WriteFile(filepath.Join(dir, "backup"), sealedForOther(t), 0o600))
			in := strings.NewReplacer("FILE", file, "DIR", dir)
			works(t, os.WriteFile(filepath.Join(dir, "ubl.yaml"), []byte(in.Replace(u.yaml)), 0o600))
			var args []string
			for _, a := range u.args {
				args = append(args, in.Replace(a))
			}
			if what == "missing" && u.flag == "identity-key" && u.args[0] == "serve" {
				continue // it makes one
			}
			var said bytes.Buffer
			env := []string{"UBL_TOKEN=x", "HOME=" + dir}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute) // a server that accepts it would run on
			code := Run(ctx, args, strings.NewReader(""), io.Discard, &said, env)
			stop()
			if code == 0 {
				t.Errorf("%s of %s, %s: accepted", u.flag, u.args[0], what)
			}
			last, holds := said.String(), u.holds
			if u.flag == "identity-key" && (what == "missing" || what == "folder") {
				holds = "key"
			}
			if !strings.Contains(last, file) || !strings.Contains(last, holds) || strings.Contains(last, "hunter2") {
				t.Errorf("%s of %s, %s: %s", u.flag, u.args[0], what, last)
			}
		}
	}
}

// TestSecretFilesAreAllTried: a new flag with a file of a secret has to join the table.
func TestSecretFilesAreAllTried(t *testing.T) {
	known := map[string]bool{
		"cluster-ca": true, "cluster-cert": true, "cluster-key": true, // cluster/mesh names both files
		"mail-ca": true, "ca": true, // certificates are no secret
		"data": true, "config": true, "out": true, "all": true, "file": true, "rebuild": true, "people": true, "ontology": true, "state": true, // no secret of the operator's
	}
	for _, u := range secretUses() {
		known[u.flag] = true
	}
	parser, err := newParser(&cli{}, &program{out: io.Discard, err: io.Discard}, func(int) {})
	works(t, err)
	works(t, kong.Visit(parser.Model, func(n kong.Visitable, next kong.Next) error {
		if command, ok := n.(*kong.Node); ok {
			for _, f := range command.Flags {
				if (f.Tag.Type == "path" || strings.Contains(f.PlaceHolder, "FILE")) && !known[f.Name] {
					t.Errorf("--%s of %s reads a file: add it to secretUses, or say here that it holds no secret", f.Name, command.Path())
				}
			}
		}
		return next(nil)
	}))
}

// sealedForOther is a backup that was encrypted for a key that nobody has.
func sealedForOther(t *testing.T) []byte {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	works(t, err)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, key.Recipient())
	works(t, err)
	works(t, w.Close())
	return out.Bytes()
}

func works(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
