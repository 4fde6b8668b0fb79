package api

import "ubl"

// roomFileRoutes are the files of messages and the uploads that bring them.
func (a *API) roomFileRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	write(a, operation{method: "POST", path: "/rooms/{roomId}/uploads", id: "begin-room-upload", asks: nothing, counts: ubl.Sends, tool: "messenger.upload", tag: "files", answers: "ubl.api.upload.v1", creates: true, large: true,
		summary: "Begin the upload of a file for a message",
		more: "Who may send to the room. Give bytes, and bring the content as of begin-upload; or a content of at most 4 MiB as text or base64. " +
			"send-message then names the upload_id. It expires a day after its last byte.", also: notIn}, a.beginRoomUpload)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/files", id: "list-room-files", tool: "messenger.files", tag: "files", answers: "ubl.api.room_files.v1",
		summary: "The files of a room's messages", more: "The newest message's first; next_cursor is null on the last page. A page of one kind may be shorter than asked for, or empty, and yet not be the last. The look leaves no receipt, as those at the history.", also: notIn}, a.listRoomFiles)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/files/{fileId}", id: "get-room-file", tool: "messenger.file", tag: "files", answers: "ubl.api.room_file.v1",
		summary: "What is known of a file of a room", more: "With content, a short one comes along.", also: notIn}, a.getRoomFile)
	direct[RoomFilePath](a, operation{method: "GET", path: "/rooms/{roomId}/files/{fileId}/content", id: "read-room-file", uses: "messenger.file", tag: "files",
		slow: true, sendsBytes: true,
		summary: "The content of a file of a room", more: "Its ETag is its SHA-256. Takes Range with one range, If-Range and If-None-Match. " +
			"Images but SVG, audio, video and PDF may be shown; a browser saves all else, and runs nothing.", also: notIn}, ubl.UnknownType, a.readRoomFile)
	direct[thumbnailInput](a, operation{method: "GET", path: "/rooms/{roomId}/files/{fileId}/thumbnail", id: "get-thumbnail", uses: "messenger.file", tag: "files",
		slow: true, sendsBytes: true,
		summary: "A small picture of an image", more: "JPEG, or PNG for what is transparent. Without the metadata of the image. There is one where the file says thumbnail.", also: notIn}, ubl.UnknownType, a.thumbnail)
}
