// What mails tell one of, where the server sends any, and in which language.

import type { MailLevel, Reached } from '../../types';
import { Button } from '../../ui/Button';
import { Check, Choice, Select } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { language, t } from '../../words';
import { languages, type Language } from '../../words/locale';
import { change } from './Disturb';

const levels: readonly MailLevel[] = ['mentions', 'always', 'daily', 'off'];
const tongues = (Object.keys(languages) as Language[]).map((value) => ({ value, label: languages[value].name }));

export function Mail({ of: { mail, preferences }, onChanged }: { of: Reached; onChanged: () => void }) {
  if (!mail) return null;
  const level = preferences.mail || 'mentions';
  const set = (what: object) => void change(what).then(onChanged, failed);
  return (
    <Section title={t('mail.title')}>
      <div class="stack narrow">
        <p class="hint">{mail.address ? t('mail.to', { address: mail.address }) : t('mail.unproven')}</p>
        {mail.failed && (
          <>
            <p class="problem" role="status">
              {t('mail.failed', { address: mail.failed.address })}
            </p>
            <Button onClick={() => set({ mail: level })}>{t('do.retry')}</Button>
          </>
        )}
        <Choice<MailLevel> label={t('mail.level')} value={level} options={levels.map((value) => ({ value, label: t(`mail.level.${value}`) }))} onValue={(value) => set({ mail: value })} many />
        {level !== 'off' && (
          <>
            <Check label={t('mail.text')} hint={t('mail.text.hint')} checked={preferences.mail_text ?? false} onValue={(on) => set({ mail_text: on })} />
            <Select<Language> label={t('mail.language')} value={preferences.language || language.value} options={tongues} onValue={(value) => set({ language: value })} />
          </>
        )}
      </div>
    </Section>
  );
}
