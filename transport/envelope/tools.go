package envelope

// Tools that several ways lead to: who may not use the tool can't take any.
const (
	// ToolStream is to be told of messages as they come.
	ToolStream = "messenger.stream_room"
	// ToolHistory is to read those that were there before.
	ToolHistory = "messenger.history"
	// ToolLog is to read the portal's log, as it is or as it grows.
	ToolLog = "portal.log.list"
)
