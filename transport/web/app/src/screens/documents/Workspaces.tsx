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
import { t } from '../../words';

// Workspaces is the list of workspaces, which hold documents.
export default function Workspaces() {
  const list = useWorkspaces();
  const [making, setMaking] = useState(false);
  return (
    <Screen title={t('section.documents')} actions={<Button kind="quiet" icon="plus" label={t('newworkspace.title')} onClick={() => setMaking(true)} />}>
      <Since at={list.since} />
      <Await of={list}>
        {({ workspaces }) =>
          workspaces.length === 0 ? (
            <Empty icon="document" title={t('workspaces.none')}>
              <p>{t('workspaces.none.text')}</p>
              <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
                {t('newworkspace.title')}
              </Button>
            </Empty>
          ) : (
            <List label={t('workspaces.list')}>
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
