// Quiet hours: from when to when, on which days, by which clock.

import { useState } from 'preact/hooks';
import type { QuietHours } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Check, Field } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { locale } from '../../words/locale';
import { t } from '../../words';
import { change } from './Disturb';

const week = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

// called is a day's name: 1 January 2024 was a Monday.
const called = (i: number) => new Intl.DateTimeFormat(locale(), { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + i));

export function Quiet({ of, onChanged }: { of: QuietHours | undefined; onChanged: () => void }) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [from, setFrom] = useState(of?.from ?? '22:00');
  const [to, setTo] = useState(of?.to ?? '07:00');
  const [zone, setZone] = useState(of?.zone ?? here);
  const [days, setDays] = useState<readonly string[]>(of?.days?.length ? of.days : week);
  const act = useAct();
  const save = async (quiet: object) => {
    const saved = await act.run(() => change({ quiet }));
    if (!saved) return;
    toast(t('quiet.saved'));
    onChanged();
  };
  const wanted = { from, to, zone: zone.trim(), days: days.length === week.length ? [] : week.filter((d) => days.includes(d)) };
  return (
    <Section title={t('quiet.title')}>
      <div class="stack narrow">
        <Check label={t('quiet.on')} hint={t('quiet.hint')} checked={of !== undefined} disabled={act.busy} onValue={(on) => void save(on ? wanted : {})} />
        {of && (
          <form
            class="stack"
            onSubmit={(e) => {
              e.preventDefault();
              void save(wanted);
            }}
          >
            <Field label={t('quiet.from')} type="time" value={from} onValue={setFrom} required />
            <Field label={t('quiet.to')} type="time" value={to} onValue={setTo} required />
            <fieldset class="choice">
              <legend>{t('quiet.days')}</legend>
              <div class="days">
                {week.map((day, i) => (
                  <Check key={day} label={called(i)} checked={days.includes(day)} onValue={(on) => setDays(on ? [...days, day] : days.filter((d) => d !== day))} />
                ))}
              </div>
            </fieldset>
            <Field label={t('quiet.zone')} value={zone} onValue={setZone} maxLength={64} autoComplete="off" required />
            <Problem of={act.problem} />
            <Button kind="primary" type="submit" busy={act.busy} disabled={days.length === 0}>
              {t('do.save')}
            </Button>
          </form>
        )}
        {!of && <Problem of={act.problem} />}
      </div>
    </Section>
  );
}
