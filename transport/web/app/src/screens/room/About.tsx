// What a room is called and about, which owners and moderators change; and what one wants of it.

import { useState } from 'preact/hooks';
import { at, newKey, patch } from '../../api';
import { forever, isFavourite, isMuted, preferred, setRoom, type RoomChange } from '../../notify/mine';
import { isDirect } from '../../order';
import { store } from '../../store';
import { end } from '../../time';
import type { Level, Room } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Check, Field, Select } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { tomorrow } from '../settings/times';

export function About({ room, may, onChanged }: { room: Room; may: boolean; onChanged: () => void }) {
  const [editing, setEditing] = useState(false);
  if (isDirect(room)) return null;
  return (
    <Section title={t('about.title')} actions={may && <Button kind="quiet" icon="edit" label={t('about.edit')} onClick={() => setEditing(true)} />}>
      <p dir="auto">{room.topic || <span class="soft">{t('about.notopic')}</span>}</p>
      {room.description && (
        <p class="soft described" dir="auto">
          {room.description}
        </p>
      )}
      {editing && <Edit room={room} onClose={() => setEditing(false)} onChanged={onChanged} />}
    </Section>
  );
}

function Edit({ room, onClose, onChanged }: { room: Room; onClose: () => void; onChanged: () => void }) {
  const [name, setName] = useState(room.name);
  const [topic, setTopic] = useState(room.topic ?? '');
  const [description, setDescription] = useState(room.description ?? '');
  const act = useAct();
  const change = {
    ...(name.trim() !== room.name && { name: name.trim() }),
    ...(topic.trim() !== (room.topic ?? '') && { topic: topic.trim() }),
    ...(description.trim() !== (room.description ?? '') && { description: description.trim() }),
  };
  const none = Object.keys(change).length === 0;
  const save = async () => {
    const saved = await act.run(async () => {
      await patch(at`/api/rooms/${room.room_id}/about`, change, { key: newKey() });
      await store.value?.refresh();
    });
    if (!saved) return;
    onClose();
    onChanged();
  };
  return (
    <Dialog
      title={t('about.edit')}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={none || name.trim() === ''}>
            {t('do.save')}
          </Button>
        </>
      }
    >
      <div class="stack">
        <Field label={t('newroom.name')} value={name} onValue={setName} maxLength={128} required />
        <Field label={t('about.topic')} hint={t('about.topic.hint')} value={topic} onValue={setTopic} maxLength={250} />
        <Field label={t('about.description')} value={description} onValue={setDescription} lines={4} maxLength={2048} />
        <Problem of={act.problem} />
      </div>
    </Dialog>
  );
}

// Mute is for how long nothing of a room is to reach one; until is as it is now.
type Mute = 'off' | 'hour' | 'eight' | 'tomorrow' | 'week' | 'always' | 'until';

function seconds(mute: Exclude<Mute, 'until'>): number {
  const now = new Date();
  return { off: 0, hour: 3600, eight: 8 * 3600, tomorrow: Math.ceil((tomorrow(now).getTime() - now.getTime()) / 1000), week: 7 * 24 * 3600, always: forever }[mute];
}

const mutes = (id: string): { value: Mute; label: string }[] => [
  ...(isMuted(id) ? [{ value: 'until' as const, label: mutedFor(id) }] : []),
  ...(['off', 'hour', 'eight', 'tomorrow', 'week', 'always'] as const).map((value) => ({ value, label: t(`mute.${value}`) })),
];

// mutedFor says until when a room is mute; of one that isn't, what it is for.
function mutedFor(id: string): string {
  const until = preferred.value.get(id)?.muted_until;
  if (!isMuted(id) || !until) return t('wanted.mute.hint');
  const left = Date.parse(until) - Date.now();
  return left > (forever / 2) * 1000 ? t('mute.always') : t('mute.until', { when: end(until) });
}

// Wanted is which of the room's messages reach oneself.
export function Wanted({ room }: { room: Room }) {
  const id = room.room_id;
  const change = (what: RoomChange) => void setRoom(id, what).catch(failed);
  const levels: { value: Level | ''; label: string }[] = [
    { value: '', label: t(isDirect(room) ? 'level.usual.all' : 'level.usual.mentions') },
    { value: 'all', label: t('level.all') },
    { value: 'mentions', label: t('level.mentions') },
    { value: 'nothing', label: t('level.nothing') },
  ];
  return (
    <Section title={t('wanted.title')}>
      <div class="stack narrow">
        <Select<Level | ''> label={t('wanted.level')} value={preferred.value.get(id)?.level ?? ''} options={levels} onValue={(level) => change({ level })} />
        <Select<Mute> label={t('wanted.mute')} hint={mutedFor(id)} value={isMuted(id) ? 'until' : 'off'} options={mutes(id)} onValue={(mute) => mute !== 'until' && change({ mute_s: seconds(mute) })} />
        <Check label={t('wanted.favourite')} checked={isFavourite(id)} onValue={(favourite) => change({ favourite })} />
      </div>
    </Section>
  );
}
