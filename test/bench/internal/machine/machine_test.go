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
