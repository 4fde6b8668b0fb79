import { useState } from 'preact/hooks';
import { at, del, get, post } from '../../api';
import { isOwner } from '../../session';
import type { ServiceToken } from '../../types';
import { Await } from '../../ui/Await';
import { Badge, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Avatar } from '../../ui/Avatar';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useLoad } from '../../ui/useLoad';
import { Person } from '../Person';
import { NewAgent } from './NewAgent';
import './settings.css';

type Answer = { service_tokens: ServiceToken[] };

// Agents are the tokens by which agents sign in, each an agent of its own.
export default function Agents() {
  return isOwner.value ? (
    <Tokens />
  ) : (
    <Screen title="Agents" above="/ui/more">
      <Empty icon="key" title="Owners connect agents">
        <p>Ask an owner of the tenant for a token.</p>
      </Empty>
    </Screen>
  );
}

function Tokens() {
  const list = useLoad<Answer>((signal) => get<Answer>('/api/service-tokens', { signal }));
  const [making, setMaking] = useState(false);
  const now = new Date().toISOString();
  return (
    <Screen title="Agents" sub="Tokens by which they sign in" above="/ui/more" actions={<Button kind="quiet" icon="plus" label="Connect an agent" onClick={() => setMaking(true)} />}>
      <Await of={list}>
        {({ service_tokens: tokens }) =>
          tokens.length === 0 ? (
            <Empty icon="tool" title="No agent yet">
              <p>Give an agent a token, paste the configuration into its MCP settings, and it talks, writes and uses tools here. All it does is receipted.</p>
              <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
                Connect an agent
              </Button>
            </Empty>
          ) : (
            <List label="Tokens of agents">
              {ordered(tokens, now).map((t) => (
                <Row
                  key={t.client_id}
                  start={<Avatar id={t.user_id} name={t.name} icon="tool" />}
                  title={t.name}
                  sub={
                    <>
                      By <Person id={t.created_by} />, <Time at={t.created_at} />
                    </>
                  }
                  below={<Ends of={t} />}
                  meta={t.revoked_at ? <Badge>revoked</Badge> : isLiving(t, now) ? undefined : <Badge>expired</Badge>}
                  end={
                    t.revoked_at ? undefined : (
                      <>
                        <Button kind="quiet" icon="refresh" label={`Renew ${t.name}`} onClick={() => void renew(t, list.reload)} />
                        <Button kind="quiet" icon="trash" label={`Revoke ${t.name}`} onClick={() => void revoke(t, list.reload)} />
                      </>
                    )
                  }
                />
              ))}
            </List>
          )
        }
      </Await>
      {making && <NewAgent onClose={() => setMaking(false)} onMade={list.reload} />}
    </Screen>
  );
}

// Ends is until when a token holds. Where a person's leaving ended it, its keeper makes another.
function Ends({ of }: { of: ServiceToken }) {
  const [left] = of.ends_with ?? [];
  if (of.revoked_at && left) {
    const heir = of.kept_by && of.kept_by !== left ? of.kept_by : null;
    return <>Ended when <Person id={left} /> left{heir && <>; <Person id={heir} /> kept it and can make another</>}</>;
  }
  return of.expires_at ? <>Until <Time at={of.expires_at} as="date" /></> : <>No end yet</>;
}

const isLiving = (t: ServiceToken, now: string) => !t.revoked_at && (!t.expires_at || t.expires_at > now);

// ordered has those first that still let somebody in, and the newest of them.
const ordered = (tokens: ServiceToken[], now: string) =>
  [...tokens].sort((a, b) => Number(isLiving(b, now)) - Number(isLiving(a, now)) || b.created_at.localeCompare(a.created_at));

async function renew(t: ServiceToken, onDone: () => void) {
  const sure = await ask({ title: `Renew ${t.name}?`, text: 'Its token holds for 90 days from now. You answer for the agent from then on: it ends when you leave the tenant. It also ends when its maker leaves, who has its secret.', action: 'Renew' });
  if (sure) await post(at`/api/service-tokens/${t.client_id}/renew`, {}).then(onDone, failed);
}

async function revoke(t: ServiceToken, onDone: () => void) {
  const sure = await ask({ title: `Revoke ${t.name}?`, text: 'The agent is refused at once, and its streams end. What it wrote stays.', action: 'Revoke', danger: true });
  if (sure) await del(at`/api/service-tokens/${t.client_id}`).then(onDone, failed);
}
