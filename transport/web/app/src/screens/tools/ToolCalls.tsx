import { useEffect, useMemo, useState } from 'preact/hooks';
import { Link } from '../../router';
import { isOwner } from '../../session';
import type { Call } from '../../types';
import { Problem } from '../../ui/Await';
import { Badge } from '../../ui/Bits';
import { Empty, Failed } from '../../ui/Empty';
import { Choice, Field } from '../../ui/Field';
import { Screen } from '../../ui/Screen';
import { Spinner } from '../../ui/Spinner';
import { useAct } from '../../ui/useAct';
import { VirtualList } from '../../ui/VirtualList';
import { nameFor } from '../Person';
import { CallDetails } from './CallDetails';
import { CallRow } from './CallRow';
import { Calls } from './calls';
import './tools.css';

const kinds = [
  { value: 'all', label: 'All' },
  { value: 'agents', label: 'Agents' },
  { value: 'failed', label: 'Failed' },
  { value: 'denied', label: 'Denied' },
] as const;

type Kind = (typeof kinds)[number]['value'];

// ToolCalls is what agents and people did with tools, as it happens.
export default function ToolCalls() {
  const log = useMemo(() => new Calls(), []);
  const [kind, setKind] = useState<Kind>('all');
  const [text, setText] = useState('');
  const [open, setOpen] = useState<number | null>(null);
  const more = useAct();
  useEffect(() => {
    log.start();
    return () => log.stop();
  }, []);
  const calls = log.calls.value;
  const shown = calls.filter((c) => isKind(c, kind) && has(c, text));
  const looking = calls.find((c) => c.n === open);
  return (
    <Screen title="Tool calls" sub={isOwner.value ? 'Of everyone in the organisation' : 'Yours'} above="/ui/more" fixed actions={log.live.value && <Badge kind="good">live</Badge>}>
      <div class="calls-filter">
        <Choice label="Show" value={kind} options={kinds} onValue={setKind} />
        <Field label="Tool, server or person" type="search" value={text} onValue={setText} autocomplete="off" />
      </div>
      {log.ready.value && <Problem of={log.problem.value ?? more.problem} />}
      {!log.ready.value ? (
        log.problem.value ? (
          <Failed problem={log.problem.value} onRetry={log.again} />
        ) : (
          <Spinner />
        )
      ) : shown.length === 0 && log.before.value === null ? (
        <None any={calls.length > 0} />
      ) : (
        <VirtualList items={shown} keyOf={(c) => String(c.n)} estimate={64} label="Calls, the newest first" onNearEnd={() => log.before.value !== null && void more.run(() => log.older())}>
          {(c) => <CallRow of={c} onOpen={() => setOpen(c.n)} />}
        </VirtualList>
      )}
      {looking && <CallDetails of={looking} onClose={() => setOpen(null)} />}
    </Screen>
  );
}

function isKind(c: Call, kind: Kind): boolean {
  switch (kind) {
    case 'all':
      return true;
    case 'agents':
      return c.is_service;
    case 'failed':
      return c.status === 'error';
    case 'denied':
      return c.status === 'denied' || c.code === 'forbidden';
  }
}

const has = (c: Call, text: string) => `${c.server} ${c.capability} ${nameFor(c.user_id)}`.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());

function None({ any }: { any: boolean }) {
  if (any) return <Empty icon="search" title="No such call" />;
  return (
    <Empty icon="tool" title="No calls yet">
      <p>When an agent uses a tool, or somebody asks a model, it stands here within the second. What another server or a model was asked for has a receipt of its own.</p>
      {isOwner.value && <Link to="/ui/agents">Connect an agent</Link>}
    </Empty>
  );
}
