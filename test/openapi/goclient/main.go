// Command goclient talks to a server by the client that oapi-codegen has generated of the server's
// own OpenAPI document: it lists rooms page by page, sends a message and reads it, writes a
// document and its next version, and meets errors. It ends with "ok".
//
//	goclient http://127.0.0.1:8080 TOKEN
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"ubl/test/openapi/goclient/api"
)

func main() {
	log.SetFlags(log.Lshortfile)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := api.NewClientWithResponses(os.Args[1], api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}))
	check(err)
	rooms(ctx, c)
	messages(ctx, c)
	documents(ctx, c)
	errors(ctx, c)
	fmt.Println("ok")
}

// rooms makes two and lists all, one a page.
func rooms(ctx context.Context, c *api.ClientWithResponses) {
	for _, name := range []string{"Harbour", "Quay"} {
		made, err := c.CreateRoomWithResponse(ctx, nil, api.CreateRoomJSONRequestBody{Name: name})
		check(err)
		expect(made.StatusCode(), http.StatusCreated)
		expect(*made.Headers201.Location, "/api/rooms/"+made.JSON201.RoomId)
	}
	var names []string
	for params := (&api.ListRoomsParams{Limit: new(int64(1))}); ; {
		page, err := c.ListRoomsWithResponse(ctx, params)
		check(err)
		expect(page.StatusCode(), http.StatusOK)
		for _, r := range page.JSON200.Rooms {
			names = append(names, r.Name)
		}
		if params.Cursor = page.JSON200.NextCursor; params.Cursor == nil {
			break
		}
	}
	expect(fmt.Sprint(names), "[general Harbour Quay]")
}

// messages sends one, and reads it.
func messages(ctx context.Context, c *api.ClientWithResponses) {
	sent, err := c.SendMessageWithResponse(ctx, "r:harbour", nil, api.SendMessageJSONRequestBody{
		Type: "text", Body: api.TextBody{Text: "hello from Go"}, ClientRequestId: new("go-1"),
	})
	check(err)
	expect(sent.StatusCode(), http.StatusCreated)
	history, err := c.ReadHistoryWithResponse(ctx, "harbour", &api.ReadHistoryParams{Limit: new(int64(1))})
	check(err)
	expect(len(history.JSON200.Messages), 1)
	newest := history.JSON200.Messages[0]
	expect(newest.Body.Text, "hello from Go")
	expect(newest.MsgId, sent.JSON201.Message.MsgId)
	expect(newest.SentAt.IsZero(), false)
}

// documents writes one, reads it, and writes its next version where nobody else has.
func documents(ctx context.Context, c *api.ClientWithResponses) {
	const shelf = "w:general"
	made, err := c.CreateDocumentWithResponse(ctx, shelf, nil, api.CreateDocumentJSONRequestBody{Title: "Plan", Content: "one"})
	check(err)
	expect(made.StatusCode(), http.StatusCreated)
	id, first := made.JSON201.Document.DocumentId, made.Headers201.ETag
	read, err := c.GetDocumentWithResponse(ctx, shelf, id, &api.GetDocumentParams{})
	check(err)
	expect(*read.JSON200.Document.Content, "one")
	expect(*read.Headers200.ETag, *first)
	again, err := c.GetDocumentWithResponse(ctx, shelf, id, &api.GetDocumentParams{IfNoneMatch: first})
	check(err)
	expect(again.StatusCode(), http.StatusNotModified)
	next := api.UpdateDocumentJSONRequestBody{Content: new("two")}
	updated, err := c.UpdateDocumentWithResponse(ctx, shelf, id, &api.UpdateDocumentParams{IfMatch: first}, next)
	check(err)
	expect(updated.JSON200.Document.Version, 2)
	late, err := c.UpdateDocumentWithResponse(ctx, shelf, id, &api.UpdateDocumentParams{IfMatch: first}, next)
	check(err)
	expect(late.JSON412.Error.Code, "precondition_failed")
}

// errors are of one shape, whatever is wrong.
func errors(ctx context.Context, c *api.ClientWithResponses) {
	none, err := c.GetRoomWithResponse(ctx, "r:nowhere", nil)
	check(err)
	expect(none.JSON404.Error.Code, "not_found")
	bad, err := c.CreateRoomWithResponse(ctx, nil, api.CreateRoomJSONRequestBody{})
	check(err)
	expect((*bad.JSON400.Error.Details)["body.name"] != "", true)
}

func check(err error) {
	if err != nil {
		_ = log.Output(2, err.Error())
		os.Exit(1)
	}
}

// expect ends the command where two values aren't the same, as texts.
func expect(got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		_ = log.Output(2, fmt.Sprintf("got %v, want %v", got, want))
		os.Exit(1)
	}
}
