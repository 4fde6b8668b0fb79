// Has notifications reach this browser, or no longer. A screen of settings calls these; asking
// for permission needs a tap.

// Asks sends a request of the app's own, with its credentials, and returns the answer's body.
export type Asks = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<Record<string, unknown>>;

// possible says whether this browser can be reached at all.
export function possible(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
}

// subscribe returns the id of the device, or null where the person refuses.
export async function subscribe(ask: Asks, name: string): Promise<string | null> {
  if ((await Notification.requestPermission()) !== 'granted') return null;
  const { key } = await ask('POST', `/api/me/push-key`, {});
  const worker = await navigator.serviceWorker.ready;
  const wanted = bytesOf(String(key));
  let at = await worker.pushManager.getSubscription();
  if (at && !same(at.options.applicationServerKey, wanted)) {
    await at.unsubscribe(); // somebody else's, who used this browser before
    at = null;
  }
  at ??= await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: wanted });
  const { endpoint, keys } = at.toJSON();
  const device = await ask('POST', `/api/me/devices`, { name, endpoint, p256dh: keys?.p256dh, auth: keys?.auth });
  return String(device.device_id);
}

// unsubscribe ends it on the server first: a browser that forgot would be pushed to for nothing.
export async function unsubscribe(ask: Asks, device: string): Promise<void> {
  await ask('DELETE', `/api/me/devices/${encodeURIComponent(device)}`);
  const worker = await navigator.serviceWorker.ready;
  await (await worker.pushManager.getSubscription())?.unsubscribe();
}

// bytesOf reads base64url.
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (c) => c.charCodeAt(0));
}

function same(a: ArrayBuffer | null, b: Uint8Array): boolean {
  const bytes = new Uint8Array(a ?? new ArrayBuffer(0));
  return bytes.length === b.length && bytes.every((x, i) => x === b[i]);
}
