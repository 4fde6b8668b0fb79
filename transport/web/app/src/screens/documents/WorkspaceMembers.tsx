// Who may work in a workspace, and who looks after it.

import { at } from '../../api';
import { go, type ScreenProps } from '../../router';
import type { Container } from '../../types';
import { Await } from '../../ui/Await';
import { Facts } from '../../ui/Bits';
import { Screen, Section } from '../../ui/Screen';
import { Since, useKept } from '../kept';
import { Way } from '../agreement/Way';
import { inside } from '../members/api';
import { Heir } from '../members/Heir';
import { Inside, Leave } from '../members/Inside';
import { myself, type Of } from '../members/of';
import { openTo } from './api';
import { t } from '../../words';

export default function WorkspaceMembers({ params: { w = '' } }: ScreenProps) {
  const kept = useKept(`workspace ${w}`, (signal) => inside(w, signal));
  return (
    <Screen title={t('members.title')} above={`/ui/workspaces/${w}`} sub={kept.data?.container.name}>
      <Await of={kept}>
        {({ container, members }) => (
          <>
            <Since at={kept.since} />
            <Section title={t('workspaces.who')}>
              <Facts of={[[t('workspaces.open'), openTo(container)], [t('settings.you.id'), container.container_id]]} />
            </Section>
            <Inside of={ofWorkspace(container)} members={members} onChanged={kept.reload} />
            <Heir
              of={ofWorkspace(container)}
              agreement={`a:${container.kind}:${container.container_id}`}
              heir={container.heir}
              owner={myself(members)?.role === 'owner' && kept.since === null}
              onChanged={kept.reload}
            />
            <Way to={`a:${container.kind}:${container.container_id}`} />
            {myself(members) && <Leave of={ofWorkspace(container)} back={t('workspaces.leave')} onLeft={() => go('/ui/workspaces', { replace: true })} />}
          </>
        )}
      </Await>
    </Screen>
  );
}

const ofWorkspace = (w: Container): Of => ({ what: 'workspace', name: w.name, url: at`/api/containers/${w.container_id}` });
