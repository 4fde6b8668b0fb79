package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"ubl/test/built"
	"ubl/test/need"
)

// maxExposure is the most that systemd may find to say against the unit, on its
// scale of 0 to 10.
const maxExposure = 1.5

// units writes the unit and its drop-in into a directory as the README has them
// installed; only the program is where it is here.
func units(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	unit := filepath.Join(dir, "ubl.service")
	writeFile(t, unit, strings.ReplaceAll(readFile(t, "ubl.service"), "ExecStart=ubl ", "ExecStart="+built.Path(t)+" "), 0o644)
	if err := os.Mkdir(unit+".d", 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(unit+".d", "cluster.conf"), readFile(t, "ubl-cluster.conf"), 0o644)
	return unit
}

// TestUnitIsValid has systemd read the unit with its drop-in: a word that it
// doesn't know, or a program that isn't there, would be told.
func TestUnitIsValid(t *testing.T) {
	analyze := systemdAnalyze(t)
	unit := units(t)
	for _, of := range []string{unit, filepath.Join(unit+".d", "cluster.conf")} {
		if data, _ := os.ReadFile(of); !strings.Contains(string(data), "[Service]") {
			t.Fatalf("%s has no [Service]", of)
		}
	}
	cmd := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no", unit)
	cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+filepath.Dir(unit)+":")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// systemdAnalyze skips the test where the machine has no systemd, as containers have not.
func systemdAnalyze(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	return path
}

// TestUnitIsLocked has systemd judge what the service may do.
func TestUnitIsLocked(t *testing.T) {
	analyze := systemdAnalyze(t)
	out, err := exec.Command(analyze, "security", "--offline=yes", "--no-pager", units(t)).CombinedOutput()
	if err != nil && strings.Contains(string(out), "unrecognized option") {
		t.Skip("this systemd is too old to judge a file")
	}
	if err != nil {
		t.Fatalf("systemd-analyze security: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("systemd-analyze security gives no figure:\n%s", out)
	}
	exposure, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || exposure > maxExposure {
		t.Errorf("the unit's exposure is %s, want at most %.1f:\n%s", found[1], maxExposure, out)
	}
	t.Logf("exposure %.1f", exposure)
}

// TestLoadBalancerWaits: calls that aren't streamed are silent for as long as the
// office lets them take, and then their effect is written.
func TestLoadBalancerWaits(t *testing.T) {
	const silence = 5*time.Minute + 15*time.Second
	found := regexp.MustCompile(`(?m)^ *timeout server (\S+)$`).FindStringSubmatch(readFile(t, "haproxy.cfg"))
	if found == nil {
		t.Fatal("no timeout for servers")
	}
	if waits, err := time.ParseDuration(found[1]); err != nil || waits < silence {
		t.Errorf("the load balancer waits for %s (%v), want %s at least", found[1], err, silence)
	}
}

// TestLoadBalancerConfiguration has haproxy read its configuration as it is.
func TestLoadBalancerConfiguration(t *testing.T) {
	haproxy := need.Tool(t, "haproxy")
	out, err := exec.Command(haproxy, "-c", "-f", filepath.Join(deployDir, "haproxy.cfg")).CombinedOutput()
	if err != nil {
		t.Fatalf("haproxy -c: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		// The names of containers mean nothing here; any other warning counts.
		if strings.Contains(line, "[WARNING]") && !strings.Contains(line, "could not resolve address 'n") {
			t.Error(line)
		}
	}
}
