import { useState } from 'preact/hooks';
import { isOwner, me } from '../../session';
import type { Call, ServiceToken } from '../../types';
import { Await } from '../../ui/Await';
import { Avatar } from '../../ui/Avatar';
import { Badge, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { List, Row } from '../../ui/Row';
import { Screen, Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { Person } from '../Person';
import { servers } from '../servers/api';
import * as api from './api';
import { Connect } from './Connect';
import { grants, inShort, isLiving, say, type Said } from './mandate';
import { NewAgent } from './NewAgent';
import { usePlaces } from './places';
import './agents.css';

// Agents are who signs in with a token of its own: made here by an owner, or by a client whose
// person let it in. Owners see all of the tenant, others those that they keep.
export default function Agents() {
  const list = useLoad(api.agents);
  const tools = useLoad(servers);
  const { places, called } = usePlaces();
  const [making, setMaking] = useState<'token' | 'sign_in' | null>(null);
  const owner = isOwner.value;
  const known = grants(tools.data?.servers);
  const said = (t: ServiceToken) => say(t.mandate, known, called);
  const begin = () => setMaking(owner ? 'token' : 'sign_in');
  const may = !me.value?.identity.unproven; // a person whose address nobody has proved lets no agent in
  const close = () => setMaking(null);
  return (
    <Screen title="Agents" sub={owner ? 'And what each may do' : 'Those that you let in'} above="/ui/more" actions={may && <Button kind="quiet" icon="plus" label="Connect an agent" onClick={begin} />}>
      <Await of={list}>
        {({ tokens, calls }) =>
          tokens.length === 0 ? (
            <Empty icon="tool" title="No agent yet">
              <p>{!may ? 'Prove your mail address first: Settings says how. Then you can let agents in.' : owner ? 'Choose what an agent may do, and tell its client where this server is. All it does is receipted.' : 'Tell an agent’s client where this server is. It opens your browser, and you choose what it may do.'}</p>
              {may && (
                <Button kind="primary" icon="plus" onClick={begin}>
                  Connect an agent
                </Button>
              )}
              {owner && <Button onClick={() => setMaking('sign_in')}>Without a token</Button>}
            </Empty>
          ) : (
            <>
              <Sorted title="Let in by signing in" of={tokens.filter((t) => t.client)} calls={calls} say={said} />
              <Sorted title="With a token" of={tokens.filter((t) => !t.client)} calls={calls} say={said} />
              {owner && (
                <Section title="Without a token">
                  <div class="stack">
                    <p>Clients that know OAuth need the address alone. They open your browser, and you choose what the agent may do.</p>
                    <div class="line">
                      <Button onClick={() => setMaking('sign_in')}>Show how</Button>
                    </div>
                  </div>
                </Section>
              )}
            </>
          )
        }
      </Await>
      {making === 'token' && <NewAgent grants={known} places={places} onClose={close} onMade={list.reload} />}
      {making === 'sign_in' && (
        <Dialog title="Connect by signing in" onClose={close} actions={<Button kind="primary" onClick={close}>Done</Button>}>
          <Connect token={null} />
        </Dialog>
      )}
    </Screen>
  );
}

// Sorted has those first that still come in, and the newest of them.
function Sorted({ title, of, calls, say }: { title: string; of: ServiceToken[]; calls: readonly Call[] | null; say: (t: ServiceToken) => Said }) {
  const now = new Date().toISOString();
  if (of.length === 0) return null;
  const sorted = [...of].sort((a, b) => Number(isLiving(b, now)) - Number(isLiving(a, now)) || b.created_at.localeCompare(a.created_at));
  return (
    <Section title={title}>
      <List label={title}>
        {sorted.map((t) => (
          <One key={t.client_id} of={t} living={isLiving(t, now)} last={api.lastCall(t, calls)} said={say(t)} />
        ))}
      </List>
    </Section>
  );
}

function One({ of, living, last, said }: { of: ServiceToken; living: boolean; last: Call | undefined; said: Said }) {
  return (
    <Row
      to={`/ui/agents/${of.client_id}`}
      start={<Avatar id={of.user_id} name={of.name} icon="tool" />}
      title={of.name}
      sub={
        <>
          By <Person id={of.kept_by ?? of.created_by} />, <Time at={of.created_at} />
          {last && <>; last call <Time at={last.at} /></>}
        </>
      }
      below={`${said.can.join('. ')}. ${inShort(said)}`}
      meta={of.revoked_at ? <Badge>revoked</Badge> : living ? undefined : <Badge>expired</Badge>}
    />
  );
}
