/** Identifies the sender of a request. */
import type { HandlerSettings } from './options.ts';
import { refusal } from './refusal.ts';
import { rpcCodes } from './rpc.ts';

/** The principal, or 401. */
export async function authenticate(
  request: Request,
  settings: HandlerSettings,
): Promise<{ readonly principal: string | undefined } | Response> {
  if (settings.authenticate === undefined) return { principal: undefined };
  let principal: unknown;
  try {
    principal = await settings.authenticate(request);
  } catch (error) {
    settings.logFault(error, 'authenticate');
    settings.report(error);
  }
  if (typeof principal === 'string' && principal !== '') return { principal };
  const challenge = request.headers.has('authorization')
    ? 'Bearer error="invalid_token"'
    : 'Bearer';
  return refusal(401, rpcCodes.server, 'Authentication is needed.', {
    'WWW-Authenticate': challenge,
  });
}
