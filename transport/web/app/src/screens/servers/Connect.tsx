import { useEffect, useState } from 'preact/hooks';
import type { Server } from '../../types';
import { Problem } from '../../ui/Await';
import { Badge } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { connect, disconnect } from './api';
import { hostOf } from './Servers';

interface Props {
  of: Server;
  onChange: (now: Server) => void;
  // onReturn is called when one may come back from signing in elsewhere.
  onReturn: () => void;
}

// Connect signs one in to a server that knows each person by themselves, or out.
export function Connect(props: Props) {
  return <Section title="Your account there">{props.of.connected ? <Connected {...props} /> : <NotConnected {...props} />}</Section>;
}

// NotConnected shows a link that the person opens: browsers hold back windows that
// open later than a press.
function NotConnected({ of: { server_id, name }, onReturn }: Props) {
  const [url, setUrl] = useState('');
  const [left, setLeft] = useState(false);
  const act = useAct();
  useEffect(() => {
    if (!left) return;
    const back = () => void (document.visibilityState === 'visible' && onReturn());
    addEventListener('focus', back);
    document.addEventListener('visibilitychange', back);
    return () => {
      removeEventListener('focus', back);
      document.removeEventListener('visibilitychange', back);
    };
  }, [left]);
  const open = () => {
    setUrl('');
    setLeft(true);
  };
  return (
    <div class="stack">
      <p>{name} wants to know each person. Sign in once, and your agents use it as you.</p>
      <Problem of={act.problem} />
      <div class="line">
        {url ? (
          <a class="button primary" href={url} target="_blank" rel="noopener noreferrer" onClick={open}>
            Open {hostOf(url)}
          </a>
        ) : (
          <Button kind="primary" icon="link" busy={act.busy} onClick={() => act.run(async () => setUrl((await connect(server_id)).url))}>
            Connect
          </Button>
        )}
      </div>
      {url && <p class="hint">The link holds for ten minutes.</p>}
    </div>
  );
}

function Connected({ of: { server_id, name }, onChange }: Props) {
  const act = useAct();
  const leave = async () => {
    const sure = await ask({ title: `Disconnect from ${name}?`, text: 'Your agents can’t use its tools until you connect again. The sign-in that is kept here is forgotten; it can be revoked only where it was given.', action: 'Disconnect', danger: true });
    if (sure && (await act.run(async () => onChange((await disconnect(server_id)).server)))) toast(`Disconnected from ${name}`);
  };
  return (
    <div class="stack">
      <p>
        <Badge kind="good">Connected</Badge> Your agents use {name} as you.
      </p>
      <Problem of={act.problem} />
      <div class="line">
        <Button busy={act.busy} onClick={leave}>
          Disconnect
        </Button>
      </div>
    </div>
  );
}
