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

const roles = [
  { value: 'member', label: 'Member' },
  { value: 'owner', label: 'Owner' },
] as const;

const spans = [
  { value: '24', label: 'A day' },
  { value: '168', label: 'A week' },
  { value: '720', label: 'A month' },
] as const;

type Made = { invitation: Invitation; link: string | null };

// Invite makes a link that lets one person in, once. It is shown here and nowhere
// else afterwards.
export function Invite({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [hours, setHours] = useState<(typeof spans)[number]['value']>('168');
  const [made, setMade] = useState<Made | null>(null);
  const [key, setKey] = useState(newKey);
  const act = useAct();
  if (made) return <Link of={made} onClose={onClose} />;
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
      title="Invite somebody"
      onClose={onClose}
      onSubmit={() => email.trim() && void invite()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!email.trim()}>
            Make the link
          </Button>
        </>
      }
    >
      <Field label="Their mail address" type="email" inputMode="email" autocomplete="off" autocapitalize="off" value={email} onValue={changed(setEmail)} maxLength={254} hint="No mail is sent. You get a link to hand on." />
      <Choice label="As" value={role} options={roles} onValue={changed<Role>(setRole)} />
      <Select label="The link works for" value={hours} options={spans} onValue={changed(setHours)} />
      <Problem of={act.problem} />
    </Dialog>
  );
}

function Link({ of: { invitation, link }, onClose }: { of: Made; onClose: () => void }) {
  return (
    <Dialog
      title="The invitation is ready"
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      {link ? (
        <>
          <p>
            Send this link to <bdi>{invitation.email}</bdi>. It works once, until <Time at={invitation.expires_at} as="full" />, and is shown only now.
          </p>
          <p class="soft">Anyone who opens it comes in, and is shown as unproven: a link doesn’t prove the address.</p>
          {isLocal(new URL(link)) && <p class="notice">This link works only on the machine that the server runs on. For others, restart the server with --public-url and the address at which they reach it.</p>}
          <Secret label="Link of the invitation" text={link} />
        </>
      ) : (
        <p>This invitation was made before, and its link was shown then. If it is lost, take the invitation back and make another.</p>
      )}
    </Dialog>
  );
}
