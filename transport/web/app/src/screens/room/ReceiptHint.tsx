// What the mark behind a message is, said once in each browser: when one's first
// message has its receipt.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { touch } from '../../device';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { t } from '../../words';
import type { Talk } from './talk';

const key = 'ubl.knows-receipts';
const known = signal(localStorage.getItem(key) !== null);

function learn() {
  localStorage.setItem(key, 'yes');
  known.value = true;
}

// ReceiptHint is there until it is put away, or a receipt was looked at.
export function ReceiptHint({ talk }: { talk: Talk }) {
  const looking = talk.details.value !== null;
  useEffect(() => {
    if (looking && !known.value) learn();
  }, [looking]);
  if (known.value) return null;
  const own = talk.window.items.value.findLast(({ message }) => message?.type === 'text' && message.sender_id === talk.store.who.user_id);
  if (!own?.message) return null;
  return (
    <p class="receipt-hint" role="status">
      <span>
        <Icon name="check" size={16} /> {t(touch ? 'hint.touch' : 'hint.pointer')}
      </span>
      <Button kind="quiet" onClick={learn}>
        {t('hint.known')}
      </Button>
    </p>
  );
}
