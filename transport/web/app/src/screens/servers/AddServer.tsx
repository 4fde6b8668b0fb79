import { useState } from 'preact/hooks';
import { newKey } from '../../api';
import { back, go, place } from '../../router';
import type { Server } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Field, Select } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { add, slug, well, type NewServer } from './api';
import { Credentials } from './Credentials';

const auths = [
  { value: 'none', label: 'Not at all' },
  { value: 'header', label: 'By a fixed header, such as an API key' },
  { value: 'client_credentials', label: 'By OAuth, one account for the organisation' },
  { value: 'authorization_code', label: 'By OAuth, each person signs in' },
] as const;

// AddServer makes an external MCP server known. What a registry said of it comes in
// the address.
export default function AddServer() {
  const { query } = place.value;
  const [name, setName] = useState(query.get('name') ?? '');
  const [id, setId] = useState<string | null>(null); // null while it follows the name
  const [url, setUrl] = useState(query.get('url') ?? '');
  const [auth, setAuth] = useState<Server['auth']>(query.get('header') ? 'header' : 'none');
  const [more, setMore] = useState<Partial<NewServer>>({ header: query.get('header') ?? 'Authorization' });
  const [key, setKey] = useState(newKey);
  const act = useAct();
  const server_id = id ?? slug(name);
  const good = name.trim() !== '' && well.test(server_id) && URL.canParse(url.trim());
  const save = async () => {
    const done = await act.run(async () => {
      const { server } = await add({ server_id, name: name.trim(), url: url.trim(), auth, ...relevant(auth, more) }, key);
      go(`/ui/servers/${server.server_id}`, { replace: true });
      toast(`${server.name} is known. Now say who may use its tools.`);
    });
    if (!done) setKey(newKey()); // what is tried next may be something else
  };
  return (
    <Screen title="Add a server" above="/ui/servers">
      <Section title="An MCP server that speaks streamable HTTP">
        <form
          class="stack narrow"
          onSubmit={(e) => {
            e.preventDefault();
            if (good) void save();
          }}
        >
          <Field label="Address" type="url" inputMode="url" placeholder="https://mcp.example.com/mcp" dir="ltr" value={url} onValue={setUrl} maxLength={2048} autocomplete="off" />
          <Field label="Name" value={name} onValue={setName} maxLength={128} autocomplete="off" />
          <Field label="Id" value={server_id} onValue={setId} maxLength={32} dir="ltr" autocapitalize="off" autocomplete="off" spellcheck={false} hint={`The names of its tools begin with it: ${server_id || 'id'}.tool`} error={server_id && !well.test(server_id) ? 'Small letters, digits and hyphens' : undefined} />
          <Select label="How does it learn who is calling?" value={auth} options={auths} onValue={setAuth} />
          <Credentials auth={auth} of={more} onChange={(now) => setMore({ ...more, ...now })} />
          <Problem of={act.problem} />
          <div class="line">
            <Button kind="primary" type="submit" busy={act.busy} disabled={!good}>
              Add
            </Button>
            <Button onClick={() => back('/ui/servers')}>Cancel</Button>
          </div>
          <p class="hint">It is asked for its tools at once. Nobody may use them until you say who.</p>
        </form>
      </Section>
    </Screen>
  );
}

// relevant leaves out what the chosen way doesn't need, and what wasn't given.
function relevant(auth: Server['auth'], { header, secret, ...oauth }: Partial<NewServer>): Partial<NewServer> {
  if (auth === 'none') return {};
  if (auth === 'header') return given({ header, secret });
  return given({ ...oauth, secret, scopes: oauth.scopes?.filter(Boolean) });
}

const given = (of: Partial<NewServer>): Partial<NewServer> => Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined && value.length > 0));
