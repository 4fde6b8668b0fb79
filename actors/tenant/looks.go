package tenant

import (
	"fmt"
	"sync"

	"ubl"
)

// looks tells which members are called what looks the same. It follows from the
// members; lists read it on other goroutines.
type looks struct {
	mu    sync.RWMutex
	of    map[ubl.UserID]string // the skeleton of what each is called
	count map[string]int
}

func newLooks() *looks {
	return &looks{of: make(map[ubl.UserID]string), count: make(map[string]int)}
}

func (l *looks) set(m ubl.Member) {
	look := ubl.Skeleton(m.Called())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(m.UserID)
	l.of[m.UserID] = look
	l.count[look]++
}

func (l *looks) remove(id ubl.UserID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(id)
}

// drop needs mu.
func (l *looks) drop(id ubl.UserID) {
	look, ok := l.of[id]
	if !ok {
		return
	}
	delete(l.of, id)
	if l.count[look]--; l.count[look] == 0 {
		delete(l.count, look)
	}
}

// mark says of each entry whether another member looks like them.
func (l *looks) mark(list []ubl.Member) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i := range list {
		list[i].Alike = l.count[l.of[list[i].UserID]] > 1
	}
}

// markFormer says of each who has left whether a member or another of the list looks
// like them.
func (l *looks) markFormer(list []ubl.FormerMember) {
	count := make(map[string]int, len(list))
	skeletons := make([]string, len(list))
	for i, m := range list {
		skeletons[i] = ubl.Skeleton(m.Name)
		count[skeletons[i]]++
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i, m := range list {
		list[i].Alike = m.Name != "" && count[skeletons[i]]+l.count[skeletons[i]] > 1
	}
}

// String shows what each member is called, as a State does that is compared.
func (l *looks) String() string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return fmt.Sprint(l.of, l.count)
}

// markNames says of each place of a list whether another one's name looks like its own.
func markNames[P any](list []P, of func(*P) (name string, alike *bool)) {
	count := make(map[string]int, len(list))
	skeletons := make([]string, len(list))
	for i := range list {
		name, _ := of(&list[i])
		skeletons[i] = ubl.Skeleton(name)
		count[skeletons[i]]++
	}
	for i := range list {
		_, alike := of(&list[i])
		*alike = count[skeletons[i]] > 1
	}
}
