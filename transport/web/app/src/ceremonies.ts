// The ceremonies of WebAuthn, which make a passkey and use one: the server speaks JSON with
// base64url, browsers want buffers.

import { post } from './api';
import type { Passkey } from './types';
import { t } from './words';

type Json = Record<string, any>;

// signInWithPasskey asks this device for a passkey of this server.
export const signInWithPasskey = () => use('/auth/passkeys/login');

// confirmWithPasskey asks for one of those of who is signed in.
export const confirmWithPasskey = () => use('/auth/confirm/passkey');

// unused puts words in the place of NotAllowedError, by which browsers mean "cancelled" as
// well as "there is none".
function unused(problem: Error): never {
  throw problem.name === 'NotAllowedError' ? new Error(t('passkey.none')) : problem;
}

async function use(ceremony: string): Promise<void> {
  const { publicKey } = await post<{ publicKey: Json }>(`${ceremony}/begin`);
  const credential = await navigator.credentials.get({ publicKey: requestOptions(publicKey) }).then((found) => found as PublicKeyCredential | null, unused);
  if (!credential) throw new Error(t('passkey.none'));
  const r = credential.response as AuthenticatorAssertionResponse;
  await post(`${ceremony}/finish`, {
    ...common(credential),
    response: {
      clientDataJSON: encode(r.clientDataJSON),
      authenticatorData: encode(r.authenticatorData),
      signature: encode(r.signature),
      ...(r.userHandle && { userHandle: encode(r.userHandle) }),
    },
  });
}

// addPasskey makes a passkey on this device for who is signed in.
export async function addPasskey(name: string): Promise<Passkey> {
  const { publicKey } = await post<{ publicKey: Json }>('/auth/passkeys/register/begin');
  const credential = (await navigator.credentials.create({ publicKey: creationOptions(publicKey) }).catch(unmade)) as PublicKeyCredential | null;
  if (!credential) throw new Error(t('passkey.notmade'));
  const r = credential.response as AuthenticatorAttestationResponse;
  const { passkey } = await post<{ passkey: Passkey }>('/auth/passkeys/register/finish', {
    name,
    credential: {
      ...common(credential),
      response: { clientDataJSON: encode(r.clientDataJSON), attestationObject: encode(r.attestationObject), transports: r.getTransports?.() ?? [] },
    },
  });
  return passkey;
}

// unmade puts what browsers say into words: most say little on purpose.
function unmade(problem: unknown): never {
  switch ((problem as Error).name) {
    case 'NotAllowedError':
      throw new Error(t('passkey.notmade'));
    case 'InvalidStateError':
      throw new Error(t('passkey.already'));
  }
  throw problem;
}

function common(c: PublicKeyCredential): Json {
  return {
    id: c.id,
    rawId: encode(c.rawId),
    type: c.type,
    authenticatorAttachment: c.authenticatorAttachment ?? undefined,
    clientExtensionResults: c.getClientExtensionResults(),
  };
}

function requestOptions(o: Json): PublicKeyCredentialRequestOptions {
  return { ...o, challenge: decode(o.challenge), allowCredentials: o.allowCredentials?.map(described) };
}

function creationOptions(o: Json): PublicKeyCredentialCreationOptions {
  return {
    ...o,
    rp: o.rp,
    pubKeyCredParams: o.pubKeyCredParams,
    challenge: decode(o.challenge),
    user: { ...o.user, id: decode(o.user.id) },
    excludeCredentials: o.excludeCredentials?.map(described),
  };
}

const described = (c: Json) => ({ ...c, type: 'public-key' as const, id: decode(c.id) });

function encode(buffer: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function decode(text: string): ArrayBuffer {
  const raw = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(raw, (c) => c.charCodeAt(0)).buffer;
}
