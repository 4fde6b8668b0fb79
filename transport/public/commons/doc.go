// Package commons is the MCP server of a knowledge commons, for anyone: tools, resources and prompts
// over what the commons shows to everybody by REST.
//
// The data: a server for each commons that was asked lately, which is its name and the texts that
// follow from it; at most 200. Nothing else is kept: there are no sessions.
//
// The way of one call: package public finds the commons and counts the request. The SDK reads the
// message. The tool asks the [Reader] for what REST would answer, which comes from the same
// copies, under the same limits, and makes a result of it.
//
// What fails: what a tool can't do is a result with isError, which says why. Where the terms show a
// thing to members alone it names the tier that is needed and the one that the caller has, which here is
// always the open one.
package commons
