package suite

import "context"

func (s *Suite) history(ctx context.Context) {}
func (s *Suite) alarms(ctx context.Context)  {}
