// A room: the conversation for its members, a door for those who may join.

import { isArchived } from '../order';
import { store } from '../store';
import type { ScreenProps } from '../router';
import { bare } from '../text';
import { Below } from '../ui/beside';
import { lazy } from '../ui/lazy';
import { Screen } from '../ui/Screen';
import { Spinner } from '../ui/Spinner';
import { Conversation } from './room/Conversation';
import { JoinRoom } from './room/JoinRoom';
import { NotIn } from './room/NotIn';
import { starting } from './welcome/state';

const FirstSteps = lazy(() => import('./welcome/FirstSteps'));

export default function Room({ params }: ScreenProps) {
  const id = params.id!;
  const now = store.value;
  const room = now?.rooms.get(id);
  if (now && room?.member) {
    return (
      <Below.Provider value={starting.value && id === 'r:general' ? <FirstSteps room={room} /> : null}>
        <Conversation store={now} room={room} />
      </Below.Provider>
    );
  }
  if (now && room && !isArchived(room)) return <JoinRoom store={now} room={room} />;
  return (
    <Screen title={bare(id)} above="/ui/">
      {now?.synced.value ? <NotIn /> : <Spinner />}
    </Screen>
  );
}
