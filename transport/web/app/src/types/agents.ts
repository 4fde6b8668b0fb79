export interface ServiceToken {
  client_id: string;
  name: string;
  user_id: string;
  created_at: string;
  created_by: string;
  kept_by?: string;
  ends_with?: string[]; // whose leaving ends it, or has ended it
  expires_at: string | null;
  revoked_at: string | null;
  mandate?: Mandate; // absent for one that is a member as others are
  client?: string; // the OAuth client that it was connected by
  resource?: string;
}

// What an agent may do, and no further: empty lists bound nothing.
export interface Mandate {
  sets: string[];
  tools: string[];
  read_only: boolean;
  places: string[];
  per_minute: number;
  confirm?: Confirm; // absent asks nobody
}

// Before which uses of tools by an agent a person is asked.
export type Confirm = 'destructive' | 'always';
