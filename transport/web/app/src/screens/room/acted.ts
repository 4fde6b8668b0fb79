// What an entry tells that an act left in the timeline, in a line.

import { changesIn, keptIn, type MemberChange } from '../../store/entries';
import type { Entry } from '../../types';
import { t } from '../../words';
import { spanOf } from './span';

type Whose = (id: string) => { name: string; mine: boolean };

// wordsOfEntry is the line of a membership, proposal or call entry, or of how long messages are kept;
// '' for any other.
export function wordsOfEntry(entry: Entry, who: Whose): string {
  const by = subject(entry.author_id, who);
  const kept = keptIn(entry);
  if (kept !== undefined) return `${kept > 0 ? t('talk.disappear.now', { span: spanOf(kept) }) : t('talk.disappear.never')} · ${by}`;
  if (entry.type === 'call') {
    const { name } = who(entry.author_id);
    const seconds = entry.body?.json?.seconds as number | undefined;
    return seconds === undefined ? t('talk.call.began', { name }) : t('talk.call.ended', { n: Math.ceil(seconds / 60) || 1 });
  }
  if (entry.type !== 'proposal') return changesIn(entry).map((change) => wordsOfChange(change, by, who)).join(' · ');
  switch (entry.body?.json?.state) {
    case 'proposed':
      return `${by} proposed other terms for this room`;
    case 'accepted':
      return `${by} accepted the proposed terms`;
    case 'in_force':
      return `${by} put other terms in force`;
    case 'withdrawn':
      return `${by} withdrew the proposed terms`;
    case 'ended':
      return `${by} archived this room`;
  }
  return '';
}

function wordsOfChange({ change, role, user_id }: MemberChange, by: string, who: Whose): string {
  const { name, mine } = who(user_id);
  const whom = mine ? 'you' : name;
  switch (change) {
    case 'joined':
      return `${subject(user_id, who)} joined`;
    case 'added':
      return `${by} added ${whom}`;
    case 'left':
      return `${subject(user_id, who)} left`;
    case 'removed':
      return `${by} removed ${whom}`;
    case 'role':
      return `${by} made ${whom} ${role === 'owner' ? 'an owner' : 'a member'}`;
  }
}

const subject = (id: string, who: Whose) => (who(id).mine ? 'You' : who(id).name);
