// When a component is drawn again that memo has made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memo } from '../src/ui/memo';

interface Props {
  item: object;
  fresh?: boolean;
}

test('a component is drawn again for another prop, one more or one less, and not for the same ones', () => {
  const Row = memo<Props>(() => null);
  const [item, other] = [{ seq: 1 }, { seq: 1 }];
  const rows: [now: Props, next: Props, again: boolean][] = [
    [{ item }, { item }, false],
    [{ item, fresh: true }, { item, fresh: true }, false],
    [{ item }, { item: other }, true],
    [{ item, fresh: true }, { item, fresh: false }, true],
    [{ item }, { item, fresh: true }, true],
    [{ item, fresh: true }, { item }, true],
  ];
  for (const [now, next, again] of rows) assert.equal(new Row(now).shouldComponentUpdate(next), again);
});
