/** Access to a session's tools over MCP with an access token of OAuth. */
import { withDeadline } from '../../../values/limits/with-deadline.ts';
import type { RelayAccess } from '../read-options.ts';
import { isRelayError, relayError, sessionNotFound } from '../relay-error.ts';
import { findSession } from './access.ts';
import type { NodeParts, SessionExchange } from './node-parts.ts';

type Admitted = Pick<SessionExchange, 'document' | 'side' | 'sender'>;

/**
 * Lets a client in by a token of the relay, or else by an access token whose bearer the host
 * admits.
 * @param byOwnToken the check of the relay's own tokens
 * @throws RelayError 401 with what a client needs to get a token, and otherwise as for own tokens
 */
export async function admitOverMcp(
  { settings: { store, now }, report }: Pick<NodeParts, 'settings' | 'report'>,
  authorization: RelayAccess,
  request: Request,
  code: string,
  byOwnToken: () => Promise<Admitted>,
): Promise<Admitted> {
  try {
    return await byOwnToken();
  } catch (error) {
    const isUnknown = isRelayError(error) && (error.status === 401 || error.status === 404);
    if (!isUnknown) throw error;
  }
  const { checkToken, verifyMs } = await import('../../mcp/server/authorization.ts');
  const sender = await checkToken(
    request,
    authorization,
    (error) => report('mcp', error),
    // A relay does not log requests that it refuses: anyone may send them.
    () => {},
  );
  if (sender instanceof Response)
    throw relayError(401, 'unauthorized', 'Expected a token of this session, or an access token.', {
      headers: { 'WWW-Authenticate': sender.headers.get('www-authenticate') ?? 'Bearer' },
    });
  const document = await findSession(store, now(), code);
  const { principal = '', scopes = [], clientId, actors, claims } = sender;
  try {
    const asked = Promise.resolve(
      authorization.admit({ code, principal, scopes, clientId, actors, claims }),
    );
    if ((await withDeadline(asked, verifyMs)) === true) return { document, side: 'agent', sender };
  } catch (error) {
    report('mcp', error);
  }
  throw sessionNotFound();
}

/** Answers a request for the metadata of the relay; undefined for any other request. */
export async function metadataFor(
  authorization: RelayAccess,
  request: Request,
): Promise<Response | undefined> {
  const { answerMetadata } = await import('../../mcp/server/authorization.ts');
  return answerMetadata(request, authorization, 'host-tools relay');
}
