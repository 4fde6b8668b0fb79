// The messages that one has scheduled, by time, and those that couldn't be sent.

import './scheduled.css';
import { useState } from 'preact/hooks';
import { Link } from '../../router';
import { store } from '../../store';
import { bare } from '../../text';
import type { Scheduled as Message } from '../../types';
import { Await } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Icon } from '../../ui/Icon';
import { Screen, Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { whyNot } from '../room/whyNot';
import * as api from './api';
import { PlanDialog } from './Plan';
import { repeated, said } from './when';

export default function Scheduled() {
  const loaded = useLoad(api.scheduled, [store.value?.person.value]);
  const [changing, setChanging] = useState<Message | null>(null);
  const shown = (list: readonly Message[]) => (
    <ul class="scheduled">
      {list.map((message) => (
        <One key={message.scheduled_id} message={message} onChange={() => setChanging(message)} onGone={loaded.reload} />
      ))}
    </ul>
  );
  return (
    <Screen title={t('scheduled.title')} above="/ui/more">
      <Await of={loaded}>
        {({ scheduled }) => {
          const not = scheduled.filter((m) => m.failed);
          const due = scheduled.filter((m) => !m.failed);
          if (scheduled.length === 0) return <Empty icon="clock" title={t('scheduled.none')}>{t('scheduled.none.hint')}</Empty>;
          return (
            <>
              {not.length > 0 && <Section title={t('scheduled.failed')}>{shown(not)}</Section>}
              {due.length > 0 && <Section title={t('scheduled.due')}>{shown(due)}</Section>}
            </>
          );
        }}
      </Await>
      {changing && (
        <PlanDialog
          title={t('scheduled.change')}
          action={t('do.save')}
          was={changing}
          onSave={(plan, text) => api.change(changing, changes(changing, plan, text)).then(loaded.reload)}
          onClose={() => setChanging(null)}
        />
      )}
    </Screen>
  );
}

// changes are what differs. A time that stays is not sent again: a rule's next one may have come meanwhile.
function changes(was: Message, plan: api.Plan, text: string) {
  const stays = !was.failed && Date.parse(plan.at) === Math.floor(Date.parse(was.at) / 60_000) * 60_000 && plan.rule === (was.rule ?? '');
  return { ...(text !== was.text && { text }), ...(!stays && plan) };
}

function One({ message, onChange, onGone }: { message: Message; onChange: () => void; onGone: () => void }) {
  const room = store.value?.rooms.get(message.room_id);
  const name = room?.name ?? bare(message.room_id);
  const again = repeated(message.rule);
  const cancel = async () => {
    const title = t(message.failed ? 'scheduled.remove.title' : 'scheduled.cancel.title');
    if (!(await ask({ title, text: t(message.rule && !message.failed ? 'scheduled.cancel.rule' : 'scheduled.cancel.text'), action: t(message.failed ? 'scheduled.remove' : 'scheduled.cancel'), danger: true }))) return;
    await api.cancel(message).then(() => toast(t('scheduled.cancelled')), failed);
    onGone();
  };
  return (
    <li>
      <p class="small">
        {room ? <Link to={`/ui/rooms/${message.room_id}`}><bdi>{name}</bdi></Link> : <bdi>{name}</bdi>}{' '}
        <span class="soft">
          · {said(message.at)} {again && ` · ${again}`}
        </span>
      </p>
      <p class="prose" dir="auto">
        {message.text}
      </p>
      {message.failed && (
        <p class="problem" role="note">
          <Icon name="warning" size={16} /> {t('scheduled.failed.why', { why: whyNot(message.failed) })}
        </p>
      )}
      {message.last && (
        <p class="soft small">
          {t('scheduled.last')} <Time at={message.last.at} as="ago" />
        </p>
      )}
      <div class="line">
        <Button kind="quiet" icon="edit" onClick={onChange} disabled={message.sending}>
          {t(message.failed ? 'scheduled.again' : 'scheduled.change')}
        </Button>
        <Button kind="quiet" icon="trash" onClick={() => void cancel()} disabled={message.sending}>
          {t(message.failed ? 'scheduled.remove' : 'scheduled.cancel')}
        </Button>
      </div>
    </li>
  );
}
