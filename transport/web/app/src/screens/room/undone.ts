// What was to be done to a message and was refused: it is said once, and given up.

import { useEffect } from 'preact/hooks';
import type { Store } from '../../store/sync';
import { toast } from '../../ui/Toast';
import { t } from '../../words';

export function useUndone(store: Store, roomId: string): void {
  const failed = store.outbox.entries.value.find((entry) => entry.room_id === roomId && entry.state === 'failed' && entry.act);
  useEffect(() => {
    if (!failed) return;
    const { act } = failed;
    const text = act!.type === 'edit' ? t('talk.failed.edit', { text: act!.text }) : t(`talk.failed.${act!.type}`);
    toast(text, { kind: 'bad', sticky: true });
    void store.discard(failed.id);
  }, [failed?.id]);
}
