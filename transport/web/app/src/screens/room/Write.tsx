// Where one writes. Where one may not, it says so beforehand, and who does.

import type { RefObject } from 'preact';
import { useCallback } from 'preact/hooks';
import { lazy } from '../../ui/lazy';
import { Composer } from './Composer';
import { factsOf } from './facts';
import type { Talk } from './talk';

const ReadOnly = lazy(() => import('./ReadOnly'), true);

// most is the limit of a message that every server has.
const most = 8000;

interface Props {
  talk: Talk;
  label: string;
  placeholder: string;
  input: RefObject<HTMLTextAreaElement | null>;
}

export function Write({ talk, label, placeholder, input }: Props) {
  const up = useCallback(() => talk.editLast() || toMessages(input.current), [talk]);
  // What one wrote one may edit where others write, too.
  if (!talk.mayWrite && !talk.editing.value) return <ReadOnly talk={talk} />;
  return <Composer talk={talk} label={label} placeholder={placeholder} limit={factsOf(talk.roomId)?.limit ?? most} input={input} onUp={up} />;
}

// toMessages moves the focus to the last message above the field.
const toMessages = (field: HTMLElement | null) => [...(field?.closest('.room')?.querySelectorAll<HTMLElement>('.timeline .bubble') ?? [])].at(-1)?.focus();
