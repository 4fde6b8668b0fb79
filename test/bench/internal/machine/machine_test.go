package machine

import (
	"os"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	f, err := Look(t.TempDir(), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if f.Cores < 1 || f.MemoryMB < 1 || f.Kernel == "" || f.FsyncP50us <= 0 || f.FsyncP99us < f.FsyncP50us {
		t.Errorf("facts are incomplete: %+v", f)
	}
	if r, err := Memory(os.Getpid()); err != nil || r.Own <= 0 || r.All < r.Own {
		t.Errorf("Memory = %+v, %v", r, err)
	}
}

// A process that works uses CPU time, and no more than all of them together.
func TestCPU(t *testing.T) {
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		now, err := CPU(os.Getpid())
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("CPU time went from %s to %s: %v", before, now, err)
		}
		if now > before {
			break
		}
	}
	own, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := Stolen()
	if err != nil {
		t.Fatal(err)
	}
	if busy, err := Busy(); err != nil || busy < own+stolen {
		t.Errorf("all cores were busy for %s, this process for %s, others of the host for %s: %v", busy, own, stolen, err)
	}
}
