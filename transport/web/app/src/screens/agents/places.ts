// places.ts knows the rooms and workspaces that agents can be let into, and their names.

import { at, post, said } from '../../api';
import { store } from '../../store';
import { useWorkspaces } from '../documents/names';
import { kindOf, unnamed } from './mandate';

export interface Place {
  id: string;
  name: string;
}

// usePlaces are the rooms that one is in, and the workspaces that one sees.
export function usePlaces(): { places: Place[]; called: (id: string) => string } {
  const workspaces = useWorkspaces().data?.workspaces ?? [];
  const rooms = store.value?.rooms.mine.value ?? [];
  const places = [...rooms.map((r) => ({ id: r.room_id, name: r.name })), ...workspaces.map((w) => ({ id: w.container_id, name: w.name }))];
  const called = (id: string) => {
    const known = places.find((p) => p.id === id);
    return known ? `${known.name} (${kindOf(id)})` : unnamed(id);
  };
  return { places, called };
}

// addTo adds an agent to places, and answers where it couldn't be, and why.
export async function addTo(places: readonly string[], user_id: string): Promise<string[]> {
  const missing: string[] = [];
  for (const id of places) {
    const url = kindOf(id) === 'room' ? at`/api/rooms/${id}` : at`/api/containers/${id}`;
    await post(`${url}/members`, { user_id }).catch((problem) => missing.push(`${unnamed(id)}: ${said(problem)}`));
  }
  return missing;
}
