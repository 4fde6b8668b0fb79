import { useEffect } from 'preact/hooks';
import { go, Link, type ScreenProps } from '../../router';
import { isOwner } from '../../session';
import type { Server as Known } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Facts, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Check } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { Person } from '../Person';
import { ReceiptLink } from '../ReceiptLink';
import { change, own, remove, servers, sync } from './api';
import { Connect } from './Connect';
import { Secret } from './Secret';
import './servers.css';
import { Status } from './Servers';
import { Tools } from './Tools';

// Server is one server of tools: how it is doing, and for owners its tools with who
// may use them.
export default function Server({ params: { id = '' } }: ScreenProps) {
  if (id === own) {
    return (
      <Screen title="This server" sub="Its own tools" above="/ui/servers">
        <Tools server={own} />
      </Screen>
    );
  }
  return <Other id={id} />;
}

function Other({ id }: { id: string }) {
  const list = useLoad(servers);
  const found = list.data?.servers.find((s) => s.server_id === id);
  const put = (now: Partial<Known>) => list.set({ ...list.data!, servers: list.data!.servers.map((s) => (s.server_id === id ? { ...s, ...now } : s)) });
  const wait = found && waitOf(found);
  useEffect(() => {
    if (wait === undefined || list.busy) return;
    const timer = setTimeout(list.reload, wait);
    return () => clearTimeout(timer);
  }, [wait, list.busy]);
  return (
    <Screen title={found?.name ?? id} sub={found?.command ?? found?.url} above="/ui/servers">
      <Await of={list}>
        {() =>
          found ? (
            <>
              <State of={found} onChange={put} />
              {found.auth === 'authorization_code' && <Connect of={found} onChange={put} onReturn={list.reload} />}
              {isOwner.value && <Tools key={`${found.synced_at} ${found.disabled}`} server={id} />}
              {isOwner.value && <Settings of={found} onChange={put} />}
            </>
          ) : (
            <Empty icon="server" title="There is no such server">
              <Link class="button plain" to="/ui/servers">All servers</Link>
            </Empty>
          )
        }
      </Await>
    </Screen>
  );
}

// waitOf is after how long to look again at a server that is asked in the background, in
// ms: a new one at once, one that is down when it is tried next.
function waitOf(of: Known): number | undefined {
  if (of.connecting || (of.status === 'new' && of.auth !== 'authorization_code')) return 1500;
  return of.next_try === undefined ? undefined : Math.max(1500, Date.parse(of.next_try) - Date.now() + 1500);
}

const auths = { none: 'Nothing', header: 'A fixed header', client_credentials: 'OAuth, for the organisation', authorization_code: 'OAuth, each person for themselves', environment: 'A variable of its environment' };

function State({ of, onChange }: { of: Known; onChange: (now: Known) => void }) {
  const act = useAct();
  return (
    <Section
      title="State"
      actions={
        isOwner.value &&
        !of.disabled && (
          <Button icon="refresh" busy={act.busy} onClick={() => act.run(async () => onChange((await sync(of.server_id)).server))}>
            Ask for its tools
          </Button>
        )
      }
    >
      <Problem of={act.problem} />
      {of.problem && <p class="notice">{of.problem}</p>}
      <Facts
        of={[
          ['Now', <Status of={of} />],
          ...(of.down_since ? ([['Down since', <Time at={of.down_since} as="full" />]] as const) : []),
          ...(of.next_try ? ([['Next try', of.connecting ? 'Now' : <Time at={of.next_try} as="full" />]] as const) : []),
          ...(of.down_since ? [] : ([['Last asked', of.synced_at ? <Time at={of.synced_at} as="full" /> : 'Never']] as const)),
          ['It learns who calls by', auths[of.auth] + (of.header ? `: ${of.header}` : '')],
          ['Added', <><Person id={of.created_by} />, <Time at={of.created_at} as="date" /></>],
          ['Last change', <ReceiptLink of={of.receipt} />],
        ]}
      />
    </Section>
  );
}

function Settings({ of, onChange }: { of: Known; onChange: (now: Known) => void }) {
  const act = useAct();
  const switchTo = (on: boolean) => act.run(async () => onChange((await change(of.server_id, { disabled: !on })).server));
  return (
    <Section title="Settings">
      <div class="stack">
        <Check label="Switched on" hint="Switched off it is hidden with its tools, and never asked." checked={!of.disabled} disabled={act.busy} onValue={switchTo} />
        <Problem of={act.problem} />
        {of.auth !== 'none' && <Secret of={of} onChange={onChange} />}
        <div class="line">
          <Button icon="trash" onClick={() => void removeAsked(of)}>
            Remove
          </Button>
        </div>
      </div>
    </Section>
  );
}

async function removeAsked(of: Known) {
  const sure = await ask({ title: `Remove ${of.name}?`, text: 'It is forgotten with its tools, its secret, and the sign-ins of everybody.', action: 'Remove', danger: true });
  if (!sure) return;
  try {
    await remove(of.server_id);
    toast(`${of.name} was removed`);
    go('/ui/servers', { replace: true });
  } catch (problem) {
    failed(problem);
  }
}
