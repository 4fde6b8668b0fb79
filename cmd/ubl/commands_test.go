package main

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/portal/stdio"
)

// commandsOf are the programs of a YAML file's section portal.
func commandsOf(t *testing.T, content string) (map[string]stdio.Command, []string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ubl.yaml")
	if err := os.WriteFile(path, []byte("portal:\n  commands:\n"+content), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := readConfig(path)
	if err != nil {
		return nil, nil, err
	}
	section, err := takePortal(file)
	if err != nil {
		return nil, nil, err
	}
	return allowedCommands(section.Commands)
}

// TestCommands: what an operator allows, with all that can be said of it.
func TestCommands(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere there is no isolation")
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("operators-own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, files, err := commandsOf(t, `
    files: {command: [/usr/bin/files, .]}
    github:
      command: [/usr/bin/github, stdio]
      environment: {HOST: github.com, KEY: {file: `+key+`}}
      secret: GITHUB_TOKEN
      tenants: ["t:acme.com"]
      network: true
      memory: 2GiB
      cpu: 90s
      processes: 32
      timeout: 20s
`)
	if err != nil || len(all) != 2 || !slices.Equal(files, []string{key}) {
		t.Fatalf("it is %+v with the files %v, %v", all, files, err)
	}
	c := all["github"]
	if c.Environment["HOST"] != "github.com" || c.Environment["KEY"] != "operators-own" || !slices.Equal(c.Secrets, []string{"KEY"}) || c.Secret != "GITHUB_TOKEN" ||
		!slices.Equal(c.Tenants, []ubl.TenantID{"t:acme.com"}) || !c.Network || c.Memory != 2<<30 || c.CPU != 90*time.Second || c.Processes != 32 || c.Timeout != 20*time.Second {
		t.Errorf("it is %+v", c)
	}
	if all["files"].Network || all["files"].Tenants != nil {
		t.Errorf("a program may by default what it shouldn't: %+v", all["files"])
	}
}

// TestCommandsAreChecked: what can't be meant is refused, and the place is named.
func TestCommandsAreChecked(t *testing.T) {
	for content, want := range map[string]string{
		`    Files: {command: [/bin/x]}`:                                               "no name",
		`    files: {}`:                                                                "files.command",
		`    files: {command: [npx, x]}`:                                               "absolute path",
		`    files: {command: [/bin/x], shell: true}`:                                  "portal",
		`    files: {command: [/bin/x], environment: {"A B": x}}`:                      "environment",
		`    files: {command: [/bin/x], environment: {A: {variable: B}}}`:              "file",
		`    files: {command: [/bin/x], environment: {A: {file: /nowhere/key}}}`:       "/nowhere/key",
		`    files: {command: [/bin/x], secret: "A=B"}`:                                "secret",
		`    files: {command: [/bin/x], secret: A, environment: {A: x}}`:               "secret",
		`    files: {command: [/bin/x], tenants: [acme.com]}`:                          "tenants",
		`    files: {command: [/bin/x], isolation: container}`:                         "isolation",
		`    files: {command: [/bin/x], isolation: none}`:                              "network",
		`    files: {command: [/bin/x], isolation: user, network: true}`:               "isolation",
		`    files: {command: [/bin/x], isolation: none, network: true, user: nobody}`: "user",
		`    files: {command: [/bin/x], user: root}`:                                   "user",
		`    files: {command: [/bin/x], user: who-is-this}`:                            "user",
		`    files: {command: [/bin/x], memory: 1MiB}`:                                 "memory",
		`    files: {command: [/bin/x], memory: 512}`:                                  "memory",
		`    files: {command: [/bin/x], processes: 1}`:                                 "processes",
		`    files: {command: [/bin/x], cpu: 1ms}`:                                     "cpu",
	} {
		if _, _, err := commandsOf(t, content+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// TestOwnFilesAreHidden: those that flags name, those of embedded sets too.
func TestOwnFilesAreHidden(t *testing.T) {
	var c serveCmd
	c.Data, c.IdentityKey, c.ClusterSecretFile, c.S3SecretFile, c.OIDCClientSecretFile = "/data", "/key", "/secret", "/s3", "/oidc"
	got := pathsIn(reflect.ValueOf(&c).Elem())
	for _, want := range []string{"/data", "/key", "/secret", "/s3", "/oidc"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s isn't hidden: %v", want, got)
		}
	}
}
