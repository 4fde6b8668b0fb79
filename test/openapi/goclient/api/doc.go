// Package api is what oapi-codegen generates of a server's OpenAPI document. The test writes
// it beside this file, in a copy of the module; it is not kept.
package api
