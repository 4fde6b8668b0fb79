package gateway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"ubl/gateway"
	"ubl/gateway/check"
)

const example = `
providers:
  - name: openai
    url: https://api.openai.com/v1
    key-file: /etc/ubl/openai.key
    models: {gpt-4: gpt-4-turbo, "*": "*"}
    timeout: 90s
    first-token-timeout: 10s
    max-tokens-name: max_completion_tokens
    prompt-price: 10000000
    completion-price: 30000000
  - name: local
    url: http://127.0.0.1:11434/v1
    models: {"*": llama3}
cache: {ttl: 1h, max-bytes: 1048576}
checks:
  before: {pii: off, injection: block, injection-limit: 90}
  after: {topics: block}
`

// TestConfig reads the section as an operator writes it.
func TestConfig(t *testing.T) {
	var got gateway.Config
	if err := yaml.Load([]byte(example), &got, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	want := gateway.Config{
		Providers: []gateway.Provider{
			{Name: "openai", URL: "https://api.openai.com/v1", KeyFile: "/etc/ubl/openai.key",
				Models: map[string]string{"gpt-4": "gpt-4-turbo", "*": "*"}, Timeout: 90 * time.Second, FirstToken: 10 * time.Second,
				MaxTokensName: "max_completion_tokens", PromptPrice: 10_000_000, CompletionPrice: 30_000_000},
			{Name: "local", URL: "http://127.0.0.1:11434/v1", Models: map[string]string{"*": "llama3"}},
		},
		Cache: gateway.CacheConfig{TTL: time.Hour, MaxBytes: 1 << 20},
		Checks: gateway.Checks{
			Before: check.Policy{PII: check.Off, Injection: check.Block, InjectionLimit: 90},
			After:  check.Policy{Topics: check.Block},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

// TestBadConfig changes one thing in a good configuration.
func TestBadConfig(t *testing.T) {
	for where, spoil := range map[string]func(*gateway.Config){
		"providers[0]: name":            func(c *gateway.Config) { c.Providers[0].Name = "Open AI" },
		"providers[1]: the name":        func(c *gateway.Config) { c.Providers = append(c.Providers, c.Providers[0]) },
		"providers[0]: url":             func(c *gateway.Config) { c.Providers[0].URL = "ftp://example.com" },
		"url: no user":                  func(c *gateway.Config) { c.Providers[0].URL = "https://me:" + secret + "@example.com" },
		"query":                         func(c *gateway.Config) { c.Providers[0].URL = "https://example.com/?key=" + secret },
		"key-file and key-variable":     func(c *gateway.Config) { c.Providers[0].KeyFile = "key" },
		"timeout":                       func(c *gateway.Config) { c.Providers[0].Timeout = 2 * time.Hour },
		"first-token-timeout":           func(c *gateway.Config) { c.Providers[0].FirstToken = -1 },
		"max-tokens-name":               func(c *gateway.Config) { c.Providers[0].MaxTokensName = "limit" },
		"prices":                        func(c *gateway.Config) { c.Providers[0].PromptPrice = -1 },
		"models":                        func(c *gateway.Config) { c.Providers[0].Models = map[string]string{"": "x"} },
		"models: names are":             func(c *gateway.Config) { c.Providers[0].Models = map[string]string{"gpt-4": "my model"} },
		"cache":                         func(c *gateway.Config) { c.Cache.TTL = -1 },
		"checks.before: pii":            func(c *gateway.Config) { c.Checks.Before.PII = "warn" },
		"checks.after: injection-limit": func(c *gateway.Config) { c.Checks.After.InjectionLimit = 101 },
	} {
		c := one("https://example.com/v1")
		spoil(&c)
		_, err := gateway.New(gateway.Options{Config: c, Now: time.Now, Env: func(string) string { return secret }})
		if err == nil || !strings.Contains(err.Error(), where) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// TestKeys: a key that can't be one is refused at the start, and never shown.
func TestKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	for name, content := range map[string]string{
		"empty": "", "blank": " \n", "two lines": secret + "\nX-Evil: 1", "not ASCII": secret + "ü", "huge": strings.Repeat("k", 5000),
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := one("https://example.com/v1")
		c.Providers[0].KeyVariable, c.Providers[0].KeyFile = "", file
		if _, err := gateway.New(gateway.Options{Config: c, Now: time.Now}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := gateway.New(gateway.Options{Config: one("https://example.com/v1"), Now: time.Now}); err == nil {
		t.Error("a variable that isn't set is a key")
	}
	c := one("https://example.com/v1")
	c.Providers[0].KeyVariable, c.Providers[0].KeyFile = "", file+".none"
	if _, err := gateway.New(gateway.Options{Config: c, Now: time.Now}); err == nil {
		t.Error("a file that isn't there is a key")
	}
	if shown := fmt.Sprintf("%v %+v %#v", open(t, one("https://example.com/v1")), c, c); strings.Contains(shown, secret) {
		t.Errorf("printing shows the key: %s", shown)
	}
}
