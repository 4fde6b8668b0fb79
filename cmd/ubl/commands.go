package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"ubl"
	"ubl/portal/stdio"
	"ubl/secretfile"
)

// commandSection is a program that owners may add as a server of tools, as the YAML file has it.
type commandSection struct {
	Command     []string            `yaml:"command"`
	Environment map[string]assigned `yaml:"environment"`
	Secret      string              `yaml:"secret"`
	Tenants     []string            `yaml:"tenants"`
	User        string              `yaml:"user"`
	Isolation   string              `yaml:"isolation"`
	Network     bool                `yaml:"network"`
	Memory      string              `yaml:"memory"`
	CPU         time.Duration       `yaml:"cpu"`
	Processes   int                 `yaml:"processes"`
	Timeout     time.Duration       `yaml:"timeout"`
}

// assigned is a variable of a program: a value, or the file that has it.
type assigned struct{ Value, File string }

// UnmarshalYAML takes a value, or a mapping with file alone.
func (s *assigned) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		s.Value = n.Value
		return nil
	}
	var from map[string]string
	if err := n.Decode(&from); err != nil || len(from) != 1 || from["file"] == "" {
		return errors.New("a value, or {file: …}")
	}
	s.File = from["file"]
	return nil
}

// checkNames checks the names of programs. What they run is looked at by a server alone: other
// commands may not read the files that it needs.
func checkNames(sections map[string]commandSection) error {
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if !ubl.ValidCommand(name) {
			return fmt.Errorf("the YAML file's portal.commands: %q is no name: 1 to 32 of a-z, 0-9 and -", name)
		}
	}
	return nil
}

// allowedCommands are the programs of a YAML file, with what its files hold, and those files.
func allowedCommands(sections map[string]commandSection) (all map[string]stdio.Command, files []string, err error) {
	all = make(map[string]stdio.Command, len(sections))
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		section := sections[name]
		c, from, err := section.command()
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the YAML file's portal.commands.%s.%w", name, err)
		}
		all[name] = c
		files = append(files, from...)
	}
	return all, files, nil
}

func (s *commandSection) command() (c stdio.Command, files []string, err error) {
	c = stdio.Command{Argv: s.Command, Environment: map[string]string{}, Secret: s.Secret, User: s.User, Isolation: stdio.Isolation(s.Isolation),
		Network: s.Network, CPU: s.CPU, Processes: s.Processes, Timeout: s.Timeout}
	for _, t := range s.Tenants {
		c.Tenants = append(c.Tenants, ubl.TenantID(t))
	}
	if c.Memory, err = bytesOf(s.Memory); err != nil {
		return c, nil, fmt.Errorf("memory: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		from := s.Environment[name]
		if from.File == "" {
			c.Environment[name] = from.Value
			continue
		}
		value, err := secretfile.Read(from.File, "the value of "+name)
		if err != nil {
			return c, nil, fmt.Errorf("environment: %w", err)
		}
		c.Environment[name], c.Secrets, files = value, append(c.Secrets, name), append(files, from.File)
	}
	return c, files, nil
}

// bytesOf reads a size, as 512MiB or 2GiB; "" is 0.
func bytesOf(size string) (uint64, error) {
	if size == "" {
		return 0, nil
	}
	for unit, factor := range map[string]uint64{"MiB": 1 << 20, "GiB": 1 << 30} {
		if number, ok := strings.CutSuffix(size, unit); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 20)
			if err == nil {
				return n * factor, nil
			}
		}
	}
	return 0, errors.New("a size, as 512MiB or 2GiB")
}

// commands runs the programs that the operator allows. The node's own files are hidden from them:
// those that its flags and its YAML file name.
func (c *serveCmd) commands(p *program, n *node, log *slog.Logger) (*stdio.Runner, error) {
	all, files, err := allowedCommands(p.portal.Commands)
	if err != nil {
		return nil, err
	}
	files = append(append(files, p.configFile), pathsIn(reflect.ValueOf(c).Elem())...)
	for _, provider := range p.oidc {
		files = append(files, provider.SecretFile)
	}
	for _, provider := range p.gateway.Providers {
		files = append(files, provider.KeyFile)
	}
	var hidden []string
	for _, path := range files {
		if path == "" {
			continue
		}
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("couldn't hide %s from programs: %w", path, err)
		}
		hidden = append(hidden, whole)
	}
	return stdio.New(stdio.Options{Commands: all, Hidden: hidden, Log: log, Panics: n.panics}), nil
}

// pathsIn are the paths that a command's flags name.
func pathsIn(flags reflect.Value) (paths []string) {
	for field, value := range flags.Fields() {
		switch {
		case field.Anonymous && value.Kind() == reflect.Struct:
			paths = append(paths, pathsIn(value)...)
		case field.Tag.Get("type") == "path" && value.Kind() == reflect.String:
			paths = append(paths, value.String())
		}
	}
	return paths
}
