// The shapes of what the server answers and streams, after schemas/*.json. Ids,
// hashes and times are strings: "r:general", "c:<64 hex>", "2026-01-31T12:00:00.000Z".

export * from './agents';
export * from './agreements';
export * from './answers';
export * from './cluster';
export * from './documents';
export * from './ledger';
export * from './notifications';
export * from './people';
export * from './forms';
export * from './polls';
export * from './portal';
export * from './rooms';
export * from './search';
