// Sending what is written later: a menu beside the button that sends, which is also in that of
// what one adds, where a phone has no room for a second button.

import { useState } from 'preact/hooks';
import { go } from '../../router';
import { Menu, type MenuItem } from '../../ui/Menu';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { schedule, type Plan } from '../scheduled/api';
import { PlanDialog } from '../scheduled/Plan';
import { local, said, zone } from '../scheduled/when';
import { monday, mondayIsTomorrow, tomorrow } from '../settings/times';
import type { Talk } from './talk';

// Written is the message as it would be sent now.
export interface Written {
  text: string;
  mentions: string[];
}

export interface Props {
  talk: Talk;
  // take is what is written, or says why it can't be sent later.
  take: () => Written | 'none' | 'files' | 'command';
  // onDone empties the field.
  onDone: () => void;
}

const list = '/ui/scheduled';

// useLater is what a menu has for it, and the dialog that it may open.
export function useLater({ talk, take, onDone }: Props) {
  const [asking, setAsking] = useState<Written | null>(null);
  const save = async ({ text, mentions }: Written, plan: Plan) => {
    const reply_to = talk.reply.value?.msg_id;
    const made = await schedule({ room_id: talk.roomId, text, ...(mentions.length > 0 && { mentions }), ...(reply_to && { reply_to }), ...(talk.thread && { thread: talk.thread }) }, plan);
    talk.reply.value = null;
    onDone();
    toast(t('scheduled.saved', { when: said(made.at) }), { action: { label: t('scheduled.show'), run: () => go(list) } });
  };
  const ready = (then: (written: Written) => void) => () => {
    const written = take();
    if (typeof written === 'string') failed(new Error(t(`later.${written}`)));
    else then(written);
  };
  return {
    ask: ready(setAsking),
    at: (time: Date) => ready((written) => void save(written, { at: local(time), zone: zone(), rule: '' }).catch(failed)),
    dialog: asking && <PlanDialog title={t('scheduled.later')} action={t('scheduled.action')} onSave={(plan) => save(asking, plan)} onClose={() => setAsking(null)} />,
  };
}

export function Later(props: Props) {
  const { ask, at, dialog } = useLater(props);
  const preset = (time: Date): MenuItem => ({ label: said(time.toISOString()), icon: 'clock', onSelect: at(time) });
  const now = new Date();
  const items: MenuItem[] = [
    preset(tomorrow(now)),
    ...(mondayIsTomorrow(now) ? [] : [preset(monday(now))]),
    { label: t('scheduled.other'), icon: 'edit', onSelect: ask },
    { label: t('scheduled.title'), icon: 'document', onSelect: () => go(list) },
  ];
  return (
    <>
      <Menu label={t('scheduled.later')} icon="down" items={items} />
      {dialog}
    </>
  );
}
