// The usual reactions to a message.

import type { Message } from '../../types';
import { Dialog } from '../../ui/Dialog';
import { t } from '../../words';
import type { Talk } from './talk';

const usual = [...'👍👎😄😂😉😍🤔😮😢😡🙏👏🙌💪👀🎉🔥🚀💯✅❌❓💡🤝'];

export default function Picker({ talk, message }: { talk: Talk; message: Message }) {
  const close = () => (talk.picking.value = null);
  return (
    <Dialog title={t('picker.title')} onClose={close}>
      <div class="picker">
        {usual.map((key) => (
          <button
            key={key}
            type="button"
            class="reaction"
            aria-pressed={talk.mine(message, key) !== undefined}
            onClick={() => {
              close();
              talk.react(message, key);
            }}
          >
            {key}
          </button>
        ))}
      </div>
    </Dialog>
  );
}
