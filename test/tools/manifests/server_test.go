package manifests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	registry "github.com/modelcontextprotocol/registry/pkg/api/v0"
	"github.com/modelcontextprotocol/registry/pkg/model"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestServerIsTold: server.json is as the MCP Registry takes it: by the schema that it names, which
// the registry's own source has, and without a member that the registry would drop.
func TestServerIsTold(t *testing.T) {
	told, err := os.ReadFile(filepath.Join(root, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var server registry.ServerJSON
	strict := json.NewDecoder(bytes.NewReader(told))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&server); err != nil {
		t.Fatal(err)
	}
	if server.Schema != model.CurrentSchemaURL {
		t.Errorf("server.json is of the schema %s, the registry's is %s", server.Schema, model.CurrentSchemaURL)
	}
	schema := registrySchema(t, server.Schema)
	if err := schema.Validate(decoded(t, told)); err != nil {
		t.Error(err)
	}
	// A schema that takes everything would prove nothing.
	if err := schema.Validate(decoded(t, bytes.Replace(told, []byte(`"description"`), []byte(`"about"`), 1))); err == nil {
		t.Error("the schema takes a server without a description")
	}
}

// registrySchema reads a schema from the registry's source.
func registrySchema(t *testing.T, url string) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/registry").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, release, _ := strings.Cut(strings.TrimSuffix(url, "/server.schema.json"), "/schemas/")
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal/validators/schemas", release+".json"))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, decoded(t, text)); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile(url)
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
