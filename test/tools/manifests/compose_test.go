package manifests

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// compose loads compose.yaml, and composeFile any of its kind, as "docker compose config" does:
// against the schema, with variables, references and paths resolved.
func compose(t *testing.T, env ...string) *types.Project {
	t.Helper()
	return composeFile(t, "compose.yaml", env...)
}

func composeFile(t *testing.T, file string, env ...string) *types.Project {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{filepath.Join(deployDir, file)}, cli.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return p
}

// TestOneNodeIsForThisMachine: a node alone is reached from this machine until somebody says
// otherwise, and keeps its data in a volume of its own.
func TestOneNodeIsForThisMachine(t *testing.T) {
	s := composeFile(t, "compose-one.yaml").Services["ubl"]
	if len(s.Ports) != 1 || s.Ports[0].HostIP != "127.0.0.1" || s.Ports[0].Target != 8080 {
		t.Errorf("its ports are %v", s.Ports)
	}
	if len(s.Volumes) != 1 || s.Volumes[0].Target != "/data" {
		t.Errorf("its volumes are %v", s.Volumes)
	}
}

// TestComposeIsLocked: what every container gives up.
func TestComposeIsLocked(t *testing.T) {
	services := compose(t).Services
	services["the node alone"] = composeFile(t, "compose-one.yaml").Services["ubl"]
	for name, s := range services {
		switch {
		case !s.ReadOnly:
			t.Errorf("%s may write to its root file system", name)
		case !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.CapAdd) > 0:
			t.Errorf("%s keeps capabilities", name)
		case !slices.Contains(s.SecurityOpt, "no-new-privileges:true"):
			t.Errorf("%s may gain privileges", name)
		case s.MemLimit == 0 || s.CPUS == 0 || s.PidsLimit == 0:
			t.Errorf("%s has no limits", name)
		case s.Restart != types.RestartPolicyUnlessStopped || s.HealthCheck == nil:
			t.Errorf("%s isn't watched", name)
		}
	}
}

// TestComposeNodesShareNothingButTheSecret: each node has its own name and
// volume, and all name one another.
func TestComposeNodesShareNothingButTheSecret(t *testing.T) {
	p := compose(t, "UBL_OPERATOR=ops@example.com")
	for _, name := range []string{"n1", "n2", "n3"} {
		s := p.Services[name]
		if len(s.Volumes) != 1 || s.Volumes[0].Source != name || s.Volumes[0].Target != "/data" {
			t.Errorf("%s has volumes %v", name, s.Volumes)
		}
		want := map[string]string{
			"UBL_NODE_ID": name, "UBL_CLUSTER_ADVERTISE": name + ":7946", "UBL_BOOTSTRAP_EXPECT": "3",
			"UBL_JOIN": "n1:7946,n2:7946,n3:7946", "UBL_OPERATOR": "ops@example.com",
			"UBL_CLUSTER_SECRET_FILE": "/run/secrets/cluster-secret",
		}
		for key, value := range want {
			if got := s.Environment[key]; got == nil || *got != value {
				t.Errorf("%s has %s=%v, want %s", name, key, got, value)
			}
		}
		if len(s.Secrets) != 1 || s.Secrets[0].Source != "cluster-secret" {
			t.Errorf("%s has secrets %v", name, s.Secrets)
		}
	}
}
