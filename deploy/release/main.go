// Command release makes what goreleaser can't without other programs: a bill of materials of each
// build, and the container image without Docker. `make release` calls it.
//
//	release sbom --version V --out FILE.cdx.json PROGRAM
//	release image --version V --created SECONDS --out FILE.tar [--push NAME] PROGRAM…
//
// Everything that it writes follows from what it reads: the same programs give the same bytes,
// on any machine, at any time.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const usage = "usage: release sbom --version V --out FILE PROGRAM, or release image --version V --created SECONDS --out FILE [--push NAME] PROGRAM…"

func run(args []string, progress io.Writer) error {
	if len(args) < 2 || args[0] != "sbom" && args[0] != "image" {
		return errors.New(usage)
	}
	var (
		flags      = flag.NewFlagSet(args[0], flag.ContinueOnError)
		version    = flags.String("version", "", "the version that is released")
		to         = flags.String("out", "", "file to write: a bill of materials, or an OCI archive of all platforms")
		created    = flags.Int64("created", 0, "when the image was made, in seconds since 1970: the commit's time")
		dockerfile = flags.String("dockerfile", "deploy/Dockerfile", "what the image is like, by its last stage")
		push       = flags.String("push", "", "name in a registry that is given the image as well; credentials are those of `docker login`")
	)
	flags.SetOutput(progress)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch {
	case *to == "" || *version == "" || flags.NArg() == 0:
		return errors.New(usage)
	case args[0] == "image":
		l := label{*version, time.Unix(*created, 0).UTC()}
		return makeImage(*dockerfile, flags.Args(), l, *to, *push, progress)
	case flags.NArg() > 1:
		return errors.New(usage)
	}
	return writeBill(*to, flags.Arg(0), *version)
}

// makeImage writes the image of all programs to a file, and to a registry where push names one.
func makeImage(dockerfile string, programs []string, l label, to, push string, progress io.Writer) error {
	stage, err := lastStage(dockerfile)
	if err != nil {
		return err
	}
	index, err := stage.index(programs, l)
	if err != nil {
		return err
	}
	if err := archive(to, index); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%s %s\n", to, digest)
	if push == "" {
		return nil
	}
	return pushTo(push, index)
}
