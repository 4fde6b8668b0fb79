package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ubl"
)

const (
	// discoverTimeout bounds reading a registry, all pages of it.
	discoverTimeout = 30 * time.Second
	// maxRegistryPages and registryPage bound what is read: registries have
	// thousands of servers, and a search finds the right ones.
	maxRegistryPages = 10
	registryPage     = 100
)

// registryList is an answer of GET /v0.1/servers and, where older registries have
// only that, /v0/servers: ServerList of the official registry's OpenAPI.
type registryList struct {
	Servers []struct {
		Server         registryServer `json:"server"`
		registryServer                // of registries before the envelope
	} `json:"servers"`
	Metadata struct {
		NextCursor string `json:"nextCursor"`
		OldCursor  string `json:"next_cursor"`
	} `json:"metadata"`
}

type registryServer struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
	Remotes     []struct {
		Type    string `json:"type"`
		URL     string `json:"url"`
		Headers []struct {
			Name string `json:"name"`
		} `json:"headers"`
	} `json:"remotes"`
}

// Discover lists servers that an MCP Registry offers and that the portal could
// reach: those with a streamable HTTP address. The registry is its base URL, to
// which a query may be added that the registry knows, as ?search=weather: what is
// read is bounded, and holds nothing that can't be seen. Owners.
func (p *Portal) Discover(ctx context.Context, who ubl.Identity, owner bool, registry string) ([]*ubl.RegistryServer, error) {
	if !owner {
		return nil, errOwner
	}
	if err := p.checkURL("url", registry); err != nil {
		return nil, err
	}
	base, err := url.Parse(registry)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "url: not an address of a registry")
	}
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	out, status, err := p.readRegistry(ctx, who.TenantID, base.JoinPath("v0.1/servers"))
	if status == http.StatusNotFound {
		out, _, err = p.readRegistry(ctx, who.TenantID, base.JoinPath("v0/servers"))
	}
	return out, err
}

// readRegistry reads page after page.
func (p *Portal) readRegistry(ctx context.Context, t ubl.TenantID, list *url.URL) (out []*ubl.RegistryServer, status int, err error) {
	seen := map[string]bool{}
	query := list.Query()
	query.Set("limit", strconv.Itoa(registryPage))
	query.Set("version", "latest")
	out = []*ubl.RegistryServer{}
	for range maxRegistryPages {
		list.RawQuery = query.Encode()
		page, status, err := p.registryPage(ctx, t, list.String())
		if err != nil {
			return nil, status, err
		}
		for _, s := range page.Servers {
			found := s.Server
			if found.Name == "" {
				found = s.registryServer
			}
			if o := p.offer(&found); o != nil && !seen[o.Name] {
				seen[o.Name] = true
				out = append(out, o)
			}
		}
		next := cmp.Or(page.Metadata.NextCursor, page.Metadata.OldCursor)
		if next == "" {
			break
		}
		query.Set("cursor", next)
	}
	return out, http.StatusOK, nil
}

func (p *Portal) registryPage(ctx context.Context, t ubl.TenantID, address string) (*registryList, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, ubl.Errorf(ubl.CodeValidation, "registry: not an address").Because(err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := p.plainClient(t).Do(req)
	if err != nil {
		return nil, 0, explain(err, nil)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode, ubl.Errorf(ubl.CodeUnavailable, "the registry answers with HTTP status %d", resp.StatusCode)
	}
	var raw json.RawMessage
	err = json.NewDecoder(resp.Body).Decode(&raw)
	page := new(registryList)
	if err == nil {
		err = json.Unmarshal(ubl.PlainJSON(raw), page)
	}
	if err != nil {
		return nil, resp.StatusCode, ubl.Errorf(ubl.CodeUnavailable, "the registry doesn't answer as an MCP Registry does").Because(err)
	}
	return page, resp.StatusCode, nil
}

// offer is a registry's server that the portal could reach, nil for others: those
// that have to be installed, and those whose address has blanks to fill in.
func (p *Portal) offer(s *registryServer) *ubl.RegistryServer {
	if !validText(s.Name, maxURL) || s.Name == "" {
		return nil
	}
	for _, r := range s.Remotes {
		if r.Type != "streamable-http" || strings.ContainsAny(r.URL, "{}") || p.checkURL("url", r.URL) != nil {
			continue
		}
		o := &ubl.RegistryServer{
			Name: s.Name, Title: clip(s.Title), Description: clip(s.Description), Version: clip(s.Version), URL: r.URL, Headers: []string{},
		}
		for _, h := range r.Headers {
			if ubl.ValidHeader(h.Name) {
				o.Headers = append(o.Headers, h.Name)
			}
		}
		return o
	}
	return nil
}

// clip shortens a text of a registry to what a list has room for.
func clip(s string) string {
	const max = 500
	for i := range s {
		if i > max {
			return s[:i]
		}
	}
	return s
}
