package api

import "ubl"

// fileRoutes are files and the uploads that bring their contents.
func (a *API) fileRoutes() {
	write(a, operation{method: "POST", path: "/workspaces/{workspaceId}/uploads", id: "begin-upload", asks: nothing, counts: ubl.Sends, tool: "office.upload.begin", tag: "files", answers: "ubl.api.upload.v1", creates: true,
		summary: "Begin an upload",
		more: "Who may write. Its Location takes the content in parts: PATCH with Content-Type application/partial-upload and Upload-Offset, as in the IETF draft on resumable uploads. " +
			"HEAD tells the offset after a broken connection. When all is there, put-file makes a file of it. It expires a day after its last byte. Short contents go without one."}, a.beginUpload)
	write(a, operation{method: "GET", path: "/uploads/{uploadId}", id: "get-upload", tool: "office.upload.get", tag: "files", answers: "ubl.api.upload.v1",
		summary: "How far an upload is", more: "The caller's own; headers say the same. A request that still brings bytes for it ends."}, a.getUpload)
	direct[appendInput](a, operation{method: "PATCH", path: "/uploads/{uploadId}", id: "append-upload", asks: nothing, counts: ubl.Sends, uses: string(ubl.DidFilePut), tag: "files",
		slow: true, takesBytes: true, empty: true, adds: true,
		summary: "Bring bytes of an upload", more: "Upload-Offset is where they belong; where the upload is somewhere else the answer is a conflict with the offset as it is. Of any length, and may break off anywhere."}, partialType, a.appendUpload)
	write(a, operation{method: "DELETE", path: "/uploads/{uploadId}", id: "end-upload", asks: nothing, counts: ubl.Sends, tool: "office.upload.end", tag: "files", answers: "ubl.api.upload.v1",
		summary: "End an upload", more: "What has come in is removed. Answers it as it was."}, a.endUpload)

	handle(a, operation{method: "GET", path: "/workspaces/{workspaceId}/files", id: "list-files", tool: string(ubl.DidFileList), tag: "files", answers: "ubl.api.files.v1",
		summary: "A workspace's files", more: "By id; next_cursor is null on the last page. The look is receipted."}, a.listFiles)
	handle(a, operation{method: "POST", path: "/workspaces/{workspaceId}/files", id: "put-file", asks: nothing, counts: ubl.Sends, tool: string(ubl.DidFilePut), tag: "files", answers: "ubl.api.file.v1", creates: true, large: true, slow: true,
		summary: "Put a file into a workspace",
		more: "Who may write. Give upload_id; or name and text or base64, for at most 4 MiB. Its receipt has a commitment to the content: " +
			"\"b:\" and the SHA-256 of the salt, which the file tells, followed by the 32 bytes of sha256."}, a.putFile)
	handle(a, operation{method: "GET", path: "/workspaces/{workspaceId}/files/{fileId}", id: "get-file", tool: string(ubl.DidFileGet), tag: "files", answers: "ubl.api.file.v1",
		summary: "What is known of a file", more: "Without its content. The look is receipted."}, a.getFile)
	direct[FilePath](a, operation{method: "GET", path: "/workspaces/{workspaceId}/files/{fileId}/content", id: "read-file", uses: string(ubl.DidFileGet), tag: "files",
		slow: true, sendsBytes: true,
		summary: "A file's content", more: "Its ETag is its SHA-256. Takes Range with one range, If-Range and If-None-Match. Each request is receipted. " +
			"A browser saves it, and types that it could run come as application/octet-stream."}, ubl.UnknownType, a.readFile)
	handle(a, operation{method: "DELETE", path: "/workspaces/{workspaceId}/files/{fileId}", id: "remove-file", asks: proof, counts: ubl.Sends, tool: string(ubl.DidFileRemove), tag: "files", answers: "ubl.api.file.v1",
		summary: "Remove a file for good", more: "Who may write. Its name and salt are forgotten, and its content goes once no file of the tenant has it. Answers what is left of it."}, a.removeFile)
}
