// Range is some rows: the first, and the one behind the last.
export type Range = readonly [from: number, to: number];

// Heights knows where each row of a long list stands: measured where it was seen,
// estimated where it wasn't.
export class Heights {
  private measured = new Map<string, number>();
  private tops = new Float64Array(1); // tops[i] is where row i begins, the last one the total
  private keys: readonly string[] = [];

  constructor(private readonly estimate: number) {}

  // lay takes the keys of all rows, in order.
  lay(keys: readonly string[]): void {
    this.keys = keys;
    this.tops = new Float64Array(keys.length + 1);
    for (let i = 0; i < keys.length; i++) this.tops[i + 1] = this.tops[i]! + (this.measured.get(keys[i]!) ?? this.estimate);
  }

  // measure takes heights as they are, in pixels, and tells whether any was news.
  measure(rows: Iterable<readonly [key: string, height: number]>): boolean {
    let news = false;
    for (const [key, height] of rows) {
      if (height === 0 || this.measured.get(key) === height) continue; // 0 is a list that isn't shown
      this.measured.set(key, height);
      news = true;
    }
    if (news) this.lay(this.keys);
    return news;
  }

  get total(): number {
    return this.tops[this.keys.length]!;
  }

  top(index: number): number {
    return this.tops[Math.max(0, Math.min(index, this.keys.length))]!;
  }

  // at is the index of the row at a height, the nearest one beyond the ends.
  at(y: number): number {
    let low = 0;
    let high = this.keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle]! <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // between is the rows from one height to another.
  between(top: number, bottom: number): Range {
    return this.keys.length === 0 ? [0, 0] : [this.at(top), this.at(bottom) + 1];
  }

  // moved is a range as it is to be now, when the keys stood from a row on before: it
  // goes with the first of them that is still there, and is empty when none is.
  moved([low, high]: Range, from: number, keys: readonly string[]): Range {
    for (const [i, key] of keys.entries()) {
      const index = this.indexOf(key);
      if (index < 0) continue;
      const by = index - (from + i);
      return [Math.max(0, low + by), Math.max(0, high + by)];
    }
    return [0, 0];
  }

  indexOf(key: string): number {
    return this.keys.indexOf(key);
  }

  key(index: number): string | undefined {
    return this.keys[index];
  }
}
