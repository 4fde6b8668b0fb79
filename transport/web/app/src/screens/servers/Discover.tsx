import { useState } from 'preact/hooks';
import { query } from '../../api';
import { go } from '../../router';
import { count } from '../../text';
import { announce } from '../../ui/Announcer';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Field } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { discover, type Offered } from './api';
import './servers.css';
import { hostOf } from './Servers';

// Discover shows what an MCP Registry offers. Nothing is added by looking.
export default function Discover() {
  const [registry, setRegistry] = useState('https://registry.modelcontextprotocol.io');
  const [text, setText] = useState('');
  const [offered, setOffered] = useState<Offered[] | null>(null);
  const act = useAct();
  const look = () =>
    act.run(async () => {
      const { servers } = await discover(registry.trim());
      setOffered(servers);
      announce(`${count(servers.length, 'server')} found`);
    });
  const shown = offered?.filter((o) => `${o.name} ${o.title ?? ''} ${o.description}`.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase()));
  return (
    <Screen title="Find servers" sub="In an MCP registry" above="/ui/servers">
      <Section title="Registry">
        <form
          class="stack narrow"
          onSubmit={(e) => {
            e.preventDefault();
            void look();
          }}
        >
          <Field label="Its address" type="url" inputMode="url" dir="ltr" value={registry} onValue={setRegistry} maxLength={2048} hint="Your server asks it, not this browser." />
          <Problem of={act.problem} />
          <div class="line">
            <Button kind="primary" type="submit" icon="search" busy={act.busy} disabled={!URL.canParse(registry.trim())}>
              Look
            </Button>
          </div>
        </form>
      </Section>
      {offered && shown && (
        <Section title={count(offered.length, 'server')}>
          {offered.length > 5 && <Field label="Filter" type="search" autocomplete="off" value={text} onValue={setText} />}
          {shown.length === 0 ? <Empty icon="search" title="Nothing found" /> : <ul class="offered">{shown.map((o) => <One key={o.name + o.url} of={o} />)}</ul>}
        </Section>
      )}
    </Screen>
  );
}

function One({ of }: { of: Offered }) {
  const name = of.title || of.name;
  const add = () => go(`/ui/new-server${query({ name: of.title || of.name.split('/').pop(), url: of.url, header: of.headers[0] })}`);
  return (
    <li>
      <div>
        <h3 dir="auto">{name}</h3>
        <p dir="auto">{of.description}</p>
        <p class="soft small">
          {of.name} {of.version} · {hostOf(of.url)}
          {of.headers.length > 0 && ` · wants ${of.headers.join(', ')}`}
        </p>
      </div>
      <Button icon="plus" aria-label={`Add ${name}`} onClick={add}>
        Add
      </Button>
    </li>
  );
}
