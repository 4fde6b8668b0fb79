import { useState } from 'preact/hooks';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { connect, disconnect } from './api';
import { hostOf } from './Servers';

// Connect signs one in to a server that knows each person by themselves. The link is
// opened by the person: browsers hold back windows that open later than a press.
export function Connect({ id, name }: { id: string; name: string }) {
  const [url, setUrl] = useState('');
  const act = useAct();
  const leave = async () => {
    const sure = await ask({ title: `Forget your sign-in to ${name}?`, text: 'Your agents can’t use its tools until you sign in again. It can be revoked only where it was given.', action: 'Forget', danger: true });
    if (sure && (await act.run(() => disconnect(id)))) toast('Your sign-in was forgotten');
  };
  return (
    <Section title="Your account there">
      <div class="stack">
        <p>{name} wants to know each person. Sign in once, and your agents use it as you.</p>
        <Problem of={act.problem} />
        <div class="line">
          {url ? (
            <a class="button primary" href={url} target="_blank" rel="noopener noreferrer" onClick={() => setUrl('')}>
              Open {hostOf(url)}
            </a>
          ) : (
            <Button kind="primary" icon="link" busy={act.busy} onClick={() => act.run(async () => setUrl((await connect(id)).url))}>
              Sign in there
            </Button>
          )}
          <Button disabled={act.busy} onClick={leave}>
            Forget my sign-in
          </Button>
        </div>
        {url && <p class="hint">The link holds for ten minutes.</p>}
      </div>
    </Section>
  );
}
