package api

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"ubl"
	"ubl/preview"
	"ubl/transport/envelope"
)

// Previews of the links in a message, for those who may read it. They are asked for when a message
// is shown, and leave no receipt: nothing is written, here or where the links lead.

// Previews is package preview.
type Previews interface {
	// Of are the previews of the links in a message of that text, in their order, without those that
	// have none.
	Of(ctx context.Context, tenant ubl.TenantID, text string) []*preview.Preview
}

// linkPreview is a preview as it is answered.
type linkPreview struct {
	URL         string        `json:"url"`
	Host        string        `json:"host"`
	Title       string        `json:"title"`
	Description string        `json:"description,omitempty"`
	SiteName    string        `json:"site_name,omitempty"`
	Image       *previewImage `json:"image,omitempty"`
}

type previewImage struct {
	URL    string `json:"url"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type linkPreviewsAnswer struct {
	Previews []linkPreview `json:"previews"`
}

// previewRoutes are the operations on previews.
func (a *API) previewRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/entries/{entryId}/previews", id: "list-previews", uses: "messenger.entry", tag: "messages", answers: "ubl.api.link_previews.v1",
		slow:    true,
		summary: "What the pages are about that a message links to",
		more: "Of its first three links, but those in code and in <angle brackets>. The server fetches the pages, from public addresses alone, when somebody asks who may read the message, " +
			"and keeps what it found for some hours; a page that says nothing within seconds has no preview. None where the operator has turned them off.", also: notIn}, a.listPreviews)
	direct[previewImageInput](a, operation{method: "GET", path: "/rooms/{roomId}/entries/{entryId}/previews/{number}/image", id: "get-preview-image", uses: "messenger.entry", tag: "messages",
		slow: true, sendsBytes: true,
		summary: "The small picture of a preview", more: "JPEG, or PNG for what is transparent, made by the server.", also: notIn}, ubl.UnknownType, a.previewImage)
}

// previews are those of a message, if the caller may read it and the tenant wants any.
func (a *API) previews(ctx context.Context, in *EntryPath) ([]*preview.Preview, error) {
	_, e, err := a.entry(ctx, in, true)
	if err != nil || a.Previews == nil {
		return nil, err
	}
	body := e.Body
	if e.Edited != nil {
		body = e.Edited.Body
	}
	if body == nil || e.Type != ubl.EntryMessage { // redacted, or nothing that anybody says
		return nil, nil
	}
	text, ok := body.Text()
	if !ok {
		return nil, nil
	}
	return a.Previews.Of(ctx, caller(ctx).TenantID, text), nil
}

func (a *API) listPreviews(ctx context.Context, in *EntryPath) (any, error) {
	found, err := a.previews(ctx, in)
	if err != nil {
		return nil, err
	}
	out := linkPreviewsAnswer{Previews: make([]linkPreview, len(found))}
	for i, p := range found {
		out.Previews[i] = linkPreview{URL: p.URL, Host: p.Host, Title: p.Title, Description: p.Description, SiteName: p.SiteName}
		if p.Image != nil {
			out.Previews[i].Image = &previewImage{Width: p.Image.Width, Height: p.Image.Height,
				URL: "/api/rooms/" + string(in.RoomID) + "/entries/" + string(in.EntryID) + "/previews/" + strconv.Itoa(i) + "/image"}
		}
	}
	return out, nil
}

type previewImageInput struct {
	EntryPath
	Number int `path:"number" minimum:"0" maximum:"2" doc:"Which of the message's previews, from 0 on." example:"0"`
}

// previewImage sends the picture of a preview. It may be kept by the caller's browser, which asks
// again each time whether it may be shown.
func (a *API) previewImage(w http.ResponseWriter, r *http.Request) {
	image, err := a.namedPreviewImage(r)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	h := w.Header()
	envelope.TellShown(h, ubl.BlobID(image.Hash), image.Type, "preview")
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image.Data))
}

func (a *API) namedPreviewImage(r *http.Request) (*preview.Image, error) {
	room, err := roomOf(r)
	if err != nil {
		return nil, err
	}
	in := EntryPath{RoomPath{room}, ubl.MessageID(pathValue(r, "entryId"))}
	number, err := strconv.Atoi(pathValue(r, "number"))
	if err != nil || number < 0 || number >= preview.MaxLinks {
		return nil, invalid("path.number", "expected 0, 1 or 2")
	}
	found, err := a.previews(r.Context(), &in)
	if err == nil && (number >= len(found) || found[number].Image == nil) {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such picture")
	}
	if err != nil {
		return nil, err
	}
	return found[number].Image, nil
}
