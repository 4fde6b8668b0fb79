// Who has read a message, and who hasn't so far.

import { at, get } from '../../api';
import { nameOf, number } from '../../text';
import type { Member, Message } from '../../types';
import { Await } from '../../ui/Await';
import { Avatar } from '../../ui/Avatar';
import { Dialog } from '../../ui/Dialog';
import { List, Row } from '../../ui/Row';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { readersOf } from './ReadBy';
import type { Talk } from './talk';

// most is how many are shown by name.
const most = 200;

export default function Readers({ talk, message }: { talk: Talk; message: Message }) {
  const loaded = useLoad(
    async (signal) => {
      const [{ readers }, { members }] = await Promise.all([readersOf(talk.roomId, signal), get<{ members: Member[] }>(at`/api/rooms/${talk.roomId}/members`, { signal })]);
      const read = new Set(readers.filter((mark) => mark.read_seq >= message.room_seq).map((mark) => mark.user_id));
      const others = members.filter((m) => m.user_id !== message.sender_id);
      return { read: others.filter((m) => read.has(m.user_id)), not: others.filter((m) => !read.has(m.user_id) && !m.is_service) };
    },
    [message.msg_id],
  );
  return (
    <Dialog title={t('talk.readers')} onClose={() => (talk.reading.value = null)}>
      <Await of={loaded}>
        {({ read, not }) => (
          <div class="stack">
            {read.length > 0 ? <People label={t('talk.readers')} of={read} /> : <p class="soft">{t('read.nobody')}</p>}
            {not.length > 0 && (
              <section>
                <h3 class="soft small">{t('read.not', { n: not.length })}</h3>
                <People label={t('read.not', { n: not.length })} of={not} />
              </section>
            )}
          </div>
        )}
      </Await>
    </Dialog>
  );
}

function People({ label, of }: { label: string; of: readonly Member[] }) {
  return (
    <>
      <List label={label}>
        {of.slice(0, most).map((member) => (
          <Row key={member.user_id} start={<Avatar id={member.user_id} name={nameOf(member)} icon={member.is_service ? 'tool' : undefined} size="small" />} title={nameOf(member)} />
        ))}
      </List>
      {of.length > most && <p class="soft small">{t('read.others', { n: number(of.length - most) })}</p>}
    </>
  );
}
