import { useState } from 'preact/hooks';
import { place } from '../../router';
import { bare } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Await } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { Since } from '../kept';
import { openTo } from './api';
import { useWorkspaces } from './names';
import { NewWorkspace } from './NewWorkspace';

// Workspaces is the list of workspaces, which hold documents.
export default function Workspaces() {
  const list = useWorkspaces();
  const [making, setMaking] = useState(false);
  return (
    <Screen title="Documents" actions={<Button kind="quiet" icon="plus" label="New workspace" onClick={() => setMaking(true)} />}>
      <Since at={list.since} />
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
                  sub={`${bare(w.container_id)} · ${openTo(w)}`}
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
