import { useState } from 'preact/hooks';
import { newKey } from '../../api';
import { back, go } from '../../router';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Field, Select } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { add, servers, slug, well } from './api';

// AddProgram makes a program that the operator allows a server of tools.
export default function AddProgram() {
  const list = useLoad(servers);
  return (
    <Screen title="Add a program" above="/ui/servers">
      <Await of={list}>
        {({ commands }) =>
          commands.length > 0 ? (
            <Form commands={commands} />
          ) : (
            <Empty icon="server" title="No program is allowed">
              <p>The operator of this server says which programs may be added.</p>
            </Empty>
          )
        }
      </Await>
    </Screen>
  );
}

function Form({ commands }: { commands: string[] }) {
  const [command, setCommand] = useState(commands[0]!);
  const [name, setName] = useState<string | null>(null); // null while it follows the program
  const [secret, setSecret] = useState('');
  const [key, setKey] = useState(newKey);
  const act = useAct();
  const called = name ?? command;
  const server_id = slug(called);
  const good = called.trim() !== '' && well.test(server_id);
  const save = async () => {
    const done = await act.run(async () => {
      const how = secret === '' ? ({ auth: 'none' } as const) : ({ auth: 'environment', secret } as const);
      const { server } = await add({ server_id, name: called.trim(), kind: 'stdio', command, ...how }, key);
      go(`/ui/servers/${server.server_id}`, { replace: true });
      toast(`${server.name} is known. Now say who may use its tools.`);
    });
    if (!done) setKey(newKey()); // what is tried next may be something else
  };
  return (
    <Section title="A program that this server runs">
      <form
        class="stack narrow"
        onSubmit={(e) => {
          e.preventDefault();
          if (good) void save();
        }}
      >
        <Select label="Program" value={command} options={commands.map((value) => ({ value, label: value }))} onValue={setCommand} />
        <Field label="Name" value={called} onValue={setName} maxLength={128} autocomplete="off" hint={`Its tools are ${server_id || 'id'}.tool`} />
        <Field label="Secret" type="password" autocomplete="off" maxLength={8192} value={secret} onValue={setSecret} hint="Only where the program needs one. It is sealed and never shown again." />
        <Problem of={act.problem} />
        <div class="line">
          <Button kind="primary" type="submit" busy={act.busy} disabled={!good}>
            Add
          </Button>
          <Button onClick={() => back('/ui/servers')}>Cancel</Button>
        </div>
      </form>
    </Section>
  );
}
