// words.ts says in words what an act did: "messenger.send" is "sent a message".

import type { Action } from '../../types';

const said: Record<string, string> = {
  'messenger.send': 'sent a message',
  'messenger.edit': 'edited a message',
  'messenger.react': 'reacted to a message',
  'messenger.redact': 'took the content of an entry away',
  'messenger.search': 'searched messages',
  'messenger.open_direct': 'opened direct messages',
  'messenger.pin': 'pinned a message, or no longer',
  'messenger.poll.create': 'asked the room in a poll',
  'messenger.poll.vote': 'voted in a poll',
  'messenger.poll.end': 'ended a poll',
  'tenant.create': 'founded the tenant',
  'tenant.join': 'joined the tenant',
  'tenant.update': 'changed the tenant’s defaults',
  'tenant.member.update': 'set a member’s name or role',
  'tenant.member.prove': 'proved their mail address',
  'tenant.member.remove': 'removed a member',
  'tenant.invitation.create': 'invited somebody',
  'tenant.invitation.revoke': 'took an invitation back',
  'agreement.heir': 'gave a sealed place to an heir',
  'agreement.heir.set': 'named an heir',
  'tenant.domain.claim': 'claimed a mail domain',
  'tenant.domain.verify': 'verified a mail domain',
  'tenant.domain.release': 'released a mail domain',
  'tenant.invitation.accept': 'accepted an invitation',
  'room.create': 'made a room',
  'room.describe': 'changed a room’s name, topic or description',
  'room.join': 'joined a room',
  'room.invite': 'added somebody to a room',
  'room.member.update': 'changed a role in a room',
  'room.remove': 'removed somebody from a room',
  'room.leave': 'left a room',
  'room.update': 'changed a room’s policy',
  'room.trim': 'let old messages go',
  'agreement.propose': 'proposed terms of an Agreement',
  'agreement.accept': 'accepted terms of an Agreement',
  'agreement.withdraw': 'took proposed terms back',
  'agreement.end': 'ended an Agreement',
  'kind.set': 'wrote a kind of containers',
  'kind.remove': 'removed a kind of containers',
  'token.create': 'made a service token',
  'token.renew': 'renewed a service token',
  'token.revoke': 'revoked a service token',
  'token.mandate': 'said what an agent may do',
  'tenant.agent.connect': 'connected an agent',
  'tenant.agent.redeem': 'let an agent in',
  'tenant.agent.refresh': 'gave an agent another token',
  'tool.access': 'set who may use a tool',
  'portal.tool.deny': 'was refused a tool',
  'portal.tool.approve': 'approved a tool’s definition',
  'portal.server.add': 'added a server',
  'portal.server.update': 'changed a server',
  'portal.server.remove': 'removed a server',
  'portal.server.sync': 'asked a server for its tools',
  'portal.server.connect': 'signed in to a server, or out of it',
  'portal.call': 'used a tool of another server',
  'portal.budget.update': 'changed the budget',
  'deadletter.redrive': 'had something tried again',
  'deadletter.discard': 'gave up something that had failed',
  'office.tool.call': 'used a tool',
  'office.llm.complete': 'asked a model',
  'office.workspace.list': 'looked through the workspaces',
  'office.workspace.create': 'made a workspace',
  'office.document.list': 'looked through documents',
  'office.document.search': 'searched documents',
  'office.document.get': 'read a document',
  'office.document.versions': 'looked at a document’s versions',
  'office.document.create': 'wrote a document',
  'office.document.update': 'wrote a document’s next version',
  'office.document.delete': 'deleted a document',
  'office.file.put': 'put a file into a workspace',
  'office.file.get': 'read a file',
  'office.file.list': 'looked through files',
  'office.file.remove': 'removed a file',
  'office.file.collect': 'cleared contents that no file has any more',
  'container.create': 'made a container',
  'container.join': 'joined a container',
  'container.invite': 'added somebody to a container',
  'container.member.update': 'changed a role in a container',
  'container.remove': 'removed somebody from a container',
  'container.leave': 'left a container',
  'container.redact': 'took what was deleted out of what is stored',
  'container.transfer': 'sent something to another container',
  'container.receive': 'took something in from another container',
  'credits.issue': 'issued credits',
  'passkey.register': 'added a passkey',
  'passkey.use': 'signed in with a passkey',
  'passkey.remove': 'removed a passkey',
  'platform.token.create': 'signed in',
  'platform.token.renew': 'stayed signed in',
  'platform.token.revoke': 'ended a session',
  'platform.token.revoke_all': 'signed out everywhere',
  'platform.link.create': 'made a sign-in link',
  'platform.home.set': 'chose the tenant of a person',
  'platform.start': 'started the server',
  'platform.stop': 'stopped the server',
  'platform.key.create': 'made the server’s key',
  'platform.key.rotate': 'rotated the server’s key',
  'platform.backup': 'backed the server up',
  'platform.restore': 'restored a backup',
  'platform.journal.loss': 'gave up what a damaged journal had lost',
  'platform.node.join': 'took a node in',
  'platform.node.remove': 'took a node out',
  'platform.secret.rotate': 'rotated the cluster’s secret',
};

// dids are all acts there are.
export const dids = Object.keys(said);

// inWords says what acts of a kind do. One that this app doesn't know stays as it is.
export const inWords = (did: string) => said[did] ?? did;

// saidOf says what somebody did: more than the kind of act, where the record tells more.
export function saidOf({ did, this: what, who }: Pick<Action, 'did' | 'this' | 'who'>): string {
  switch (did) {
    case 'tenant.member.update': {
      const part = typeof what.name === 'string' ? 'name' : 'role';
      const own = what.user_id === who.user_id;
      return own ? `changed their ${part}` : `set a member’s ${part}`;
    }
    case 'portal.server.connect':
      return what.connected === false ? 'signed out of a server' : 'signed in to a server';
  }
  return inWords(did);
}
