// The button of a room's call, whose code is fetched with the first room that is shown.

import { lazy } from '../../ui/lazy';

export const CallButton = lazy(() => import('../call/CallButton'), true);
