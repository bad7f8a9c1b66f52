/**
 * An MCP server with tools that need scopes, and the real authorization server that it trusts: the
 * client `app` is for people, `batch` has a secret, and `keyed` a key.
 */
import { generateKeyPairSync } from 'node:crypto';
import { exportJWK } from 'jose';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { jwtVerifier } from '../../../src/surfaces/mcp/index.ts';
import { startAuthorizationServer } from './oidc-server.ts';
import { listen, type Opened } from './server/kit.ts';

export const redirectUrl = 'http://127.0.0.1:9/callback';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** The private key of the client `keyed`. */
export const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const person = {
  client_id: 'app',
  redirect_uris: [redirectUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
};
export const machineSecret = 'a-secret-of-the-batch-job';
const machine = {
  client_id: 'batch',
  client_secret: machineSecret,
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_basic',
};

/** A server with two tools that need a scope each, and its authorization server. */
export async function authorizedServer(open: Opened) {
  const keyed = {
    ...machine,
    client_id: 'keyed',
    client_secret: undefined,
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }] },
  };
  const { issuer } = await startAuthorizationServer(
    open,
    ['orders:read', 'orders:write'],
    [person, machine, keyed],
  );
  const registry = new HostToolRegistry();
  open.defer(() => registry.close());
  const ran: string[] = [];
  for (const [name, scope] of [
    ['read', 'orders:read'],
    ['write', 'orders:write'],
  ] as const)
    registry.register(
      defineTool({
        name,
        description: 'An order.',
        parameters: z.object({}),
        scopes: [scope],
        handler: (_input, { principal }) => {
          ran.push(name);
          return `${name} for ${principal}`;
        },
      }),
    );
  let audience = '';
  const { url } = await listen(
    open,
    ({ principal = '', scopes = [] }) =>
      registry.createSession({ sessionId: `s-${principal}`, principal, scopes }),
    {
      authorization: {
        authorizationServers: [issuer],
        scopes: [{ name: 'orders:read' }],
        verify: (token, request) => jwtVerifier({ issuer, audience })(token, request),
      },
    },
  );
  audience = url.href;
  return { issuer, url, ran };
}
