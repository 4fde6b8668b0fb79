package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"

	"ubl/gateway"
)

// maxConfig is the largest YAML file that is read.
const maxConfig = 1 << 20

// settings answer kong's question for flags that the command line leaves open.
type settings struct {
	env  map[string]string
	file map[string]any
}

// variable is the name of a flag's variable.
func variable(flag string) string {
	return "UBL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configurable reports whether a flag can be set beside the command line.
func configurable(flag string) bool { return flag != "help" && flag != "config" }

// Validate refuses keys of the file that no command has, and values that no
// flag could take.
func (s *settings) Validate(app *kong.Application) error {
	known := flagNames(app.Node)
	for _, key := range slices.Sorted(maps.Keys(s.file)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("the YAML file has an unknown key: %q", key)
		}
		if _, err := asFlag(s.file[key]); err != nil {
			return fmt.Errorf("the YAML file's %s: %w", key, err)
		}
	}
	return nil
}

// flagNames lists the flags of a command and those below it that may stand in
// the file.
func flagNames(n *kong.Node) []string {
	var names []string
	for _, f := range n.Flags {
		if configurable(f.Name) {
			names = append(names, f.Name)
		}
	}
	for _, child := range n.Children {
		names = append(names, flagNames(child)...)
	}
	return names
}

// Resolve gives a flag's value from its variable, else from the file.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !configurable(flag.Name) {
		return nil, nil
	}
	if v, ok := s.env[variable(flag.Name)]; ok && v != "" {
		return v, nil
	}
	v, ok := s.file[flag.Name]
	if !ok || v == nil {
		return nil, nil
	}
	return asFlag(v)
}

// asFlag writes a YAML value as it would stand on the command line.
func asFlag(v any) (string, error) {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, element := range v {
			part, err := asFlag(element)
			if err != nil {
				return "", err
			}
			parts[i] = strings.ReplaceAll(part, ",", `\,`)
		}
		return strings.Join(parts, ","), nil
	case map[string]any, map[any]any:
		return "", errors.New("a mapping stands where a value belongs")
	}
	return fmt.Sprint(v), nil
}

// readConfig reads the YAML file.
func readConfig(path string) (map[string]any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the YAML file: %w", err)
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("the YAML file is larger than %d bytes", maxConfig)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the YAML file: %w", err)
	}
	var file map[string]any
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("couldn't read %s: %w", path, err)
	}
	return file, nil
}

// takeGateway takes the section that says which models there are out of the file.
// It is no flag: there may be several providers, each with a form of its own.
func takeGateway(file map[string]any) (gateway.Config, error) {
	var c gateway.Config
	section, ok := file["gateway"]
	if !ok {
		return c, nil
	}
	delete(file, "gateway")
	data, err := yaml.Marshal(section)
	if err != nil {
		return c, fmt.Errorf("the YAML file's gateway: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("the YAML file's gateway: %w", err)
	}
	return c, c.Validate()
}

// BeforeResolve reads the file that --config or UBL_CONFIG names.
func (c *cli) BeforeResolve(ctx *kong.Context, p *program) error {
	s := &settings{env: p.env}
	path := p.env["UBL_CONFIG"]
	for _, f := range ctx.Flags() {
		if f.Name != "config" {
			continue
		}
		if given, _ := ctx.FlagValue(f).(string); given != "" {
			path = given
		}
	}
	if path != "" {
		file, err := readConfig(path)
		if err != nil {
			return err
		}
		if p.gateway, err = takeGateway(file); err != nil {
			return err
		}
		s.file = file
	}
	if err := s.Validate(ctx.Model); err != nil {
		return err
	}
	ctx.AddResolver(s)
	return nil
}
