// Answered is beside the body in every answer under /api.
export interface Answered {
  request_id: string;
  server_time: string;
}

// ErrorCode is the server's table of error codes, and "offline" for no answer at all.
export type ErrorCode =
  | 'validation_error'
  | 'unauthorized'
  | 'forbidden'
  | 'not_a_member'
  | 'origin_not_allowed'
  | 'confirmation_required'
  | 'declined'
  | 'not_found'
  | 'unknown_tool'
  | 'method_not_allowed'
  | 'conflict'
  | 'idempotency_conflict'
  | 'precondition_failed'
  | 'cancelled'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal'
  | 'overloaded'
  | 'unavailable'
  | 'quota_exceeded'
  | 'offline';
