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

// configurable reports whether a flag can be set beside the command line. Flags that
// would share a name and mean something else are tagged config:"-", and so are
// decisions for one run alone.
func configurable(f *kong.Flag) bool {
	return f.Name != "help" && f.Name != "config" && f.Tag.Get("config") != "-"
}

// Validate refuses keys of the file that no command has, and values that no
// flag could take.
func (s *settings) Validate(app *kong.Application) error {
	known := flagNames(app.Node)
	for _, key := range slices.Sorted(maps.Keys(s.file)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("the YAML file has an unknown key: %q", key)
		}
		if _, err := asFlag(s.file[key]); err != nil && key == "limit" {
			return errors.New("the YAML file's limit: the section with several limits is named limits")
		} else if err != nil {
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
		if configurable(f) {
			names = append(names, f.Name)
		}
	}
	for _, child := range n.Children {
		names = append(names, flagNames(child)...)
	}
	return names
}

// Resolve gives a flag's value from its variable, else from the file. A server that the
// command line names beats a data directory that it doesn't.
func (s *settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !configurable(flag) || flag.Name == "data" && (onCommandLine(ctx, "url") || onCommandLine(ctx, "profile")) {
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

// onCommandLine reports whether the command line itself has a flag.
func onCommandLine(ctx *kong.Context, flag string) bool {
	return slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag && !p.Resolved })
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

// takeGateway takes the section out that says which models there are.
func takeGateway(file map[string]any) (c gateway.Config, err error) {
	if err := takeSection(file, "gateway", &c); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// takeSection takes a section out of the file that is no flag: there may be several
// of what it holds, each with a form of its own. A missing one changes nothing.
func takeSection(file map[string]any, name string, into any) error {
	section, ok := file[name]
	if !ok {
		return nil
	}
	delete(file, name)
	data, err := yaml.Marshal(section)
	if err == nil {
		decoder := yaml.NewDecoder(bytes.NewReader(data))
		decoder.KnownFields(true)
		err = decoder.Decode(into)
	}
	if err != nil {
		return fmt.Errorf("the YAML file's %s: %w", name, err)
	}
	return nil
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
	var named map[string]any
	if path != "" {
		file, err := readConfig(path)
		if err != nil {
			return err
		}
		p.configFile = path
		named = maps.Clone(file) // sections are taken out below
		if p.gateway, err = takeGateway(file); err != nil {
			return err
		}
		if err = takeSection(file, "limits", &p.limits); err != nil {
			return err
		}
		if p.kinds, err = takeKinds(file); err != nil {
			return err
		}
		if p.oidc, err = takeOIDC(file); err != nil {
			return err
		}
		if p.portal, err = takePortal(file); err != nil {
			return err
		}
		s.file = file
	}
	if err := s.Validate(ctx.Model); err != nil {
		return err
	}
	if err := checkVariables(p.env, named, ctx.Model.Node); err != nil {
		return err
	}
	ctx.AddResolver(s)
	return nil
}
