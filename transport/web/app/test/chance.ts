// Random inputs that a seed repeats: a failing property names its seed.

export class Chance {
  constructor(private state: number) {}

  // next is from 0 up to 1 (mulberry32).
  next = (): number => {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  hit(share: number): boolean {
    return this.next() < share;
  }
}

// property runs a check with many seeds, or with the one in SEED.
export async function property(times: number, check: (chance: Chance) => void | Promise<void>): Promise<void> {
  const only = process.env.SEED;
  for (let seed = Number(only ?? 1); seed <= (only ? Number(only) : times); seed++) {
    try {
      await check(new Chance(seed));
    } catch (err) {
      throw new Error(`with SEED=${seed}: ${err instanceof Error ? err.message : err}`, { cause: err });
    }
  }
}
