// The language of the app, and the locale that numbers and times are written by. It is
// apart from the texts, which pages without them (src/views) don't need.

export const languages = {
  en: { name: 'English', dir: 'ltr' },
  de: { name: 'Deutsch', dir: 'ltr' },
  es: { name: 'Español', dir: 'ltr' },
  ar: { name: 'العربية', dir: 'rtl' },
} as const;

export type Language = keyof typeof languages;

export const isLanguage = (name: unknown): name is Language => typeof name === 'string' && Object.hasOwn(languages, name);

const base = (tag: string) => tag.split('-')[0]!.toLowerCase();
const asked = (): readonly string[] => globalThis.navigator?.languages ?? [];

// preferred is the first language of the browser's that there are texts in.
export const preferred = (wanted = asked()): Language => wanted.map(base).find(isLanguage) ?? 'en';

let tag: string | undefined;

// locale is what Intl goes by, with the person's region where the browser names one for the
// language: 'en-GB'. Undefined is the machine's.
export const locale = () => tag;

// localise sets it. words/index.ts does, which has the texts.
export function localise(language: Language, wanted = asked()): void {
  tag = wanted.find((one) => base(one) === language) ?? language;
}
