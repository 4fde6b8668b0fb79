// What the screens of operators ask of the server.

import { get } from '../../api';
import type { ClusterStatus } from '../../types';

export const status = async (signal: AbortSignal) => (await get<{ cluster: ClusterStatus }>('/api/platform/cluster', { signal })).cluster;
