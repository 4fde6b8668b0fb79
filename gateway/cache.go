package gateway

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// cache keeps answers in memory, the ones used last longest. Safe for concurrent
// use.
type cache struct {
	ttl time.Duration
	max int64
	now func() time.Time

	mu    sync.Mutex
	bytes int64
	order *list.List // of *cached, the one used last first
	byID  map[cacheID]*list.Element
}

// cacheID is the hash of a tenant and a request, so that no tenant can meet
// another's answer.
type cacheID [sha256.Size]byte

type cached struct {
	id     cacheID
	answer Answer
	ends   time.Time
}

// cachedOverhead is about what an entry takes beside its text.
const cachedOverhead = 512

func (c *cached) size() int64 { return cachedOverhead + int64(len(c.answer.Text)) }

func newCache(c CacheConfig, now func() time.Time) *cache {
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultCacheBytes
	}
	return &cache{ttl: c.TTL, max: c.MaxBytes, now: now, order: list.New(), byID: map[cacheID]*list.Element{}}
}

// cacheKey is a request's id, and whether its answer may be kept and used again.
func cacheKey(r Request) (id cacheID, ok bool) {
	if len(r.Tools) > 0 || !r.Cache && (r.Temperature == nil || *r.Temperature != 0) {
		return id, false
	}
	// Whether an old answer will do is no part of the question.
	r.Cache = false
	data, err := json.Marshal(r)
	return sha256.Sum256(data), err == nil
}

// get is a kept answer, marked as cached and free of charge.
func (c *cache) get(id cacheID) (*Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[id]
	if !ok {
		return nil, false
	}
	kept := e.Value.(*cached)
	if !c.now().Before(kept.ends) {
		c.drop(e)
		return nil, false
	}
	c.order.MoveToFront(e)
	a := kept.answer
	a.Usage.PromptTokens, a.Usage.CompletionTokens, a.Usage.CostMicros = 0, 0, 0
	a.Usage.Cached, a.Usage.Estimated = true, false
	return &a, true
}

// put keeps an answer, unless it is larger than a tenth of the cache.
func (c *cache) put(id cacheID, a *Answer) {
	kept := &cached{id: id, answer: *a, ends: c.now().Add(c.ttl)}
	if kept.size() > c.max/10 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[id]; ok {
		c.drop(e)
	}
	c.byID[id] = c.order.PushFront(kept)
	c.bytes += kept.size()
	for c.bytes > c.max {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	kept := c.order.Remove(e).(*cached)
	delete(c.byID, kept.id)
	c.bytes -= kept.size()
}
