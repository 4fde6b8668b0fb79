// The door of a room that one may join.

import { useState } from 'preact/hooks';
import { at, post } from '../../api';
import type { RoomView } from '../../store/rooms';
import type { Store } from '../../store/sync';
import { Avatar } from '../../ui/Avatar';
import { Button } from '../../ui/Button';
import { Screen } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { t } from '../../words';

export function JoinRoom({ store, room }: { store: Store; room: RoomView }) {
  const [busy, setBusy] = useState(false);
  const join = async () => {
    setBusy(true);
    try {
      await post(at`/api/rooms/${room.room_id}/join`);
      await store.refresh();
    } catch (problem) {
      failed(problem);
    }
    setBusy(false);
  };
  return (
    <Screen title={room.name} above="/ui/">
      <div class="empty">
        <Avatar id={room.room_id} name={room.name} size="large" />
        <p class="title" dir="auto">
          {room.name}
        </p>
        {room.topic && <p dir="auto">{room.topic}</p>}
        <p>{t('join.text')}</p>
        <Button kind="primary" busy={busy} onClick={() => void join()}>
          {t('join.action')}
        </Button>
      </div>
    </Screen>
  );
}
