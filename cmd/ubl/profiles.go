package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ubl"
	"ubl/durable"
)

// profilesFormat is the form of the file that keeps profiles.
const profilesFormat = "ubl.profiles.v1"

// profiles are the servers that somebody has signed in to from this machine. They are kept
// in ubl/profiles.json of the user's folder for settings, which nobody else may read. It is
// replaced as a whole: a crash leaves the one before.
type profiles struct {
	Format string `json:"format"`
	// Default is used where nothing else says which server; "" for none.
	Default string              `json:"default,omitempty"`
	List    map[string]*profile `json:"profiles"`
}

// profile is one server, and who somebody is there.
type profile struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	// JTI names the token where it is listed and revoked; "" where it isn't known.
	JTI       string       `json:"jti,omitempty"`
	Email     string       `json:"email,omitempty"`
	UserID    ubl.UserID   `json:"user_id"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	ExpiresAt *ubl.Time    `json:"expires_at,omitempty"`
}

// configDir is the user's folder for settings, as [os.UserConfigDir] has it, by the
// program's own variables.
func (p *program) configDir() (string, error) {
	var dir string
	switch home := p.env["HOME"]; {
	case runtime.GOOS == "windows":
		dir = p.env["AppData"]
	case runtime.GOOS == "darwin" && home != "":
		dir = filepath.Join(home, "Library", "Application Support")
	case p.env["XDG_CONFIG_HOME"] != "":
		dir = p.env["XDG_CONFIG_HOME"]
	case home != "":
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return "", errNoHome
	}
	return filepath.Join(dir, "ubl"), nil
}

// profiles reads them. Where there is no file, or no place for one, there are none.
func (p *program) profiles() (*profiles, error) {
	none := &profiles{Format: profilesFormat, List: map[string]*profile{}}
	dir, err := p.configDir()
	if err != nil {
		return none, nil
	}
	path := filepath.Join(dir, "profiles.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't read the profiles: %w", err)
	}
	if mode, open := readable(path); open {
		return nil, thenDo(fmt.Errorf("couldn't use the profiles: others than you may read them (mode %s)", mode), "chmod 600 %s, and sign in again if somebody may have read it", quoted(path))
	}
	var read profiles
	if err := json.Unmarshal(data, &read); err != nil || read.Format == "" {
		return nil, thenDo(errors.New("couldn't use the profiles: the file holds something else"), "move %s away and sign in again", quoted(path))
	}
	if read.Format != profilesFormat {
		return nil, fmt.Errorf("the profiles are of the form %s, which this version doesn't know: a newer ubl has written %s", clean(read.Format), path)
	}
	if read.List == nil {
		read.List = map[string]*profile{}
	}
	return &read, nil
}

// keepProfiles writes them.
func (p *program) keepProfiles(s *profiles) error {
	dir, err := p.configDir()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = durable.Replace(filepath.Join(dir, "profiles.json"), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("couldn't keep the profile: %w", err)
	}
	return nil
}

// names lists them, sorted.
func (s *profiles) names() []string { return slices.Sorted(maps.Keys(s.List)) }

// of is the profile of a server, the default one first; "" where there is none.
func (s *profiles) of(url string) string {
	for _, name := range append([]string{s.Default}, s.names()...) {
		if known := s.List[name]; known != nil && sameServer(known.URL, url) {
			return name
		}
	}
	return ""
}

// profileName is what a server's profile is called where nobody says: its host, without
// the usual port.
func profileName(url string) string {
	_, rest, _ := strings.Cut(spelled(url), "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(host, ":443")
}
