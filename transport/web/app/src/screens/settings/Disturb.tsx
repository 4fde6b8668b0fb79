// Not being disturbed for a while, and what notifications show.

import { patch } from '../../api';
import type { Preferences, Reached } from '../../types';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Check } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { rich, t } from '../../words';
import { tomorrow } from './times';

export const change = (what: object) => patch<Preferences>('/api/me/notifications', what);

export function Disturb({ of: { preferences }, onChanged }: { of: Reached; onChanged: () => void }) {
  const until = preferences.disturb_at ?? '';
  const quiet = until > new Date().toISOString();
  const set = (what: object) => void change(what).then(onChanged, failed);
  const rest = (seconds: number) => set({ do_not_disturb_s: seconds });
  return (
    <Section title={t('disturb.title')}>
      <div class="stack narrow">
        {quiet && <p role="status">{rich('disturb.until', { time: <Time at={until} as="end" /> })}</p>}
        <div class="line" role="group" aria-label={t('disturb.title')}>
          <Button onClick={() => rest(3600)}>{t('disturb.hour')}</Button>
          <Button onClick={() => rest(Math.round((tomorrow(new Date()).getTime() - Date.now()) / 1000))}>{t('disturb.tomorrow')}</Button>
          {quiet && (
            <Button kind="primary" onClick={() => rest(0)}>
              {t('disturb.end')}
            </Button>
          )}
        </div>
        <Check label={t('disturb.preview')} hint={t('disturb.preview.hint')} checked={preferences.preview !== 'none'} onValue={(on) => set({ preview: on ? '' : 'none' })} />
      </div>
    </Section>
  );
}
