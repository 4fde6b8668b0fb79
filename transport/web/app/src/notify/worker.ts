// What the service worker does with a push: it shows what came in a room as one notification,
// and closes it once that was read elsewhere.

// Told is what the server pushes (package person, Notification).
export interface Told {
  v: number;
  what: 'message' | 'close' | 'reminder';
  tenant_id: string;
  room_id?: string;
  room_seq?: number;
  msg_id?: string;
  count?: number;
  title?: string;
  author?: string;
  text?: string;
}

interface Shown {
  seq: number;
  url: string;
}

const version = 1;

// read is a push that this worker knows, null for any other.
export function read(data: { text(): string } | null): Told | null {
  try {
    const told = JSON.parse(data?.text() ?? '') as Told;
    return told.v === version ? told : null;
  } catch {
    return null;
  }
}

// tagOf is one for each room, so that a newer notification takes the place of the one before.
export function tagOf(told: Told): string {
  return `${told.tenant_id} ${told.what === 'reminder' ? `reminder ${told.msg_id ?? ''}` : (told.room_id ?? '')}`;
}

// linesOf are the title and the text. Where the person wants no preview they say that there is
// something, and no more.
export function linesOf(told: Told): { title: string; body: string } {
  if (told.what === 'reminder') return { title: told.title ? `Reminder: ${told.title}` : 'Reminder', body: told.text ?? '' };
  const count = told.count ?? 1;
  if (!told.author) return { title: 'UBL', body: count > 1 ? `${count} new messages` : 'New message' };
  const more = count > 1 ? ` (${count} new)` : '';
  const alone = told.title === told.author; // direct messages: the title says who
  return { title: `${told.title ?? ''}${more}`, body: !told.text ? `${told.author} sent something` : alone ? told.text : `${told.author}: ${told.text}` };
}

function urlOf(told: Told): string {
  return told.room_id ? `/ui/rooms/${encodeURIComponent(told.room_id)}` : '/ui/';
}

// arrived shows or closes what a push tells of. One that comes late changes nothing.
export async function arrived(worker: ServiceWorkerGlobalScope, data: { text(): string } | null): Promise<void> {
  const told = read(data);
  if (!told) return worker.registration.showNotification('UBL', { body: 'Something new', tag: 'unknown' });
  const tag = tagOf(told);
  const shown = await worker.registration.getNotifications({ tag });
  const seq = told.room_seq ?? 0;
  if (told.what === 'close') {
    for (const n of shown) if ((n.data as Shown).seq <= seq) n.close();
    return;
  }
  if (told.what === 'message' && shown.some((n) => (n.data as Shown).seq > seq)) return;
  const { title, body } = linesOf(told);
  await worker.registration.showNotification(title, { body, tag, icon: '/ui/apple-touch-icon.png', data: { seq, url: urlOf(told) } satisfies Shown });
}

// opened brings the app to the room, in a window that is there or a new one.
export async function opened(worker: ServiceWorkerGlobalScope, notification: Notification): Promise<void> {
  notification.close();
  const url = new URL((notification.data as Shown | null)?.url ?? '/ui/', worker.location.origin).href;
  for (const client of await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })) {
    if (new URL(client.url).origin === worker.location.origin && 'navigate' in client) {
      await client.focus();
      await client.navigate(url);
      return;
    }
  }
  await worker.clients.openWindow(url);
}
