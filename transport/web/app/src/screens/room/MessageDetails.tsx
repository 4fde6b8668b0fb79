// A message with all that stands behind it: its receipt, checked here, the atoms of its
// action and effect, and the Agreement under which it was written.

import './MessageDetails.css';
import { at, get } from '../../api';
import { number } from '../../text';
import type { Action, Agreement, Atom, Effect, Message, ReceiptLookup } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Badge, Facts, Hash, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Failed } from '../../ui/Empty';
import { Json } from '../../ui/Json';
import { Spinner } from '../../ui/Spinner';
import { useLoad } from '../../ui/useLoad';
import { nameFor, Person } from '../Person';
import { ReceiptLink } from '../ReceiptLink';
import { Was } from '../Was';
import { copy } from './MessageMenu';
import { Check } from './Proof';
import { Standing } from './Standing';
import type { Talk } from './talk';
import { whoIs, wordsOf } from './who';
import { t } from '../../words';

export default function MessageDetails({ talk, message }: { talk: Talk; message: Message }) {
  const { data, problem, reload } = useLoad((signal) => get<ReceiptLookup>(at`/api/receipts/${message.receipt.seq}`, { signal }), [message.msg_id]);
  const close = () => (talk.details.value = null);
  const reply = () => {
    close();
    talk.reply.value = message;
  };
  return (
    <Dialog
      title={t('details.title', { n: message.receipt.seq })}
      onClose={close}
      actions={
        <>
          <Button icon="copy" onClick={() => void copy(wordsOf(message))}>
            {t('talk.copy')}
          </Button>
          {talk.mayWrite && (
            <Button icon="reply" onClick={reply}>
              {t('talk.reply')}
            </Button>
          )}
        </>
      }
    >
      <Said message={message} />
      {data ? <Behind message={message} atoms={data.atoms} /> : problem ? <Failed problem={problem} onRetry={reload} /> : <Spinner />}
    </Dialog>
  );
}

function Said({ message }: { message: Message }) {
  const who = whoIs(message.sender_id);
  return (
    <blockquote class="said">
      <p class="by">
        <Avatar id={who.id} name={who.name} icon={who.agent ? 'tool' : undefined} size="small" />
        <bdi title={who.id}>{who.name}</bdi>
        <Standing of={who} />
        <Was of={message.imported_from} as="full" />
        <span class="soft small">
          <Time at={message.sent_at} as="full" />
        </span>
      </p>
      <p class="prose" dir="auto">
        {wordsOf(message)}
      </p>
    </blockquote>
  );
}

function Behind({ message, atoms }: { message: Message; atoms: Atom[] }) {
  const { receipt } = message;
  const [action, effect] = atoms as [Action, Effect];
  return (
    <>
      <Check message={message} atoms={atoms} />
      <Facts
        of={[
          [t('details.place'), number(message.room_seq)],
          [t('details.receipt'), <ReceiptLink of={receipt} />],
          [t('details.action'), <Hash value={receipt.cid} />],
          [t('details.effect'), effect ? <Hash value={effect.cid} /> : t('details.none')],
          [t('details.head'), <Hash value={receipt.head_hash} />],
          ...Object.entries(effect?.pointers ?? {}).map(([name, value]) => [t('details.pointer', { name }), <Hash value={String(value)} />] as const),
        ]}
      />
      <Raw name={t('details.action')} about={`${action.did} · ${action.status}`} atom={action} />
      {effect && <Raw name={t('details.effect')} about={effect.outcome} atom={effect} />}
      <UnderAgreement id={action.agreement_id} />
    </>
  );
}

function Raw({ name, about, atom }: { name: string; about: string; atom: Atom }) {
  return (
    <details class="raw">
      <summary>
        {name} <span class="soft">{about}</span>
      </summary>
      <Json value={atom} label={t('details.json', { name })} />
    </details>
  );
}

function UnderAgreement({ id }: { id: string }) {
  const { data, problem } = useLoad((signal) => get<{ agreement: Agreement }>(at`/api/agreements/${id}`, { signal }), [id]);
  return (
    <section class="agreement">
      <h3>
        {t('details.agreement')} {data && <Badge kind={data.agreement.status === 'in_force' ? 'good' : 'warn'}>{data.agreement.status === 'in_force' ? t('details.inforce') : t('details.ended')}</Badge>}
      </h3>
      <p class="soft small">
        <code>{id}</code>
      </p>
      {Boolean(problem) && <p class="soft">{t('details.unread')}</p>}
      {data && (
        <ul class="parties" aria-label={t('details.parties')}>
          {data.agreement.members.map((member) => (
            <li key={member.user_id}>
              <Avatar id={member.user_id} name={nameFor(member.user_id)} icon={member.is_service ? 'tool' : undefined} size="small" />
              <Person id={member.user_id} />
              {member.unproven && <Badge kind="warn">{t('person.unproven')}</Badge>}
              <span class="soft small">{t(member.role === 'owner' ? 'members.owner' : member.role === 'moderator' ? 'inside.is.moderator' : 'details.member')}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
