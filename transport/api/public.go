package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"ubl"
)

// public is where package public serves what needs no identity.
const public = "/public/"

// describePublic documents it. It is no operation of the API, and no tool: there is nobody
// whose tool it could be, and members have the same by their own.
func (a *API) describePublic() {
	const at = public + "{tenantId}/{containerId}"
	cursor := &huma.Param{Name: "cursor", In: "query", Description: "The next_cursor of the page before.", Schema: pattern(`^d:[A-Za-z0-9._-]{1,128}$`)}
	version := &huma.Param{Name: "version", In: "query", Description: "A version other than the newest.", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)}}
	a.describeLook(at, "look-public", "A public container", "ubl.public.container.v1")
	a.describeLook(at+"/documents", "list-public-documents", "Its documents, 100 a page", "ubl.public.documents.v1", cursor)
	a.describeLook(at+"/documents/{documentId}", "read-public-document", "A document of it", "ubl.public.document.v1",
		pathParam("documentId", `^d:[A-Za-z0-9._-]{1,128}$`), version)
}

func (a *API) describeLook(path, id, summary, answers string, params ...*huma.Param) {
	d := huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: id, Summary: summary, Tags: []string{"public"},
		Description: "Open to everyone, from any web page, without an identity: credentials and cookies mean nothing here. It leaves no receipt. " +
			"What isn't shown to anyone is 404, as if it never was. Answers may be kept as Cache-Control says; ETag and If-None-Match tell whether one is still right. " +
			"HEAD answers the same without the body. Where the operator has set a host name for it (--public-host), the same is there without /public.",
		Security:   []map[string][]string{},
		Parameters: append([]*huma.Param{pathParam("tenantId", `^t:[A-Za-z0-9._-]{1,128}$`), pathParam("containerId", `^[wk]:[A-Za-z0-9._-]{1,128}$`)}, params...),
		Responses: map[string]*huma.Response{
			strconv.Itoa(http.StatusOK): {Description: http.StatusText(http.StatusOK),
				Headers: map[string]*huma.Param{"ETag": {Schema: &huma.Schema{Type: huma.TypeString}}, "Cache-Control": {Schema: &huma.Schema{Type: huma.TypeString}}},
				Content: map[string]*huma.MediaType{jsonType[0]: {Schema: refTo(answers)}}},
			strconv.Itoa(http.StatusNotModified): {Description: http.StatusText(http.StatusNotModified)},
		},
	}
	for _, code := range []ubl.Code{ubl.CodeValidation, ubl.CodeNotFound, ubl.CodeMethodNotAllowed, ubl.CodeRateLimited, ubl.CodeInternal, ubl.CodeOverloaded, ubl.CodeUnavailable} {
		addError(d.Responses, code)
		d.Responses[strconv.Itoa(code.Status())].Content[jsonType[0]].Schema = refTo("ubl.public.error.v1")
	}
	a.huma.OpenAPI().AddOperation(&d)
}

func pathParam(name, form string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Schema: pattern(form)}
}

func pattern(form string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Pattern: form} }
