// Package promtext reads gauges from a page of metrics in Prometheus's text
// format: as much of it as the benchmark needs to see who leads what.
package promtext

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Sample is one value of a metric.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Page holds the samples of each metric.
type Page map[string][]Sample

// timeout bounds one scrape.
const timeout = 5 * time.Second

// Scrape reads http://HOST/metrics; see Parse.
func Scrape(host, prefix string) (Page, error) {
	client := &http.Client{Timeout: timeout}
	defer client.CloseIdleConnections()
	reply, err := client.Get("http://" + host + "/metrics")
	if err != nil {
		return nil, fmt.Errorf("couldn't read the metrics: %w", err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("couldn't read the metrics: %s", reply.Status)
	}
	return Parse(reply.Body, prefix)
}

// Parse reads lines of the form name{label="value",…} number where the name
// begins with prefix. Label values with escapes are refused, since none is
// expected.
func Parse(r io.Reader, prefix string) (Page, error) {
	page := make(Page)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		name, sample, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("not a metric: %w: %.100q", err, line)
		}
		page[name] = append(page[name], sample)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("couldn't read the metrics: %w", err)
	}
	return page, nil
}

func parseLine(line string) (name string, s Sample, err error) {
	end := strings.LastIndexByte(line, '}') + 1
	if end == 0 {
		end = strings.IndexByte(line, ' ')
	}
	if end < 0 {
		return "", s, errors.New("no value")
	}
	name, rest, labelled := strings.Cut(line[:end], "{")
	if labelled {
		if s.Labels, err = parseLabels(strings.TrimSuffix(rest, "}")); err != nil {
			return "", s, err
		}
	}
	value, _, _ := strings.Cut(strings.TrimSpace(line[end:]), " ") // a timestamp may follow
	s.Value, err = strconv.ParseFloat(value, 64)
	return name, s, err
}

func parseLabels(text string) (map[string]string, error) {
	labels := make(map[string]string)
	for text != "" {
		name, rest, ok := strings.Cut(text, `="`)
		if !ok {
			return nil, errors.New("a label has no value")
		}
		value, rest, ok := strings.Cut(rest, `"`)
		if !ok || strings.Contains(value, `\`) {
			return nil, errors.New("a label's value has escapes or no end")
		}
		labels[name] = value
		text = strings.TrimPrefix(rest, ",")
	}
	return labels, nil
}
