// Sending what is written later: a menu beside the button that sends, which is also in that of
// what one adds, where a phone has no room for a second button.

import { go } from '../../router';
import { Menu, type MenuItem } from '../../ui/Menu';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { schedule, type Plan } from '../scheduled/api';
import { local, said, zone } from '../scheduled/when';
import { monday, mondayIsTomorrow, tomorrow } from '../settings/times';
import type { Later, Talk, Written } from './talk';

export interface Props {
  talk: Talk;
  // take is what is written, or says why it can't be sent later.
  take: () => Written | 'none' | 'files' | 'command';
  // onDone empties the field.
  onDone: () => void;
}

const list = '/ui/scheduled';

// plan has a message sent later, and empties the field that it was written in.
export async function plan(talk: Talk, { text, mentions, done }: Later, when: Plan): Promise<void> {
  const reply_to = talk.reply.value?.msg_id;
  const made = await schedule({ room_id: talk.roomId, text, ...(mentions.length > 0 && { mentions }), ...(reply_to && { reply_to }), ...(talk.thread && { thread: talk.thread }) }, when);
  talk.reply.value = null;
  done();
  toast(t('scheduled.saved', { when: said(made.at) }), { action: { label: t('scheduled.show'), run: () => go(list) } });
}

// useLater is what a menu has for it.
export function useLater({ talk, take, onDone }: Props) {
  const ready = (then: (written: Later) => void) => () => {
    const written = take();
    if (typeof written === 'string') failed(new Error(t(`later.${written}`)));
    else then({ ...written, done: onDone });
  };
  return {
    ask: ready((written) => (talk.planning.value = written)),
    at: (time: Date) => ready((written) => void plan(talk, written, { at: local(time), zone: zone(), rule: '' }).catch(failed)),
  };
}

export function LaterMenu(props: Props) {
  const { ask, at } = useLater(props);
  const preset = (time: Date): MenuItem => ({ label: said(time.toISOString()), icon: 'clock', onSelect: at(time) });
  const now = new Date();
  const items: MenuItem[] = [
    preset(tomorrow(now)),
    ...(mondayIsTomorrow(now) ? [] : [preset(monday(now))]),
    { label: t('scheduled.other'), icon: 'edit', onSelect: ask },
    { label: t('scheduled.title'), icon: 'document', onSelect: () => go(list) },
  ];
  return <Menu label={t('scheduled.later')} icon="down" items={items} />;
}
