import { at, del, get } from '../../api';
import type { Invitation } from '../../types';
import { Await } from '../../ui/Await';
import { Badge, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useLoad } from '../../ui/useLoad';

// Invitations are those that are open and the newest that ended, for owners.
export function Invitations({ onInvite }: { onInvite: () => void }) {
  const list = useLoad((signal) => get<{ invitations: Invitation[] }>('/api/invitations', { signal }));
  const now = new Date().toISOString();
  return (
    <Section title="Invitations">
      <Await of={list}>
        {({ invitations }) =>
          invitations.length === 0 ? (
            <div class="stack">
              <p class="soft">Nobody is invited. An invitation is a link that lets one person in, whatever their address.</p>
              <div class="line">
                <Button icon="plus" onClick={onInvite}>
                  Invite somebody
                </Button>
              </div>
            </div>
          ) : (
            <List label="Invitations">
              {[...invitations].reverse().map((i) => (
                <Row
                  key={i.id}
                  start={<Icon name="link" />}
                  title={i.email}
                  sub={<State of={i} now={now} />}
                  meta={i.role === 'owner' ? <Badge>as owner</Badge> : undefined}
                  end={isOpen(i, now) ? <Button kind="quiet" icon="close" label={`Take back the invitation of ${i.email}`} onClick={() => void revoke(i, list.reload)} /> : undefined}
                />
              ))}
            </List>
          )
        }
      </Await>
    </Section>
  );
}

const isOpen = (i: Invitation, now: string) => !i.accepted_at && !i.revoked_at && i.expires_at > now;

function State({ of, now }: { of: Invitation; now: string }) {
  if (of.accepted_at) return <>Accepted <Time at={of.accepted_at} /></>;
  if (of.revoked_at) return <>Taken back <Time at={of.revoked_at} /></>;
  if (of.expires_at <= now) return <>Expired <Time at={of.expires_at} /></>;
  return <>Open until <Time at={of.expires_at} as="end" /></>;
}

async function revoke(i: Invitation, onDone: () => void) {
  const sure = await ask({ title: `Take back the invitation of ${i.email}?`, text: 'Its link stops working at once.', action: 'Take back', danger: true });
  if (sure) await del(at`/api/invitations/${i.id}`).then(onDone, failed);
}
