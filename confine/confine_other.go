//go:build !linux

package confine

import "os"

// ThisProgram is "" where the system doesn't say.
func ThisProgram() string {
	path, _ := os.Executable()
	return path
}
