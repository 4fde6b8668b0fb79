// What keeps messages from coming, going or being kept, in words for under a title.

import { useEffect, useState } from 'preact/hooks';
import { online } from '../device';
import type { Store } from '../store/sync';
import { t } from '../words';

// calm is how long a line may be away before that is worth a word, in ms.
const calm = 1500;

// useLine is null while all is well.
export function useLine(store: Store | null): string | null {
  const away = store !== null && store.connection.value !== 'live';
  const [long, setLong] = useState(false);
  useEffect(() => {
    if (!away) return setLong(false);
    const timer = setTimeout(() => setLong(true), calm);
    return () => clearTimeout(timer);
  }, [away]);
  if (!online.value) return null; // which stands above every screen
  if (away && long) return t('app.connecting');
  return store?.full.value ? t('app.full') : null;
}
