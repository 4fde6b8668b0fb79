// A voice note: a button where one writes, and while it is recorded a bar over the field, with the
// time and the ways to end it.

import './voice.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../../../ui/Announcer';
import { Button } from '../../../ui/Button';
import { toast } from '../../../ui/Toast';
import { t } from '../../../words';
import type { Talk } from '../talk';
import { take } from './take';
import { canRecord, nameOf, record, type Recording } from './voice';

// Voice is offered where nothing else is written; what is recorded goes on.
export function Voice({ talk, offered }: { talk: Talk; offered: boolean }) {
  const [going, setGoing] = useState<Recording | null>(null);
  const asking = useRef(false);
  const here = useRef(true);
  const now = useRef<Recording | null>(null);
  now.current = going;
  useEffect(
    () => () => {
      here.current = false;
      now.current?.cancel(); // nobody sees any more that it goes on
    },
    [],
  );
  if (!canRecord()) return null;
  const begin = async () => {
    if (asking.current) return;
    asking.current = true;
    try {
      const recording = await record(() => void end());
      if (!here.current) return recording.cancel();
      setGoing(recording);
      announce(t('voice.going'));
    } catch (problem) {
      toast(whyNot(problem), { kind: 'bad', sticky: true });
    } finally {
      asking.current = false;
    }
  };
  const end = async () => {
    const recording = now.current;
    setGoing(null);
    const sound = await recording?.end();
    if (sound) take(talk, [new File([sound], nameOf(t('voice.name'), sound.type, new Date()), { type: sound.type })]);
  };
  const cancel = () => {
    going?.cancel();
    setGoing(null);
    announce(t('voice.cancelled'));
  };
  if (going) return <Bar onEnd={() => void end()} onCancel={cancel} />;
  return offered ? <Button kind="quiet" icon="microphone" label={t('voice.record')} onClick={() => void begin()} /> : null;
}

function Bar({ onEnd, onCancel }: { onEnd: () => void; onCancel: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const [since] = useState(() => performance.now());
  const [time, setTime] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTime(performance.now() - since), 250);
    box.current?.querySelector<HTMLElement>('.primary')?.focus();
    return () => {
      clearInterval(timer);
      const field = box.current?.closest('form')?.querySelector('textarea');
      if (box.current?.contains(document.activeElement)) field?.focus();
    };
  }, []);
  return (
    <div
      ref={box}
      class="voice"
      role="group"
      aria-label={t('voice.going')}
      onKeyDown={(e) => {
        if (e.key !== 'Escape') return;
        e.preventDefault();
        e.stopPropagation();
        onCancel();
      }}
    >
      <Button kind="quiet" icon="trash" label={t('voice.cancel')} onClick={onCancel} />
      <p class="state">
        <span class="dot" aria-hidden="true" /> {t('voice.going')}
      </p>
      <span class="time" role="timer" dir="ltr">
        {clock(time)}
      </span>
      <Button kind="primary" icon="check" onClick={onEnd}>
        {t('voice.end')}
      </Button>
    </div>
  );
}

// clock is a span of time as a player shows it: "1:05".
const clock = (ms: number) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`;

function whyNot(problem: unknown): string {
  switch (problem instanceof DOMException ? problem.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return t('voice.refused');
    case 'NotFoundError':
      return t('voice.none');
    default:
      return t('voice.failed');
  }
}
