/** An issuer of tokens on the loopback, for tests that only need its keys. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Opened } from './kit.ts';

export interface Issuer {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** Documents by path, which a test may change. */
  readonly documents: Map<string, unknown>;
  /** Adds a key, and signs with it from now on. */
  rotate(): Promise<void>;
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
}

export async function startIssuer(open: Opened, audience: string): Promise<Issuer> {
  const asked: string[] = [];
  const documents = new Map<string, unknown>();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const found = documents.get(request.url ?? '');
    response.statusCode = found === undefined ? 404 : 200;
    response.end(typeof found === 'string' ? found : JSON.stringify(found ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys: object[] = [];
  let key: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  const rotate = async (): Promise<void> => {
    const made = await generateKeyPair('ES256');
    key = made.privateKey;
    keys.push({ ...(await exportJWK(made.publicKey)), kid: `key-${keys.length}`, alg: 'ES256' });
    documents.set('/jwks', { keys });
  };
  await rotate();
  documents.set('/.well-known/oauth-authorization-server', {
    issuer: url,
    jwks_uri: `${url}/jwks`,
  });
  return {
    url,
    asked,
    documents,
    rotate,
    token: (claims = {}, header = {}) =>
      new SignJWT({
        iss: url,
        aud: audience,
        sub: 'ann',
        scope: 'orders:read',
        exp: Math.floor(Date.now() / 1_000) + 600,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid: `key-${keys.length - 1}`, ...header })
        .sign(key),
  };
}
