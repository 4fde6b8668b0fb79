package api

import "ubl"

func (a *API) workspaceRoutes() {
	handle(a, operation{method: "GET", path: "/workspaces", id: "list-workspaces", tool: "office.workspace.list", tag: "workspaces", answers: "ubl.api.workspaces.v1",
		summary: "Workspaces that the caller may look into", more: "The look is receipted."}, a.listWorkspaces)
	handle(a, operation{method: "POST", path: "/workspaces", id: "create-workspace", asks: nothing, counts: ubl.Creations, tool: "office.workspace.create", tag: "workspaces", answers: "ubl.api.workspace_created.v1", creates: true,
		summary: "Make a workspace, which the caller owns", more: "Its id comes from the name; a taken one is a 409."}, a.createWorkspace)
	handle(a, operation{method: "GET", path: "/workspaces/{workspaceId}/search", id: "search-documents", tool: "office.document.search", tag: "documents", answers: "ubl.api.document_hits.v1",
		summary: "Find documents by their text", more: "Best first, without contents. The look is receipted. After many changes the answer may have `indexing`: documents changed after its `complete_up_to` may be missing yet, so ask again."}, a.search)
	write(a, operation{method: "POST", path: "/workspaces/{workspaceId}/complete", id: "complete", asks: nothing, counts: ubl.Sends, tool: "office.llm.complete", tag: "workspaces", answers: "ubl.api.completion.v1",
		streams: "ubl.sse.completion_event.v1", large: true, slow: true,
		summary: "Ask a model",
		more: "Who may run things in the workspace. The intent is receipted before the model is asked, prompts and answers as hashes. " +
			"With Accept: text/event-stream the answer comes piece by piece: events delta, then completion, which is the whole answer, or error. " +
			"While nothing comes it sends a comment every 15 seconds. Without it the answer may be silent for five minutes, which proxies must allow. " +
			"Texts are not kept, so a repetition under the same key can't be answered again."}, a.complete)
}

func (a *API) documentRoutes() {
	handle(a, operation{method: "GET", path: "/workspaces/{workspaceId}/documents", id: "list-documents", tool: "office.document.list", tag: "documents", answers: "ubl.api.documents.v1",
		summary: "A workspace's documents", more: "By id, without contents; next_cursor is null on the last page. The look is receipted. " + asOfMore}, a.listDocuments)
	handle(a, operation{method: "POST", path: "/workspaces/{workspaceId}/documents", id: "create-document", asks: nothing, counts: ubl.Sends, tool: "office.document.create", tag: "documents", answers: "ubl.api.document.v1", creates: true, large: true,
		summary: "Write a document", more: "The content is at most 1,000,000 characters."}, a.createDocument)
	handle(a, operation{method: "GET", path: "/workspaces/{workspaceId}/documents/{documentId}", id: "get-document", tool: "office.document.get", tag: "documents", answers: "ubl.api.document.v1",
		summary: "Read a document", more: "The newest version unless another is asked for; document is null where there is none. The look is receipted."}, a.getDocument)
	handle(a, operation{method: "PATCH", path: "/workspaces/{workspaceId}/documents/{documentId}", id: "update-document", asks: nothing, counts: ubl.Sends, tool: "office.document.update", tag: "documents", answers: "ubl.api.document.v1", adds: true, large: true,
		summary: "Write a document's next version", more: "Earlier versions stay readable."}, a.updateDocument)
	handle(a, operation{method: "DELETE", path: "/workspaces/{workspaceId}/documents/{documentId}", id: "delete-document", asks: proof, counts: ubl.Sends, tool: "office.document.delete", tag: "documents", answers: "ubl.api.document.v1",
		summary: "Delete a document", more: "For good, with all its versions and files: nobody reads them any more, and the server forgets titles, texts and salts. The ledger keeps that it was there. Answers what is left of it."}, a.deleteDocument)
	handle(a, operation{method: "POST", path: "/workspaces/{workspaceId}/publish", id: "publish-documents", asks: sometimes, counts: ubl.Sends, tool: "office.document.publish", tag: "documents",
		answers: "ubl.api.documents_published.v1", large: true, destroys: true,
		summary: "Bring documents up to what their source has", more: "A hundred at once at most, as one act: those that have changed get a version each, those to be removed are deleted with their versions and files, more than half of all only with remove_most. " +
			"What is here already is passed over, so publishing the same again changes nothing. A published document is changed in no other way. list-documents tells what each was published as."}, a.publishDocuments)
	handle(a, operation{method: "GET", path: "/workspaces/{workspaceId}/documents/{documentId}/versions", id: "list-versions", tool: "office.document.versions", tag: "documents", answers: "ubl.api.document_versions.v1",
		summary: "A document's versions", more: "Oldest first, without contents; next_cursor is null on the last page. The look is receipted."}, a.listVersions)
}

func (a *API) containerRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "GET", path: "/kinds", id: "list-kinds", tool: "kind.list", tag: "containers", answers: "ubl.api.kinds.v1",
		summary: "The kinds of containers that there are", more: "Those of the server, and the tenant's own."}, a.listKinds)
	handle(a, operation{method: "PUT", path: "/kinds/{kind}", id: "set-kind", asks: nothing, counts: ubl.Creations, tool: "kind.set", tag: "containers", answers: "ubl.api.kind.v1",
		summary: "Write a kind of containers of the tenant's own",
		more: "Owners of the tenant. It says what containers of it begin with: ids, the Agreement's type, physics and terms, what documents may be, and which tools a model may use inside. " +
			"Those that there are stay as they were made. The name of one of the server's is a 409."}, a.setKind)
	handle(a, operation{method: "DELETE", path: "/kinds/{kind}", id: "remove-kind", asks: nothing, counts: ubl.Sends, tool: "kind.remove", tag: "containers", answers: "ubl.api.kind.v1",
		summary: "Forget a kind of containers of the tenant's own", more: "Owners of the tenant. Its containers stay. Answers it as it was."}, a.removeKind)
	handle(a, operation{method: "GET", path: "/containers", id: "list-containers", tool: "container.list", tag: "containers", answers: "ubl.api.containers.v1",
		summary: "Containers that the caller may look into", more: "Workspaces among them."}, a.listContainers)
	handle(a, operation{method: "POST", path: "/containers", id: "create-container", asks: nothing, counts: ubl.Creations, tool: "container.create", tag: "containers", answers: "ubl.api.container_created.v1", creates: true,
		summary: "Make a container, which the caller owns",
		more:    "What may be done with it follows from its physics, which stand in its Agreement. Its id comes from the name; a taken one is a 409."}, a.createContainer)
	handle(a, operation{method: "GET", path: "/containers/{containerId}", id: "get-container", tool: "container.get", tag: "containers", answers: "ubl.api.container.v1",
		summary: "A container's configuration and balance", more: "Rooms and the tenant answer as containers, too. " + asOfMore, also: notIn}, a.getContainer)
	handle(a, operation{method: "GET", path: "/containers/{containerId}/members", id: "list-container-members", tool: "container.member.list", tag: "containers", answers: "ubl.api.members.v1",
		summary: "A container's members", more: "The entries of its Agreement.", also: notIn}, a.listContainerMembers)
	handle(a, operation{method: "POST", path: "/containers/{containerId}/members", id: "invite-to-container", asks: sometimes, counts: ubl.Creations, tool: "container.invite", tag: "containers", answers: "ubl.api.member.v1", creates: true,
		summary: "Add a member of the tenant to a container", more: "Owners of the container. Give either user_id or email.", also: notIn}, a.inviteToContainer)
	handle(a, operation{method: "PATCH", path: "/containers/{containerId}/members/{userId}", id: "set-container-member", asks: proof, counts: ubl.Creations, tool: "container.member.update", tag: "containers", answers: "ubl.api.member.v1",
		summary: "Change a member's role in a container", more: "Owners of the container.", also: notIn}, a.setContainerMember)
	handle(a, operation{method: "DELETE", path: "/containers/{containerId}/members/{userId}", id: "remove-container-member", asks: sometimes, counts: ubl.Sends, tool: "container.remove", tag: "containers", answers: "ubl.api.member.v1",
		summary: "Remove a member from a container", more: "Owners of the container; anyone themselves. Answers the entry as it was.", also: notIn}, a.removeContainerMember)
	handle(a, operation{method: "POST", path: "/containers/{containerId}/leave", id: "leave-container", asks: nothing, counts: ubl.Sends, tool: "container.leave", destroys: true, tag: "containers", answers: "ubl.api.member.v1",
		summary: "Leave a container", more: "Answers the entry as it was.", also: notIn}, a.leaveContainer)
	handle(a, operation{method: "POST", path: "/containers/{containerId}/transfer", id: "transfer", asks: sometimes, counts: ubl.Sends, tool: "container.transfer", destroys: true, tag: "containers", answers: "ubl.api.transfer.v1", large: true,
		summary: "Let credits or a document leave for another container",
		more: "From the caller, a message goes into a room, and a document into a container: that is what messenger.send and office.document.create do, and both tools must be open. From t:ubl_core, a membership goes into the caller's tenant: that is what tenant.invitation.create does. From a container, whether they move, are copied or pass through follows from the physics of the source. What the target refuses is brought back, " +
			"and the answer is the refusal.", also: notIn}, a.transfer)
	handle(a, operation{method: "POST", path: "/containers/{containerId}/credits", id: "issue-credits", asks: proof, counts: ubl.Creations, tool: "credits.issue", tag: "containers", answers: "ubl.api.balance.v1", creates: true,
		summary: "Make credits in a container of values", more: "Owners of the tenant. Nothing else makes credits.", also: notIn}, a.issueCredits)
}
