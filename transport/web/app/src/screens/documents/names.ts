// names.ts knows what workspaces are called. The list says it: a look into a workspace
// would have a receipt.

import { useKept } from '../kept';
import { listWorkspaces } from './api';
import { t } from '../../words';

// useWorkspaces is the list of workspaces.
export const useWorkspaces = () => useKept('workspaces', listWorkspaces);

// useName is a workspace's name, its id without the prefix where the list lacks it, and
// "Workspace" before it is there.
export function useName(w: string): string {
  const { data, problem } = useWorkspaces();
  if (!data && !problem) return t('workspaces.one');
  return data?.workspaces.find((one) => one.container_id === w)?.name ?? w.replace(/^[wk]:/, '');
}
