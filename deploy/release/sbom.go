package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the bill of materials of a Go program as CycloneDX: the modules that Go noted in it, with
// the hashes that go.sum knows them by. It has no serial number and no time, so that it is the
// same whenever it is made.
func writeBill(to, program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("couldn't read what the program is made of: %w", err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "ubl", Type: cdx.ComponentTypeApplication, Name: "ubl", Version: version,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: properties(info),
	}}
	bill.Components, bill.Dependencies = modules(info)
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("couldn't write the bill of materials: %w", err)
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

func properties(info *debug.BuildInfo) *[]cdx.Property {
	list := []cdx.Property{{Name: "go:version", Value: info.GoVersion}}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-trimpath"} {
		list = append(list, cdx.Property{Name: "go:build:" + key, Value: setting(info, key)})
	}
	return &list
}

// modules are the program's, with the standard library as one of them: its holes are found by version, too.
func modules(info *debug.BuildInfo) (*[]cdx.Component, *[]cdx.Dependency) {
	list := []cdx.Component{component("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, component(m.Path, m.Version, m.Sum))
	}
	slices.SortFunc(list, func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	refs := make([]string, len(list))
	for i, c := range list {
		refs[i] = c.BOMRef
	}
	return &list, &[]cdx.Dependency{{Ref: "ubl", Dependencies: &refs}}
}

func component(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}
