package portal

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"ubl/portal/stdio"
	"ubl/test/leaks"
)

// Closing a Portal leaves nothing running, whatever its servers did. The full-text
// index of the house has workers for as long as the process lives, and the SDK's
// server keeps the sessions of clients that only asked for its protocol.
func TestMain(m *testing.M) {
	stdio.RunIfChild()
	if len(os.Args) > 2 && os.Args[1] == "play" {
		plays[os.Args[2]]()
		return
	}
	leaks.Main(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"),
		goleak.IgnoreTopFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}
