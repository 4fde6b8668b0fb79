package suite

import "context"

func (s *Suite) alarms(ctx context.Context) {}
