// What the build makes of the catalogues (words.mjs).
declare module 'words:*' {
  const texts: Readonly<Record<string, import('./format').Compiled>>;
  export default texts;
}
