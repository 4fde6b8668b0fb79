// What to begin with, in the room that everybody is in. Each goes away when it is done, and
// all of them with the last.

import './steps.css';
import { useEffect, useState } from 'preact/hooks';
import { go } from '../../router';
import { isOwner, me } from '../../session';
import { store } from '../../store';
import type { RoomView } from '../../store/rooms';
import { Button } from '../../ui/Button';
import { t } from '../../words';
import { started } from './state';

export default function FirstSteps({ room }: { room: RoomView }) {
  const self = me.value?.identity.user_id;
  const others = [...(store.value?.people.byId.value.values() ?? [])].filter((p) => p.user_id !== self && !p.left);
  const [greeted, setGreeted] = useState(false);
  const said = room.last_message?.sender_id === self && room.last_message?.type === 'text';
  useEffect(() => {
    if (said) setGreeted(true);
  }, [said]);
  const steps = [
    !greeted && !said && <Button key="hello" icon="room" onClick={write}>{t('start.hello')}</Button>,
    isOwner.value && !others.some((p) => !p.is_service) && <Button key="invite" icon="people" onClick={() => go('/ui/members?invite=1')}>{t('start.invite')}</Button>,
    !others.some((p) => p.is_service) && <Button key="agent" icon="key" onClick={() => go('/ui/agents')}>{t('start.agent')}</Button>,
  ].filter(Boolean);
  useEffect(() => {
    if (steps.length === 0) started();
  }, [steps.length]);
  if (steps.length === 0) return null;
  return (
    <section class="steps" aria-label={t('start.title')}>
      <p>{t('start.title')}</p>
      <div class="line">{steps}</div>
      <Button kind="quiet" icon="close" label={t('start.hide')} onClick={started} />
    </section>
  );
}

// write leads to where one writes.
const write = () => document.querySelector<HTMLElement>('.main textarea, .main [contenteditable="true"]')?.focus();
