import { useState } from 'preact/hooks';
import { newKey, post } from '../../api';
import { isLocal } from '../../door';
import type { Invitation, Role } from '../../types';
import { Problem } from '../../ui/Await';
import { Secret, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Choice, Field, Select } from '../../ui/Field';
import { useAct } from '../../ui/useAct';
import { rich, t } from '../../words';

type Hours = '24' | '168' | '720';

type Made = { invitation: Invitation; link: string | null };

// Invite makes a link that lets one person in, once. It is shown here and nowhere
// else afterwards.
export function Invite({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [hours, setHours] = useState<Hours>('168');
  const [made, setMade] = useState<Made | null>(null);
  const [key, setKey] = useState(newKey);
  const act = useAct();
  if (made) return <Link of={made} onClose={onClose} />;
  const roles = [
    { value: 'member', label: t('invite.member') },
    { value: 'owner', label: t('invite.owner') },
  ] as const;
  const spans = [
    { value: '24', label: t('invite.day') },
    { value: '168', label: t('invite.week') },
    { value: '720', label: t('invite.month') },
  ] as const;
  const invite = () =>
    act.run(async () => {
      setMade(await post<Made>('/api/invitations', { email: email.trim(), role, ttl_hours: Number(hours) }, { key }));
      onMade();
    });
  const changed = <T,>(set: (value: T) => void) => (value: T) => {
    set(value);
    setKey(newKey()); // another invitation
  };
  return (
    <Dialog
      title={t('members.invite')}
      onClose={onClose}
      onSubmit={() => email.trim() && void invite()}
      actions={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!email.trim()}>
            {t('invite.action')}
          </Button>
        </>
      }
    >
      <Field label={t('invite.email')} type="email" inputMode="email" autocomplete="off" autocapitalize="off" value={email} onValue={changed(setEmail)} maxLength={254} hint={t('invite.email.hint')} />
      <Choice label={t('invite.as')} value={role} options={roles} onValue={changed<Role>(setRole)} />
      <Select<Hours> label={t('invite.span')} value={hours} options={spans} onValue={changed(setHours)} />
      <Problem of={act.problem} />
    </Dialog>
  );
}

function Link({ of: { invitation, link }, onClose }: { of: Made; onClose: () => void }) {
  return (
    <Dialog
      title={t('invite.ready')}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t('invite.done')}
        </Button>
      }
    >
      {link ? (
        <>
          <p>{rich('invite.send', { email: <bdi>{invitation.email}</bdi>, end: <Time at={invitation.expires_at} as="full" /> })}</p>
          <p class="soft">{t('invite.unproven')}</p>
          {isLocal(new URL(link)) && <p class="notice">{t('invite.local')}</p>}
          <Secret label={t('invite.link')} text={link} />
        </>
      ) : (
        <p>{t('invite.before')}</p>
      )}
    </Dialog>
  );
}
