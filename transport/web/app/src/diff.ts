// diff.ts tells two texts apart, line by line and within lines word by word, for
// people to look at.

// Change is a stretch that both have, or that only the old or the new one has.
export interface Change {
  kind: 'same' | 'old' | 'new';
  parts: string[];
}

// most is how many differences are looked for. Texts with more have little in
// common, and are shown one after the other.
const most = 800;

// diff finds a shortest way from one sequence to another (Myers, 1986).
export function diff(before: readonly string[], after: readonly string[]): Change[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const changes: Change[] = [];
  add(changes, 'same', before.slice(0, start));
  middle(before.slice(start, before.length - end), after.slice(start, after.length - end), changes);
  add(changes, 'same', before.slice(before.length - end));
  return changes;
}

// lines cuts a text at its line breaks.
export const lines = (text: string) => (text === '' ? [] : text.split(/\r\n|\n|\r/));

// words cuts a line so that its pieces joined are the line again.
export const words = (line: string) => line.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu) ?? [];

function add(to: Change[], kind: Change['kind'], parts: readonly string[]) {
  if (parts.length === 0) return;
  const last = to.at(-1);
  if (last?.kind === kind) last.parts.push(...parts);
  else to.push({ kind, parts: [...parts] });
}

function middle(before: readonly string[], after: readonly string[], to: Change[]) {
  const trail = before.length && after.length ? search(before, after) : null;
  if (!trail) {
    add(to, 'old', before);
    add(to, 'new', after);
    return;
  }
  for (const [kind, part] of walk(before, after, trail)) add(to, kind, [part]);
}

// search goes one difference further at a time: reach[k] is how far the old text was
// read on diagonal k, which is the old place less the new one. It answers every round.
function search(before: readonly string[], after: readonly string[]): Map<number, number>[] | null {
  let reach = new Map([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let d = 0; d <= most; d++) {
    trail.push(reach);
    const next = new Map(reach);
    for (let k = -d; k <= d; k += 2) {
      let x = down(reach, k, d) ? next.get(k + 1)! : next.get(k - 1)! + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      next.set(k, x);
      if (x >= before.length && x - k >= after.length) return trail;
    }
    reach = next;
  }
  return null;
}

// down tells whether diagonal k was reached by a new part rather than an old one.
const down = (reach: Map<number, number>, k: number, d: number) => k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));

// walk goes the way back from the end, and answers it from the start.
function walk(before: readonly string[], after: readonly string[], trail: Map<number, number>[]): [Change['kind'], string][] {
  const way: [Change['kind'], string][] = [];
  let [x, y] = [before.length, after.length];
  for (let d = trail.length - 1; d >= 0; d--) {
    const k = x - y;
    const from = down(trail[d]!, k, d) ? k + 1 : k - 1;
    const [fromX, fromY] = [trail[d]!.get(from) ?? 0, (trail[d]!.get(from) ?? 0) - from];
    for (; x > Math.max(fromX, 0) && y > Math.max(fromY, 0); x--, y--) way.push(['same', before[x - 1]!]);
    if (d === 0) break;
    if (x === fromX) way.push(['new', after[--y]!]);
    else way.push(['old', before[--x]!]);
  }
  return way.reverse();
}
