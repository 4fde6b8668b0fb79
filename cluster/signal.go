package cluster

// signal wakes one who waits for it, at once or as soon as they wait. Raised twice before
// that it wakes them once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// raise waits for nobody.
func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default:
	}
}
