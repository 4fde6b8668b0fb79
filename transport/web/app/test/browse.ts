// What the screens of the ledger ask for, answered from a ledger of a test.
import type { Ledger } from './ledger';

// serve answers GET /api/ledger/head and GET /api/atoms for the rest of the test, as
// the server does, and tells which URLs were asked for.
export function serve(t: { after: (f: () => void) => void }, ledger: Ledger): string[] {
  const asked: string[] = [];
  const before = globalThis.fetch;
  t.after(() => void (globalThis.fetch = before));
  globalThis.fetch = async (input) => {
    const url = new URL(String(input), 'http://test');
    asked.push(url.pathname + url.search);
    const head = { seq: ledger.seq, head_hash: ledger.head };
    if (url.pathname === '/api/ledger/head') return Response.json(head);
    const from = Number(url.searchParams.get('from') ?? 1);
    const limit = Number(url.searchParams.get('limit') ?? 100);
    if (url.pathname !== '/api/atoms' || from < 1 || limit < 1 || limit > 500) return Response.json({ error: { code: 'validation_error', message: 'no' } }, { status: 400 });
    return Response.json({ from, atoms: ledger.atoms.slice(from - 1, from - 1 + limit), head, next_cursor: null });
  };
  return asked;
}

// talk makes a ledger of n messages, which are 2n atoms.
export async function talk(ledger: Ledger, n: number): Promise<Ledger> {
  const from = ledger.seq / 2;
  for (let i = 1; i <= n; i++) await ledger.say({ room_id: 'r:a', room_seq: from + i, sender_id: 'u:ana', text: `message ${from + i}` });
  return ledger;
}
