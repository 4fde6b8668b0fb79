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
import { rich, t } from '../../words';

// Invitations are those that are open and the newest that ended, for owners.
export function Invitations({ onInvite }: { onInvite: () => void }) {
  const list = useLoad((signal) => get<{ invitations: Invitation[] }>('/api/invitations', { signal }));
  const now = new Date().toISOString();
  return (
    <Section title={t('invitations.title')}>
      <Await of={list}>
        {({ invitations }) =>
          invitations.length === 0 ? (
            <div class="stack">
              <p class="soft">{t('invitations.none')}</p>
              <div class="line">
                <Button icon="plus" onClick={onInvite}>
                  {t('members.invite')}
                </Button>
              </div>
            </div>
          ) : (
            <List label={t('invitations.title')}>
              {[...invitations].reverse().map((i) => (
                <Row
                  key={i.id}
                  start={<Icon name="link" />}
                  title={i.email}
                  sub={<State of={i} now={now} />}
                  meta={i.role === 'owner' ? <Badge>{t('invitations.asowner')}</Badge> : undefined}
                  end={isOpen(i, now) ? <Button kind="quiet" icon="close" label={t('invitations.revoke', { email: i.email })} onClick={() => void revoke(i, list.reload)} /> : undefined}
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
  if (of.accepted_at) return <>{rich('invitations.accepted', { time: <Time at={of.accepted_at} /> })}</>;
  if (of.revoked_at) return <>{rich('invitations.revoked', { time: <Time at={of.revoked_at} /> })}</>;
  if (of.expires_at <= now) return <>{rich('invitations.expired', { time: <Time at={of.expires_at} /> })}</>;
  return <>{rich('invitations.open', { time: <Time at={of.expires_at} as="end" /> })}</>;
}

async function revoke(i: Invitation, onDone: () => void) {
  const sure = await ask({ title: t('invitations.revoke.title', { email: i.email }), text: t('invitations.revoke.text'), action: t('invitations.revoke.action'), danger: true });
  if (sure) await del(at`/api/invitations/${i.id}`).then(onDone, failed);
}
