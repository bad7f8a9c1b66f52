/** A real authorization server (`oidc-provider`) on the loopback, and a person who logs in there. */

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK } from 'jose';
// @ts-expect-error: the package has no types of its own
import Provider from 'oidc-provider';
import type { Opened } from './server/kit.ts';

export interface AuthorizationServer {
  readonly issuer: string;
  /** The scopes that its access tokens may have, for any resource. */
  readonly scopes: readonly string[];
}

/** Access tokens are JWTs for the resource that a client asks for. */
export async function startAuthorizationServer(
  open: Opened,
  scopes: readonly string[],
  clients: readonly object[] = [],
): Promise<AuthorizationServer> {
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: clients as never,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] } as never,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: [...scopes, 'openid', 'offline_access'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    pkce: { required: () => true },
    features: {
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined as never,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          audience: resource,
          scope: scopes.join(' '),
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  } as never);
  const handle = provider.callback();
  return { issuer, scopes };
}

/**
 * Opens the address as a browser would, logs in, and consents.
 * @returns the address to which the browser is sent in the end
 */
export async function logIn(start: URL, as: string, redirectUrl: string): Promise<URL> {
  const cookies = new Map<string, string>();
  const visit = async (url: URL, body?: URLSearchParams): Promise<Response> => {
    const response = await fetch(url, {
      redirect: 'manual',
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(body && { body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  };
  let url = start;
  let response = await visit(url);
  for (let step = 0; step < 12; step++) {
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      if (url.href.startsWith(redirectUrl)) return url;
      response = await visit(url);
      continue;
    }
    const page = await response.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined) throw new Error(`No form at ${url.pathname}: ${page.slice(0, 500)}`);
    response = await visit(url, new URLSearchParams({ prompt, login: as, password: 'x' }));
  }
  throw new Error(`The login did not end: ${url.href}`);
}
