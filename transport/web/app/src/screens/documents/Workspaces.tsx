import { useState } from 'preact/hooks';
import { get, newKey, post } from '../../api';
import { go, place } from '../../router';
import type { Container } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Field } from '../../ui/Field';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';

// Workspaces is the list of workspaces, which hold documents.
export default function Workspaces() {
  const list = useLoad((signal) => get<{ workspaces: Container[] }>('/api/workspaces', { signal }));
  const [making, setMaking] = useState(false);
  return (
    <Screen title="Documents" actions={<Button kind="quiet" icon="plus" label="New workspace" onClick={() => setMaking(true)} />}>
      <Await of={list}>
        {({ workspaces }) =>
          workspaces.length === 0 ? (
            <Empty icon="document" title="No workspace yet">
              <p>Documents live in workspaces. Make one for a team or a project.</p>
              <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
                New workspace
              </Button>
            </Empty>
          ) : (
            <List label="Workspaces">
              {workspaces.map((w) => (
                <Row
                  key={w.container_id}
                  to={`/ui/workspaces/${w.container_id}`}
                  start={<Avatar id={w.container_id} name={w.name} icon="document" />}
                  title={w.name}
                  sub={openTo(w)}
                  current={place.value.path.split('/')[3] === w.container_id}
                />
              ))}
            </List>
          )
        }
      </Await>
      {making && <NewWorkspace onClose={() => setMaking(false)} onMade={list.reload} />}
    </Screen>
  );
}

// openTo says who may work in a workspace.
function openTo({ physics }: Container): string {
  switch (physics.permeability) {
    case 'collaborative':
    case 'open':
      return 'Everyone in the tenant';
    case 'gated':
      return 'Its members';
    case 'sealed':
      return 'Nothing leaves or enters';
  }
}

function NewWorkspace({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('');
  const [key] = useState(newKey);
  const act = useAct();
  const make = () =>
    act.run(async () => {
      const { workspace_id } = await post<{ workspace_id: string }>('/api/workspaces', { name: name.trim() }, { key });
      onMade();
      onClose();
      go(`/ui/workspaces/${workspace_id}`);
    });
  return (
    <Dialog
      title="New workspace"
      onClose={onClose}
      onSubmit={() => name.trim() && void make()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!name.trim()}>
            Create
          </Button>
        </>
      }
    >
      <Field label="Name" value={name} onValue={setName} maxLength={128} hint="Every member of the tenant can read and write in it." autocomplete="off" />
      <Problem of={act.problem} />
    </Dialog>
  );
}
