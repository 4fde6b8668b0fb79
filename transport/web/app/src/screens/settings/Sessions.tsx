import { at, del, get } from '../../api';
import type { PlatformToken } from '../../types';
import { Await } from '../../ui/Await';
import { Badge, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useLoad } from '../../ui/useLoad';
import { leave } from '../wayback';

// Sessions are where one is signed in, and the tokens that one's programs use.
export function Sessions() {
  const list = useLoad((signal) => get<{ tokens: PlatformToken[] }>('/api/tokens', { signal }));
  return (
    <Section title="Where you are signed in">
      <Await of={list}>
        {({ tokens }) => (
          <div class="stack">
            <List label="Sessions and tokens">
              {[...tokens].sort((a, b) => Number(b.current) - Number(a.current)).map((t) => (
                <Row
                  key={t.jti}
                  start={<Icon name={t.kind === 'session' ? 'device' : 'key'} />}
                  title={nameOf(t)}
                  sub={
                    <>
                      {t.method && `${ways[t.method]}, `}
                      <Time at={t.created_at} /> · until <Time at={t.expires_at} as="end" />
                    </>
                  }
                  meta={t.current ? <Badge kind="accent">this device</Badge> : undefined}
                  end={!t.current ? <Button kind="quiet" icon="signout" label={`End ${nameOf(t)}`} onClick={() => void end(t, list.reload)} /> : undefined}
                />
              ))}
            </List>
            <div class="line">
              <Button icon="signout" onClick={() => void endAll()}>
                Sign out everywhere
              </Button>
            </div>
          </div>
        )}
      </Await>
    </Section>
  );
}

const ways = { link: 'By link', passkey: 'By passkey', oidc: 'By your provider', invitation: 'By invitation' };

const nameOf = (t: PlatformToken) => t.label || (t.kind === 'session' ? 'A browser' : 'A token for programs');

async function end(t: PlatformToken, onDone: () => void) {
  const sure = await ask({ title: `End ${nameOf(t)}?`, text: t.kind === 'session' ? 'That browser is signed out at once, and deletes what it kept, unsent messages too.' : 'Programs that use this token are refused at once.', action: 'End', danger: true });
  if (sure) await del(at`/api/tokens/${t.jti}`).then(onDone, failed);
}

// endAll ends this session too, and so wipes what this device keeps.
const endAll = () =>
  leave(
    {
      title: 'Sign out everywhere?',
      text: 'All your browsers are signed out, this one too, and delete what they kept, unsent messages too. Your tokens for programs end. Agents’ service tokens go on.',
      action: 'Sign out everywhere',
      danger: true,
    },
    true,
  );
