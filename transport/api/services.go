package api

import (
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

// Office asks models and uses tools for callers. It is safe for concurrent use.
// Callers have been let into their tenant before; errors are [ubl.Error].
type Office interface {
	// Complete asks a model. delta, unless nil, is called with each piece of the
	// answer, in order, before Complete returns the whole.
	Complete(ctx context.Context, req ubl.CompleteRequest, delta func(text string)) (*ubl.Completion, error)
	// CallTool uses a tool, an external one or one of our own. Args is a JSON object.
	CallTool(ctx context.Context, req ubl.Request, tool string, args json.RawMessage) (*ubl.ToolResult, error)
}

// Portal reaches external servers of tools, and keeps their secrets sealed. It
// is safe for concurrent use. Callers have been let into their tenant before;
// owner says that they are one of its owners. Errors are [ubl.Error].
type Portal interface {
	// Add makes a server known; secret is plain, "" for none.
	Add(ctx context.Context, req ubl.Request, owner bool, server ubl.Server, secret string) (*ubl.Server, error)
	// Update changes a server. The secret, unless nil, is plain and replaces the
	// old one, "" forgets it; the patch's own is not looked at.
	Update(ctx context.Context, req ubl.Request, owner bool, serverID string, patch ubl.ServerPatch, secret *string) (*ubl.Server, error)
	// Commands are the names of the programs that a tenant's owners may add.
	Commands(tenant ubl.TenantID) []string
	// Shown is a copy of a server with what this node knows of its state.
	Shown(tenant ubl.TenantID, server *ubl.Server) *ubl.Server
	// Remove forgets a server with its tools, and answers it as it was.
	Remove(ctx context.Context, req ubl.Request, owner bool, serverID string) (*ubl.Server, error)
	// Sync asks a server for its tools now.
	Sync(ctx context.Context, req ubl.Request, owner bool, serverID string) (*ubl.Server, error)
	// Discover lists what an MCP Registry offers.
	Discover(ctx context.Context, who ubl.Identity, owner bool, registryURL string) ([]*ubl.RegistryServer, error)
	// Listing lists external tools by name, whether they can be called or not.
	Listing(ctx context.Context, who ubl.Identity, owner bool) ([]*ubl.ToolListing, error)
	// Tools are external tools, and what stands for prompts and resources, that the caller may use now, by name.
	Tools(ctx context.Context, who ubl.Identity) ([]*ubl.PortalTool, error)
	// Approve pins the held definition that has the hash.
	Approve(ctx context.Context, req ubl.Request, owner bool, tool, hash string) (*ubl.PortalTool, error)
	// FlushLog writes what this node has yet to write into the tenant's log.
	FlushLog(ctx context.Context, tenant ubl.TenantID)
	// Connect answers the URL where the user signs in to a server by themselves.
	Connect(ctx context.Context, who ubl.Identity, serverID string) (url string, err error)
	// Disconnect forgets that sign-in again, and answers the server.
	Disconnect(ctx context.Context, req ubl.Request, serverID string) (*ubl.Server, error)
	// Pending tells what a state that came back from there is about, and Callback
	// ends the sign-in, with the code and the issuer ("" for none) beside it.
	// Anyone may call Pending; only who began ends the sign-in.
	Pending(state string) (*ubl.SigningIn, error)
	Callback(ctx context.Context, by ubl.Identity, state, code, issuer string) (*ubl.SigningIn, error)
}

// enter has the caller's tenant let them in, where it hasn't yet: services
// behind this package don't ask in a request's way.
func enter(ctx context.Context) error {
	_, err := envelope.CallerOf(ctx).Enter(ctx)
	return err
}

// isOwner reports whether the caller is an owner of their tenant.
func isOwner(ctx context.Context) (bool, error) {
	role, err := envelope.CallerOf(ctx).Enter(ctx)
	return role == ubl.RoleOwner, err
}

// owners refuses everyone but owners of the caller's tenant.
func owners(ctx context.Context) error {
	owner, err := isOwner(ctx)
	if err == nil && !owner {
		err = ubl.Errorf(ubl.CodeForbidden, "only an owner of the tenant may do this")
	}
	return err
}
