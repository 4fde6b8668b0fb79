// places.ts knows the rooms and workspaces that agents can be let into, and their names.

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
