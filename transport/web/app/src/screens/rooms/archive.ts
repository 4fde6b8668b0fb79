// Archiving a room: its Agreement ends, so that it can be read, and nothing more.

import { at, newKey, post } from '../../api';
import { isArchived, isDirect } from '../../order';
import { store } from '../../store';
import type { Role, Room } from '../../types';
import { ask } from '../../ui/Dialog';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';

// platform is the tenant of the server itself, whose Agreements can't be ended.
export const platform = 't:ubl_core';

// agreementOf is the id of a room's Agreement.
export const agreementOf = (roomId: string) => `a:room:${roomId}`;

// mayArchive tells whether the usual terms permit it: the server knows others.
export const mayArchive = (room: Room, role?: Role) => role === 'owner' && room.tenant_id !== platform && !isDirect(room) && !isArchived(room);

// archive does so once the person has agreed.
export async function archive({ room_id, name }: Pick<Room, 'room_id' | 'name'>): Promise<void> {
  if (!(await ask({ title: t('archive.title', { name }), text: t('archive.text'), action: t('archive.action'), danger: true }))) return;
  try {
    await post(at`/api/agreements/${agreementOf(room_id)}/end`, null, { key: newKey() });
    await store.value?.refresh();
    toast(t('archive.done', { name }));
  } catch (problem) {
    failed(problem);
  }
}
