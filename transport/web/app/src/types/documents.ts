import type { Physics } from './agreements';
import type { ImportedFrom, Receipt } from './ledger';

export interface Container {
  container_id: string;
  kind: string;
  name: string;
  physics: Physics;
  created_at: string;
  alike?: true; // in lists: another one's name looks the same
  // Who owns it once its last owner is gone. Lists don't say.
  heir?: string;
  // These lists don't say either. Credits in transit have left, and nobody knows yet that they arrived.
  balance?: number;
  in_transit?: number;
  agreement_id?: string;
}

// Document is one version; content is there where one document was asked for.
export interface Document {
  document_id: string;
  workspace_id: string;
  tenant_id: string;
  title: string;
  content?: string;
  content_hash: string;
  bytes: number;
  version: number;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
  deleted?: boolean;
  imported_from?: ImportedFrom; // of this version
  published?: Published; // as what, where it has a source outside: it is changed there
  files?: HeldFile[]; // that the document holds, where one was asked for
  receipt: Receipt;
}

export interface Published {
  type: string;
  id: string;
  path: string; // of its file in the source
  metadata: Record<string, unknown>;
  commit?: string;
}

export interface HeldFile {
  file_id: string;
  name: string;
  content_type: string;
  bytes: number;
}

export interface DocumentHit extends Document {
  score: number;
  snippet: string;
  highlights?: { start: number; end: number }[];
  offset?: number;
  under?: string;
}
