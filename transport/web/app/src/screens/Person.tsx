import { useEffect } from 'preact/hooks';
import { me } from '../session';
import { store } from '../store';
import { bare, nameOf, short } from '../text';

// nameFor is what to call somebody: by their address where this device knows it.
export function nameFor(id: string): string {
  const who = me.value?.identity;
  if (who?.user_id === id) return nameOf(who);
  const member = store.value?.people.byId.value.get(id);
  return member ? nameOf(member) : short(bare(id));
}

// Person is somebody's name, for whom a record has only the id.
export function Person({ id }: { id: string }) {
  const known = store.value;
  useEffect(() => known?.people.meet([id]), [id, known]);
  return <bdi title={id}>{nameFor(id)}</bdi>;
}
