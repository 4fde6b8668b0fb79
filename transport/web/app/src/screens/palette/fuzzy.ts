// Which names a few letters mean, and how well.

// score says how well a name has the letters of a word in their order: higher is better, 0 is
// not at all. Letters at the beginning of words and in a row count for more, and short names
// before long ones.
export function score(name: string, word: string): number {
  const letters = plain(word).replace(/\s+/g, '');
  if (letters === '') return 1;
  const text = plain(name);
  const whole = text.indexOf(plain(word).trim());
  if (whole === 0) return 1000 - text.length;
  if (whole > 0) return (begins(text, whole) ? 800 : 500) - text.length;
  let points = 0;
  for (let i = 0, at = -1; i < letters.length; i++) {
    const wordly = findBegin(text, letters[i]!, at + 1);
    const next = text[at + 1] === letters[i] ? at + 1 : wordly >= 0 ? wordly : text.indexOf(letters[i]!, at + 1);
    if (next < 0) return 0;
    points += next === at + 1 ? 8 : begins(text, next) ? 6 : 1;
    at = next;
  }
  return Math.max(1, 100 + points - text.length);
}

const begins = (text: string, at: number) => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!);

function findBegin(text: string, letter: string, from: number): number {
  for (let at = text.indexOf(letter, from); at >= 0; at = text.indexOf(letter, at + 1)) if (begins(text, at)) return at;
  return -1;
}

// plain has no accents and capitals: "Zoë" is found by "zoe".
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase();

// best are the n things whose names mean a word the most, in that order.
export function best<T>(all: Iterable<T>, word: string, nameOf: (of: T) => string, n: number): T[] {
  const found: { of: T; points: number }[] = [];
  for (const of of all) {
    const points = score(nameOf(of), word);
    if (points > 0) found.push({ of, points });
  }
  return found.sort((a, b) => b.points - a.points).slice(0, n).map(({ of }) => of);
}
