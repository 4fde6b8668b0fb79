package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// container addresses a container of the caller's tenant; another tenant's
// cannot be named.
func container(ctx context.Context, id ubl.ContainerID) ubl.Name {
	return ubl.ContainerName(caller(ctx).TenantID, id)
}

type workspacesAnswer struct {
	Workspaces []ubl.ContainerSummary `json:"workspaces"`
	Receipt    *ubl.Receipt           `json:"receipt"`
	Paged
}

func (a *API) listWorkspaces(ctx context.Context, in *PageQuery) (any, error) {
	l, err := ubl.Ask[*ubl.ContainerList](ctx, a.Asker, home(ctx),
		ubl.ListContainers{Request: envelope.Command(ctx, ""), Kind: ubl.WorkspaceKind().Name, Receipted: true})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(*in, l.Containers, ascending, containerKey)
	return workspacesAnswer{part, l.Receipt, rest}, err
}

// physicsBody is how the things inside a container move.
type physicsBody struct {
	Fungibility  ubl.Fungibility  `json:"fungibility" enum:"strict,versioned,transient" doc:"What a transfer does to the source: things move, are copied, or pass through."`
	Topology     ubl.Topology     `json:"topology" enum:"values,objects,subjects,links" doc:"What is inside: credits, documents, people and rooms, or ways to somewhere else."`
	Permeability ubl.Permeability `json:"permeability" enum:"sealed,gated,collaborative,open,public" doc:"Who gets at what is inside. sealed: its members look, nothing changes. gated: they write, owners carry out. collaborative: they do both. open: every member of the tenant does. public: so do they, and anyone looks."`
	Execution    ubl.Execution    `json:"execution" enum:"disabled,sandboxed,full" doc:"Whether anything may be run inside."`
}

// physics is nil where there is no body.
func (b *physicsBody) physics() *ubl.Physics {
	if b == nil {
		return nil
	}
	return &ubl.Physics{Fungibility: b.Fungibility, Topology: b.Topology, Permeability: b.Permeability, Execution: b.Execution}
}

type createWorkspaceInput struct {
	Body struct {
		Keyed
		Name    string       `json:"name" minLength:"1" maxLength:"128" doc:"What to call it; its id is made from that." example:"Tax audit"`
		Physics *physicsBody `json:"physics,omitempty" doc:"Other physics than versioned objects that the members of the workspace work on; open ones let in the whole tenant."`
	}
}

type workspaceCreatedAnswer struct {
	WorkspaceID ubl.ContainerID      `json:"workspace_id"`
	Workspace   ubl.ContainerSummary `json:"workspace"`
	Receipt     ubl.Receipt          `json:"receipt"`
}

func (a *API) createWorkspace(ctx context.Context, in *createWorkspaceInput) (any, error) {
	made, err := a.makeContainer(ctx, ubl.CreateContainer{Request: envelope.Command(ctx, in.Body.Key),
		Kind: ubl.WorkspaceKind().Name, Name: in.Body.Name, Physics: in.Body.Physics.physics()})
	if err != nil {
		return nil, err
	}
	return workspaceCreatedAnswer{made.Container.ContainerID, made.Container, made.Receipt}, nil
}

// makeContainer checks what can be told without asking, and asks for a container.
func (a *API) makeContainer(ctx context.Context, cmd ubl.CreateContainer) (*ubl.ContainerMade, error) {
	if err := ubl.CheckName(cmd.Name); err != nil {
		return nil, err
	}
	if cmd.Physics != nil {
		if err := cmd.Physics.Check(); err != nil {
			return nil, err
		}
	}
	return ubl.Ask[*ubl.ContainerMade](ctx, a.Asker, home(ctx), cmd)
}
