// Package powerloss tests the store against a disk that forgets what was not
// synced. It has tests only.
//
// bbolt writes through an *os.File, so its syncs cannot be seen from outside.
// The test therefore copies bbolt's module to a temporary directory, puts a
// hook into its fdatasync, and runs the rig (rig_test.go and scenarios_test.go,
// build tag "powerloss") with the go tool against that copy. The product is the
// real one; its go.mod is not touched.
//
// At each sync the rig knows what the disk holds for certain and what was
// written since. From the two it builds images of what a power loss at that
// moment may leave: any of the new 4 KiB pages, some of them torn at a sector's
// border. Each image is opened by the real engine, and must hold every batch
// that was acknowledged by then and no part of one that never was submitted.
// messages_test.go does the same with the real actors and 32 writers: every
// acknowledged message with its receipt, no double, no gap, a ledger that
// verifies. follower_test.go does so with a follower of the ledger: its cursor
// is never ahead of its effect.
package powerloss
