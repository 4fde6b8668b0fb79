// What one can do with a room of the list: by the button in its row, a right click, the
// keyboard's menu key, or holding it.

import { forever, isFavourite, isMuted, setRoom, type RoomChange } from '../../notify/mine';
import { isDirect } from '../../order';
import { go } from '../../router';
import { store } from '../../store';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { hide } from './direct';
import { asked } from './asked';

export default function RoomMenu() {
  const id = asked.value;
  const room = store.value?.rooms.get(id);
  if (!room) return null;
  const favourite = isFavourite(id);
  const close = () => (asked.value = '');
  const act = (work: () => unknown) => () => {
    close();
    void work();
  };
  const change = (what: RoomChange) => act(() => setRoom(id, what).catch(failed));
  return (
    <Dialog title={room.name} onClose={close}>
      <div class="stack choices">
        <Button icon="check" wide onClick={change({ favourite: !favourite })}>
          {t(favourite ? 'roommenu.unfavourite' : 'roommenu.favourite')}
        </Button>
        <Button icon="mute" wide onClick={change({ mute_s: isMuted(id) ? 0 : forever })}>
          {t(isMuted(id) ? 'roommenu.unmute' : 'roommenu.mute')}
        </Button>
        <Button icon="info" wide onClick={act(() => go(`/ui/rooms/${id}/members`))}>
          {t('roommenu.details')}
        </Button>
        {isDirect(room) && (
          <Button icon="close" wide onClick={act(() => hide(id).then(() => toast(t('roommenu.hidden')), failed))}>
            {t('roommenu.hide')}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
