// What one can do with a room of the list: by the button in its row, a right click, the
// keyboard's menu key, or holding it.

import { useEffect, useState } from 'preact/hooks';
import { forever, isFavourite, isMuted, setRoom, type RoomChange } from '../../notify/mine';
import { isDirect } from '../../order';
import { go } from '../../router';
import { store } from '../../store';
import type { RoomView } from '../../store/rooms';
import { membersOf } from '../../store/shelf';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { useKept } from '../kept';
import { myself } from '../members/of';
import { readInside } from '../room/facts';
import { archive, mayArchive } from './archive';
import { hide } from './direct';
import { asked } from './asked';

// patience is how long the menu waits to learn what one may do, in ms: what comes later would move
// the others under the finger.
const patience = 400;

export default function RoomMenu() {
  const room = store.value?.rooms.get(asked.value);
  return room ? <Open key={room.room_id} room={room} /> : null;
}

function Open({ room }: { room: RoomView }) {
  const { room_id: id, name } = room;
  const inside = useKept(membersOf(id), (signal) => readInside(id, signal));
  const late = useLate();
  if (!inside.data && !inside.problem && !late) return null;
  const favourite = isFavourite(id);
  const close = () => (asked.value = '');
  const act = (work: () => unknown) => () => {
    close();
    void work();
  };
  const change = (what: RoomChange) => act(() => setRoom(id, what).catch(failed));
  return (
    <Dialog title={name} onClose={close}>
      <div class="stack choices">
        <Button icon="check" wide onClick={change({ favourite: !favourite })}>
          {t(favourite ? 'roommenu.unfavourite' : 'roommenu.favourite')}
        </Button>
        <Button icon="mute" wide onClick={change({ mute_s: isMuted(id) ? 0 : forever })}>
          {t(isMuted(id) ? 'roommenu.unmute' : 'roommenu.mute')}
        </Button>
        <Button icon="info" wide onClick={act(() => go(`/ui/rooms/${id}/members`))}>
          {t('rooms.details')}
        </Button>
        {isDirect(room) && (
          <Button icon="close" wide onClick={act(() => hide(id).then(() => toast(t('roommenu.hidden')), failed))}>
            {t('roommenu.hide')}
          </Button>
        )}
        {inside.data && mayArchive(inside.data.room, myself(inside.data.members)?.role) && (
          <Button icon="lock" wide onClick={act(() => archive(room))}>
            {t('roommenu.archive')}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function useLate(): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patience);
    return () => clearTimeout(timer);
  }, []);
  return late;
}
