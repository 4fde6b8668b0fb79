import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './Button';
import { t } from '../words';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  // actions stand at the end, the main one last.
  actions?: ComponentChildren;
  // onSubmit makes the dialog a form, so that Enter in a field is its main action.
  onSubmit?: () => void;
}

// begin is where the focus goes first: into a field, else to the first action,
// which is the harmless one.
const begin = '.content :is(input, textarea, select), footer button';

// Dialog is open while it is on the page: a sheet from below on a phone. The
// browser keeps the focus inside and gives it back.
export function Dialog({ title, onClose, children, actions, onSubmit }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(begin)?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-labelledby={id}
      onCancel={(e) => {
        e.preventDefault(); // the owner takes the dialog off the page
        onClose();
      }}
      onClick={(e) => e.target === box.current && onClose()}
    >
      <form
        method="dialog"
        onSubmit={(e) => {
          e.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          <h2 id={id}>{title}</h2>
          <Button kind="quiet" icon="close" label={t('do.close')} onClick={onClose} />
        </header>
        <div class="content">{children}</div>
        {actions && <footer>{actions}</footer>}
      </form>
    </dialog>
  );
}

export interface Question {
  title: string;
  text: string;
  // action names what happens on agreement: "Remove".
  action: string;
  danger?: boolean;
}

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null);

// ask shows a question and tells whether the person agreed.
export function ask(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

// dismiss takes back what is being asked, as if the person hadn't agreed.
export const dismiss = () => asked.peek()?.answer(false);

// Questions is where ask shows them; the app has one.
export function Questions() {
  const q = asked.value;
  if (!q) return null;
  return (
    <Dialog
      title={q.title}
      onClose={() => q.answer(false)}
      onSubmit={() => q.answer(true)}
      actions={
        <>
          <Button onClick={() => q.answer(false)}>{t('do.cancel')}</Button>
          <Button kind={q.danger ? 'danger' : 'primary'} type="submit">
            {q.action}
          </Button>
        </>
      }
    >
      <p dir="auto">{q.text}</p>
    </Dialog>
  );
}
