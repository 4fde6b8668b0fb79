package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// stage is the last stage of a Dockerfile that begins from nothing: what the image holds, and how
// it is run. The program is what is copied under the name of the image's entry point; whatever else
// is copied is a directory that is empty.
type stage struct {
	config  v1.Config
	program string // its path in the image
	dirs    []dir
}

type dir struct {
	path     string
	uid, gid int
}

// lastStage reads a Dockerfile. An instruction that this program couldn't follow is an error, so
// that the two ways to an image can't part.
func lastStage(file string) (*stage, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	parsed, err := parser.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("couldn't read %s: %w", file, err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return nil, fmt.Errorf("couldn't read %s: %w", file, err)
	}
	last := stages[len(stages)-1]
	if last.BaseName != "scratch" {
		return nil, fmt.Errorf("%s: the last stage is from %s, and only one from scratch can be made here", file, last.BaseName)
	}
	s := &stage{config: v1.Config{Labels: make(map[string]string)}}
	var copies []*instructions.CopyCommand
	for _, command := range last.Commands {
		if c, ok := command.(*instructions.CopyCommand); ok {
			copies = append(copies, c)
		} else if err := s.follow(command); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(s.config.Entrypoint) == 0 {
		return nil, fmt.Errorf("%s: the last stage has no ENTRYPOINT", file)
	}
	s.program = s.config.Entrypoint[0]
	for _, c := range copies {
		if c.DestPath == s.program {
			continue
		}
		d := dir{path: c.DestPath}
		if _, err := fmt.Sscanf(c.Chown, "%d:%d", &d.uid, &d.gid); err != nil {
			return nil, fmt.Errorf("%s: COPY to %s names no owner by number: %w", file, c.DestPath, err)
		}
		s.dirs = append(s.dirs, d)
	}
	return s, nil
}

func (s *stage) follow(command instructions.Command) error {
	switch c := command.(type) {
	case *instructions.EnvCommand:
		for _, e := range c.Env {
			s.config.Env = append(s.config.Env, e.Key+"="+e.Value)
		}
	case *instructions.LabelCommand:
		for _, l := range c.Labels {
			s.config.Labels[l.Key] = l.Value
		}
	case *instructions.UserCommand:
		s.config.User = c.User
	case *instructions.VolumeCommand:
		s.config.Volumes = set(s.config.Volumes, c.Volumes)
	case *instructions.ExposeCommand:
		s.config.ExposedPorts = set(s.config.ExposedPorts, c.Ports)
	case *instructions.StopSignalCommand:
		s.config.StopSignal = c.Signal
	case *instructions.HealthCheckCommand:
		s.config.Healthcheck = &v1.HealthConfig{
			Test: c.Health.Test, Interval: c.Health.Interval, Timeout: c.Health.Timeout, StartPeriod: c.Health.StartPeriod, Retries: c.Health.Retries,
		}
	case *instructions.EntrypointCommand:
		s.config.Entrypoint = c.CmdLine
	case *instructions.CmdCommand:
		s.config.Cmd = c.CmdLine
	default:
		return fmt.Errorf("%s can't be followed here", command.Name())
	}
	return nil
}

func set(into map[string]struct{}, names []string) map[string]struct{} {
	if into == nil {
		into = map[string]struct{}{}
	}
	for _, n := range names {
		into[n] = struct{}{}
	}
	return into
}

// label is what an image says of itself.
type label struct {
	version string
	created time.Time
}

// index is the image for the platforms of all programs.
func (s *stage) index(programs []string, l label) (v1.ImageIndex, error) {
	index := v1.ImageIndex(empty.Index)
	programs = slices.Sorted(slices.Values(programs))
	for _, program := range programs {
		platform, err := platformOf(program)
		if err != nil {
			return nil, err
		}
		image, err := s.image(program, platform, l)
		if err != nil {
			return nil, fmt.Errorf("couldn't make the image of %s: %w", program, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return mutate.IndexMediaType(index, types.OCIImageIndex), nil
}

// platformOf is where a Go program runs.
func platformOf(program string) (*v1.Platform, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("couldn't read where %s runs: %w", program, err)
	}
	p := &v1.Platform{OS: setting(info, "GOOS"), Architecture: setting(info, "GOARCH")}
	if p.OS != "linux" {
		return nil, fmt.Errorf("%s is for %s, and containers are linux", program, p.OS)
	}
	return p, nil
}

func (s *stage) image(program string, on *v1.Platform, l label) (v1.Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	files, err := s.files(content, l.created)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: l.created}, CreatedBy: "deploy/Dockerfile"}})
	if err != nil {
		return nil, err
	}
	config := s.config
	config.Labels = maps.Clone(config.Labels)
	config.Labels["org.opencontainers.image.title"], config.Labels["org.opencontainers.image.version"] = "UBL", l.version
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.Config, file.OS, file.Architecture, file.Created = config, on.OS, on.Architecture, v1.Time{Time: l.created}
	return mutate.ConfigFile(image, file)
}

// files are what the image holds, as a tar.
func (s *stage) files(program []byte, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	head := tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(s.program, "/"), Mode: 0o755, Size: int64(len(program)), ModTime: at}
	if err := w.WriteHeader(&head); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	for _, d := range s.dirs {
		head := tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(d.path, "/") + "/", Mode: 0o700, Uid: d.uid, Gid: d.gid, ModTime: at}
		if err := w.WriteHeader(&head); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

// archive writes an image as an OCI archive, which docker, podman and skopeo load.
func archive(to string, index v1.ImageIndex) error {
	dir, err := os.MkdirTemp("", "ubl-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := layout.Write(dir, index); err != nil {
		return fmt.Errorf("couldn't write the image: %w", err)
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	if err := addAll(w, dir); err != nil {
		_ = f.Close()
		return fmt.Errorf("couldn't write %s: %w", to, err)
	}
	if err := w.Close(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// addAll adds the files of a directory, without owners and times.
func addAll(w *tar.Writer, dir string) error {
	return filepath.WalkDir(dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		within, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Clean(filepath.ToSlash(within)), Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
}

// pushTo gives an image to a registry.
func pushTo(where string, index v1.ImageIndex) error {
	ref, err := name.ParseReference(where)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(ref, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("couldn't push to %s: %w", strconv.Quote(where), err)
	}
	return nil
}
