/** Every error that the relay answers with, its status, and the routes that can return it. */
import type { Access, Route } from './route-table.ts';

/** The status of each error. A test checks it against the errors in the source. */
export const errorStatus: Readonly<Record<string, number>> = {
  invalid_client: 400,
  invalid_decision: 400,
  invalid_json: 400,
  invalid_last_event_id: 400,
  invalid_request: 400,
  invalid_request_id: 400,
  invalid_session_code: 400,
  missing_request_id: 400,
  missing_result_or_error: 400,
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  host_not_allowed: 403,
  origin_not_allowed: 403,
  wrong_side: 403,
  approval_not_found: 404,
  not_found: 404,
  request_not_found: 404,
  session_not_found: 404,
  method_not_allowed: 405,
  version_not_acceptable: 406,
  request_timeout: 408,
  already_paired: 409,
  no_tools_registered: 409,
  request_id_conflict: 409,
  session_expired: 410,
  payload_too_large: 413,
  too_many_tools: 413,
  unsupported_media_type: 415,
  registration_failed: 422,
  upgrade_required: 426,
  rate_limit_exceeded: 429,
  internal_server_error: 500,
  missing_dependency: 501,
  busy: 503,
  shutting_down: 503,
  store_unavailable: 503,
};

/** The values of `code` that are not values of `error`. */
export const rateLimitCodes = [
  'SESSION_RATE_LIMIT',
  'PAIR_RATE_LIMIT',
  'TICKET_RATE_LIMIT',
  'REQUEST_RATE_LIMIT',
  'RESPONSE_RATE_LIMIT',
  'PROGRESS_RATE_LIMIT',
  'UPDATE_RATE_LIMIT',
  'METADATA_RATE_LIMIT',
  'READ_RATE_LIMIT',
  'STREAM_RATE_LIMIT',
  'MCP_RATE_LIMIT',
] as const;

const ofAll = [
  'host_not_allowed',
  'origin_not_allowed',
  'method_not_allowed',
  'internal_server_error',
  'shutting_down',
];
const ofBodies = [
  'invalid_json',
  'invalid_request',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
];
const ofSide = ['unauthorized', 'wrong_side', 'session_not_found', 'session_expired'];
const ofAccess: Readonly<Record<Access, readonly string[]>> = {
  anyone: [],
  creator: ['unauthorized', 'forbidden'],
  operator: ['unauthorized', 'forbidden', 'not_found'],
  host: ['unauthorized', 'forbidden', 'not_found', 'session_not_found', 'session_expired'],
  application: ofSide,
  agent: ofSide,
  either: ofSide,
};
const ofRoute: Readonly<Partial<Record<Route['name'], readonly string[]>>> = {
  create: ['rate_limit_exceeded', 'busy'],
  pair: ['not_found', 'session_not_found', 'already_paired', 'rate_limit_exceeded', 'busy'],
  extend: ['busy'],
  ticket: ['rate_limit_exceeded'],
  'register-tools': [
    'validation_error',
    'too_many_tools',
    'registration_failed',
    'rate_limit_exceeded',
    'busy',
  ],
  'update-tools': [
    'validation_error',
    'no_tools_registered',
    'too_many_tools',
    'rate_limit_exceeded',
    'busy',
  ],
  stream: ['invalid_request', 'invalid_last_event_id', 'invalid_client', 'rate_limit_exceeded'],
  events: ['invalid_request', 'invalid_last_event_id', 'invalid_client', 'rate_limit_exceeded'],
  agent: ['upgrade_required', 'invalid_last_event_id', 'invalid_client', 'rate_limit_exceeded'],
  response: [
    'missing_request_id',
    'missing_result_or_error',
    'request_not_found',
    'rate_limit_exceeded',
  ],
  progress: ['missing_request_id', 'request_not_found', 'rate_limit_exceeded'],
  request: ['invalid_request_id', 'request_id_conflict', 'rate_limit_exceeded'],
  'request-status': ['request_not_found', 'rate_limit_exceeded'],
  'request-cancel': ['request_not_found', 'rate_limit_exceeded', 'busy'],
  approval: ['invalid_decision', 'approval_not_found'],
  metadata: ['version_not_acceptable', 'rate_limit_exceeded'],
  mcp: ['rate_limit_exceeded', 'missing_dependency'],
};

/** The errors that a route can return. */
export function errorsOf({ name, path, access, body }: Route): readonly string[] {
  const ofCode = path.includes('/:code') ? ['invalid_session_code', 'store_unavailable'] : [];
  const ofStore = name === 'create' ? ['store_unavailable'] : [];
  return [
    ...new Set([
      ...ofAll,
      ...ofCode,
      ...ofStore,
      ...ofAccess[access],
      ...(body === undefined ? [] : ofBodies),
      ...(ofRoute[name] ?? []),
    ]),
  ];
}
