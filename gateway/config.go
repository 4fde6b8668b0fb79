package gateway

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"ubl/gateway/check"
	"ubl/secretfile"
)

// Config is the section gateway of the server's YAML file.
type Config struct {
	// Providers are asked in this order.
	Providers []Provider  `yaml:"providers"`
	Cache     CacheConfig `yaml:"cache"`
	Checks    Checks      `yaml:"checks"`
}

// Checks are made of what goes into a model and of what comes out.
type Checks struct {
	Before check.Policy `yaml:"before"`
	After  check.Policy `yaml:"after"`
}

// CacheConfig bounds the cache.
type CacheConfig struct {
	Off bool `yaml:"off"`
	// TTL is how long an answer is kept: 10 minutes where it is 0.
	TTL time.Duration `yaml:"ttl"`
	// MaxBytes bounds the memory of all tenants together: 64 MiB where it is 0.
	MaxBytes int64 `yaml:"max-bytes"`
}

// Provider is a server of models.
type Provider struct {
	// Name stands in receipts and errors: 1 to 32 of [a-z0-9-].
	Name string `yaml:"name"`
	// URL is what /chat/completions is added to, as https://api.openai.com/v1.
	URL string `yaml:"url"`
	// The API key is in a file, or in an environment variable, or there is none.
	KeyFile     string `yaml:"key-file"`
	KeyVariable string `yaml:"key-variable"`
	// Models maps what callers ask for to what the provider calls it. The name *
	// stands for every other model; the value * or "" for the name that was asked
	// for. Without Models the provider serves all by their own names.
	Models map[string]string `yaml:"models"`
	// Timeout bounds a call (2 minutes where it is 0), FirstToken the wait for the
	// first token of a streamed one, or the first of its reasoning (30 seconds).
	Timeout    time.Duration `yaml:"timeout"`
	FirstToken time.Duration `yaml:"first-token-timeout"`
	// MaxTokensName is how the provider calls the bound of an answer: max_tokens
	// where it is empty, or max_completion_tokens, as OpenAI's newer models want.
	MaxTokensName string `yaml:"max-tokens-name"`
	// Prices are in millionths of the operator's unit of money per million tokens.
	PromptPrice     int64 `yaml:"prompt-price"`
	CompletionPrice int64 `yaml:"completion-price"`
}

// Defaults and bounds of settings.
const (
	defaultTimeout    = 2 * time.Minute
	defaultFirstToken = 30 * time.Second
	maxTimeout        = time.Hour
	defaultTTL        = 10 * time.Minute
	defaultCacheBytes = 64 << 20
	maxPrice          = 10_000_000_000
	maxKey            = 4096
	maxModel          = 128
	anyModel          = "*"
)

// Validate refuses what makes no sense, and names the place.
func (c *Config) Validate() error {
	seen := map[string]bool{}
	for i, p := range c.Providers {
		if err := p.validate(); err != nil {
			return fmt.Errorf("gateway.providers[%d]: %w", i, err)
		}
		if seen[p.Name] {
			return fmt.Errorf("gateway.providers[%d]: the name is taken", i)
		}
		seen[p.Name] = true
	}
	if c.Cache.TTL < 0 || c.Cache.MaxBytes < 0 {
		return fmt.Errorf("gateway.cache: ttl and max-bytes can't be negative")
	}
	for name, p := range map[string]check.Policy{"before": c.Checks.Before, "after": c.Checks.After} {
		if err := p.Validate(); err != nil {
			return fmt.Errorf("gateway.checks.%s: %w", name, err)
		}
	}
	return nil
}

func (p *Provider) validate() error {
	u, err := url.Parse(p.URL)
	switch {
	case !validProviderName(p.Name):
		return fmt.Errorf("name: 1 to 32 of a-z, 0-9 and -")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("url: not one that begins with http:// or https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("url: no user, query or fragment belongs there")
	case p.KeyFile != "" && p.KeyVariable != "":
		return fmt.Errorf("key-file and key-variable: give one of them")
	case p.Timeout < 0 || p.Timeout > maxTimeout || p.FirstToken < 0 || p.FirstToken > maxTimeout:
		return fmt.Errorf("timeout and first-token-timeout: at most %s", maxTimeout)
	case p.MaxTokensName != "" && p.MaxTokensName != "max_tokens" && p.MaxTokensName != "max_completion_tokens":
		return fmt.Errorf("max-tokens-name: max_tokens or max_completion_tokens")
	case p.PromptPrice < 0 || p.PromptPrice > maxPrice || p.CompletionPrice < 0 || p.CompletionPrice > maxPrice:
		return fmt.Errorf("prices: 0 to %d", int64(maxPrice))
	}
	for asked, called := range p.Models {
		if asked == "" || !printable(asked) || !printable(called) {
			return fmt.Errorf("models: names are at most %d characters of ASCII, without blanks", maxModel)
		}
	}
	return nil
}

func validProviderName(s string) bool {
	return s != "" && len(s) <= 32 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// printable reports whether a model's name can stand in receipts.
func printable(s string) bool {
	return len(s) <= maxModel && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// serves is what the provider calls a model, "" for one that it doesn't serve.
func (p *Provider) serves(model string) string {
	if len(p.Models) == 0 {
		return model
	}
	called, ok := p.Models[model]
	if !ok {
		called, ok = p.Models[anyModel]
	}
	switch {
	case !ok:
		return ""
	case called == "" || called == anyModel:
		return model
	}
	return called
}

// key is an API key. It writes itself as nothing that helps anybody.
type key string

func (key) String() string               { return "[key]" }
func (key) GoString() string             { return "[key]" }
func (key) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// readKey reads the provider's key, "" where it needs none.
func (p *Provider) readKey(env func(string) string) (key, error) {
	const holds = "an API key: one line of printable ASCII, without blanks"
	text, place := "", "the file "+p.KeyFile
	var err error
	switch {
	case p.KeyFile != "":
		text, err = secretfile.Read(p.KeyFile, holds)
	case p.KeyVariable != "":
		place = "the variable " + p.KeyVariable
		if env != nil {
			text = strings.TrimSpace(env(p.KeyVariable))
		}
	default:
		return "", nil
	}
	if err == nil && (text == "" || len(text) > maxKey || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })) {
		err = secretfile.Wrong(place, holds)
	}
	if err != nil {
		return "", fmt.Errorf("couldn't use the key of model provider %s: %w", p.Name, err)
	}
	return key(text), nil
}
