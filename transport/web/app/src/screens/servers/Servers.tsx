import { go } from '../../router';
import { isOwner } from '../../session';
import { count } from '../../text';
import type { Server } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Await } from '../../ui/Await';
import { Badge } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Menu } from '../../ui/Menu';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { own, servers } from './api';

const add = () => go('/ui/new-server');
const run = () => go('/ui/new-program');
const find = () => go('/ui/find-servers');

// Servers is this server and the others whose tools the tenant knows.
export default function Servers() {
  const list = useLoad(servers);
  return (
    <Screen
      title="Tool servers"
      above="/ui/more"
      actions={
        isOwner.value && (
          <Menu
            label="Add a server"
            icon="plus"
            items={[
              { label: 'By its address', icon: 'link', onSelect: add },
              ...(list.data?.commands.length ? ([{ label: 'A program of this server', icon: 'tool', onSelect: run }] as const) : []),
              { label: 'From a registry', icon: 'search', onSelect: find },
            ]}
          />
        )
      }
    >
      <Await of={list}>
        {(answer) => (
          <>
            <List label="Servers">
              {isOwner.value && <Row to={`/ui/servers/${own}`} start={<Avatar id={own} name="UBL" icon="tool" />} title="This server" sub="Its own tools, and who may use them" />}
              {answer.servers.map((s) => (
                <Row key={s.server_id} to={`/ui/servers/${s.server_id}`} start={<Avatar id={s.server_id} name={s.name} icon="server" />} title={s.name} sub={`${s.server_id} · ${summary(s)}`} meta={<Status of={s} />} />
              ))}
            </List>
            {answer.servers.length === 0 && <None />}
          </>
        )}
      </Await>
    </Screen>
  );
}

function None() {
  return (
    <Empty icon="server" title="No other server yet">
      <p>Add an MCP server, and agents find its tools beside ours, at one address. Nobody may use them until you allow it.</p>
      {isOwner.value && (
        <div class="line">
          <Button kind="primary" icon="plus" onClick={add}>
            Add by its address
          </Button>
          <Button icon="search" onClick={find}>
            Find in a registry
          </Button>
        </div>
      )}
    </Empty>
  );
}

const summary = (s: Server) => [count(s.tools, 'tool'), s.command ?? hostOf(s.url), s.connected === undefined ? '' : s.connected ? 'connected' : 'not connected'].filter(Boolean).join(' · ');

export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

// Status is how a server is doing, or that something waits for an owner.
export function Status({ of }: { of: Server }) {
  if (of.held > 0 && isOwner.value && !of.disabled) return <Badge kind="warn">{`${of.held} to review`}</Badge>;
  if (of.connecting && of.status !== 'up') return <Badge>connecting</Badge>;
  switch (of.status) {
    case 'up':
      return <Badge kind="good">up</Badge>;
    case 'down':
      return <Badge kind="bad">down</Badge>;
    case 'new':
      return <Badge>new</Badge>;
    case 'disabled':
      return <Badge>switched off</Badge>;
  }
}
