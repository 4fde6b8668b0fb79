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
import { rich, t } from '../../words';

// Sessions are where one is signed in, and the tokens that one's programs use.
export function Sessions() {
  const list = useLoad((signal) => get<{ tokens: PlatformToken[] }>('/api/tokens', { signal }));
  return (
    <Section title={t('sessions.title')}>
      <Await of={list}>
        {({ tokens }) => (
          <div class="stack">
            <List label={t('sessions.list')}>
              {[...tokens].sort((a, b) => Number(b.current) - Number(a.current)).map((one) => (
                <Row
                  key={one.jti}
                  start={<Icon name={one.kind === 'session' ? 'device' : 'key'} />}
                  title={nameOf(one)}
                  sub={rich(one.method ? 'sessions.how' : 'sessions.when', { how: one.method && t(`sessions.${one.method}`), since: <Time at={one.created_at} />, end: <Time at={one.expires_at} as="end" /> })}
                  meta={one.current ? <Badge kind="accent">{t('sessions.this')}</Badge> : undefined}
                  end={!one.current ? <Button kind="quiet" icon="signout" label={t('sessions.end', { name: nameOf(one) })} onClick={() => void end(one, list.reload)} /> : undefined}
                />
              ))}
            </List>
            <div class="line">
              <Button icon="signout" onClick={() => void endAll()}>
                {t('sessions.all')}
              </Button>
            </div>
          </div>
        )}
      </Await>
    </Section>
  );
}

const nameOf = ({ label, kind }: PlatformToken) => label || t(kind === 'session' ? 'sessions.browser' : 'sessions.token');

async function end(one: PlatformToken, onDone: () => void) {
  const sure = await ask({ title: t('sessions.end.title', { name: nameOf(one) }), text: t(one.kind === 'session' ? 'sessions.end.browser' : 'sessions.end.token'), action: t('sessions.end.action'), danger: true });
  if (sure) await del(at`/api/tokens/${one.jti}`).then(onDone, failed);
}

// endAll ends this session too, and so wipes what this device keeps.
const endAll = () =>
  leave(
    {
      title: t('sessions.all.title'),
      text: t('sessions.all.text'),
      action: t('sessions.all'),
      danger: true,
    },
    true,
  );
