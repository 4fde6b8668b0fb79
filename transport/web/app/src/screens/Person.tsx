import { useEffect } from 'preact/hooks';
import { me } from '../session';
import { store } from '../store';
import { nameOf } from '../text';
import { t } from '../words';

// nameFor is what to call somebody, as far as this device knows them.
export function nameFor(id: string): string {
  const known = store.value?.people.byId.value.get(id);
  const who = me.value;
  if (who?.identity.user_id === id) return nameOf({ ...who.identity, name: known?.name ?? who.name, alike: known?.alike });
  return nameOf(known ?? { user_id: id });
}

// hasLeft tells that somebody was a member, and is none as far as this device knows.
export const hasLeft = (id: string) => store.value?.people.byId.value.get(id)?.left ?? false;

// orLeft is what stands behind the name of somebody who has left.
export const orLeft = (id: string) => (hasLeft(id) ? ` ${t('person.left')}` : '');

// isNoMember tells so of a person whose id this device may not know at all.
export const isNoMember = (id: string) => hasLeft(id) || (store.value?.people.lacking.value.has(id) ?? false);

// Person is somebody's name, for whom a record has only the id.
export function Person({ id }: { id: string }) {
  const known = store.value;
  useEffect(() => known?.people.meet([id]), [id, known]);
  return (
    <>
      <bdi title={id}>{nameFor(id)}</bdi>
      {orLeft(id)}
    </>
  );
}
