// marks.ts finds what of a text a search matched, by the server's rules: all words of
// the query, without regard to case and accents, and a beginning where one ends in *.

// Piece is a part of a text; hit where the search matched it.
export interface Piece {
  text: string;
  hit: boolean;
}

const word = /[\p{L}\p{N}\p{M}_]+/gu;

// marks takes a text apart into what was matched and what wasn't.
export function marks(text: string, query: string): Piece[] {
  const wanted = terms(query);
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(word)) {
    if (!wanted.some((matches) => matches(fold(found[0])))) continue;
    if (found.index > end) pieces.push({ text: text.slice(end, found.index), hit: false });
    pieces.push({ text: found[0], hit: true });
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hit: false });
  return pieces;
}

function terms(query: string): ((folded: string) => boolean)[] {
  return query.split('"').flatMap((part, i) => {
    const quoted = i % 2 === 1;
    return part.split(/\s+/).flatMap((term) => {
      const begins = !quoted && term.endsWith('*');
      const all = term.match(word)?.map(fold) ?? [];
      return all.map((w, n) => (folded: string) => (begins && n === all.length - 1 ? folded.startsWith(w) : folded === w));
    });
  });
}

const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
