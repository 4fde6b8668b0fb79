package script

import (
	"runtime/debug"
	"slices"
)

// Raced reports whether the race detector is built in. It takes many times the memory of what it
// watches, so that bounds of memory mean nothing.
func Raced() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
