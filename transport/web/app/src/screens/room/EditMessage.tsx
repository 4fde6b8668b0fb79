// A message of one's own, to be said anew.

import { useState } from 'preact/hooks';
import type { Message } from '../../types';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { t } from '../../words';
import type { Talk } from './talk';

export default function EditMessage({ talk, message }: { talk: Talk; message: Message }) {
  const [text, setText] = useState(message.body.text);
  const close = () => (talk.editing.value = null);
  const said = text.trim();
  const save = () => {
    if (said === '') return;
    close();
    if (said !== message.body.text) void talk.edit(message, said);
  };
  return (
    <Dialog
      title={t('editing.title')}
      onClose={close}
      onSubmit={save}
      actions={
        <>
          <Button onClick={close}>{t('do.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={said === ''}>
            {t('do.save')}
          </Button>
        </>
      }
    >
      <Field label={t('editing.field')} value={text} onValue={setText} lines={4} />
    </Dialog>
  );
}
