package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// Cluster is what operators see and do of the nodes behind the API. It is safe
// for concurrent use. Who may call is checked before.
type Cluster interface {
	// Status says how all nodes and partitions stand, as far as the answering
	// node can tell.
	Status(ctx context.Context) (*ubl.ClusterStatus, error)
	// Remove takes a node out for good: its partitions move to others, and it has
	// no vote any more. It returns once that is decided, and receipts the request.
	// Errors are [ubl.Error]: not_found for a node that isn't there, conflict for
	// one that can't be spared: while another is being removed, or where fewer than
	// three would stay. Where keep is above 0 so many must stay, and no more is asked.
	Remove(ctx context.Context, req ubl.Request, nodeID string, keep int) error
	// Failing lists the tenants that have dead letters, sorted, as far as the nodes that
	// lead them answer.
	Failing(ctx context.Context) ([]ubl.TenantID, error)
}

// operator refuses everyone but those who run the platform.
func operator(ctx context.Context) error {
	return envelope.CallerOf(ctx).Operator(ctx, ubl.Errorf(ubl.CodeForbidden,
		"this needs operator rights: use a token of an address that the server was started with (--operator EMAIL), or restart it with yours"))
}

type clusterAnswer struct {
	Cluster *ubl.ClusterStatus `json:"cluster"`
}

func (a *API) clusterStatus(ctx context.Context, _ *struct{}) (any, error) {
	if err := operator(ctx); err != nil {
		return nil, err
	}
	s, err := a.Cluster.Status(ctx)
	return clusterAnswer{s}, err
}

type removeNodeInput struct {
	NodeID string `path:"nodeId" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$" example:"n3" doc:"The node, by its id."`
	Keep   int    `query:"keep" minimum:"1" maximum:"1000" doc:"At least so many nodes must stay; then also fewer than three may, and another may be on its way out." example:"3"`
}

type nodeRemovedAnswer struct {
	NodeID  string `json:"node_id"`
	Removed bool   `json:"removed"`
}

func (a *API) removeNode(ctx context.Context, in *removeNodeInput) (any, error) {
	if err := operator(ctx); err != nil {
		return nil, err
	}
	err := a.Cluster.Remove(ctx, envelope.Command(ctx, ""), in.NodeID, in.Keep)
	return nodeRemovedAnswer{in.NodeID, true}, err
}
