import { chosen, contrast, enter, size, sizes, theme, type Enter, type Size, type Theme } from '../../device';
import { Check, Choice, Select } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { t } from '../../words';
import { languages, preferred, type Language } from '../../words/locale';

// Appearance is how this device shows the app, and what Enter does here.
export function Appearance() {
  const themes = [
    { value: 'auto', label: t('settings.auto') },
    { value: 'light', label: t('settings.theme.light') },
    { value: 'dark', label: t('settings.theme.dark') },
  ] as const;
  const enters = [
    { value: 'auto', label: t('settings.enter.auto') },
    { value: 'send', label: t('settings.enter.send') },
    { value: 'break', label: t('settings.enter.break') },
  ] as const;
  const tongues: { value: Language | 'auto'; label: string }[] = [
    { value: 'auto', label: t('settings.language.auto', { name: languages[preferred()].name }) },
    ...Object.entries(languages).map(([value, { name }]) => ({ value: value as Language, label: name })),
  ];
  return (
    <>
      <Section title={t('settings.appearance')}>
        <div class="stack narrow">
          <Choice<Theme> label={t('settings.theme')} value={theme.value} options={themes} onValue={(value) => (theme.value = value)} />
          <Check label={t('settings.contrast')} hint={t('settings.contrast.hint')} checked={contrast.value === 'more'} onValue={(on) => (contrast.value = on ? 'more' : 'auto')} />
          <Select<Size> label={t('settings.size')} value={size.value} options={sizes.map((value) => ({ value, label: t('settings.size.percent', { n: Number(value) }) }))} onValue={(value) => (size.value = value)} />
          <Select<Language | 'auto'> label={t('settings.language')} value={chosen.value} options={tongues} onValue={(value) => (chosen.value = value)} />
        </div>
      </Section>
      <Section title={t('settings.writing')}>
        <div class="narrow">
          <Choice<Enter> label={t('settings.enter')} hint={t('settings.enter.hint')} value={enter.value} options={enters} onValue={(value) => (enter.value = value)} />
        </div>
      </Section>
    </>
  );
}
