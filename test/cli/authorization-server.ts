/** An MCP server over HTTP that asks for a login, and the authorization server that gives it. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { onTestFinished } from 'vitest';

/** The word of a platform that the authorization server trusts. */
export const theAssertion = 'platform.says.workload';

/** What a login asks for. */
interface Login {
  readonly client: string;
  /** Separated by blanks. */
  readonly scope: string;
}

/** The key with which a request is signed; undefined if the signature is not for this request. */
async function keyOf(
  { headers, method }: IncomingMessage,
  address: string,
  token?: string,
): Promise<string | undefined> {
  if (typeof headers.dpop !== 'string') return undefined;
  const { payload, protectedHeader } = await jwtVerify(headers.dpop, EmbeddedJWK, {
    typ: 'dpop+jwt',
  });
  const ath = token && createHash('sha256').update(token).digest('base64url');
  const isOfIt = payload.htm === method && payload.htu === address && payload.ath === ath;
  return isOfIt ? calculateJwkThumbprint(protectedHeader.jwk ?? {}) : undefined;
}

/** What went on at the servers. */
export interface AuthorizationWorld {
  /** The address of the MCP server. */
  readonly url: string;
  /** Requests for tokens, by `grant_type`. */
  readonly grants: string[];
  /** The logins that were begun. */
  readonly logins: readonly Login[];
  /** How many clients have registered. */
  registered(): number;
  /** From now on no token counts that was given before. */
  expire(): void;
  /** From now on no refresh token counts either. */
  revoke(): void;
  /** From now on the MCP server names this address in place of its own. */
  misleads(address: string): void;
  /** From now on requests for tokens fail, with this answer to what was sent. */
  fails(answer: (sent: URLSearchParams) => object): void;
  /** The tokens that count. */
  readonly tokens: ReadonlySet<string>;
}

const read = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
};

/** What else the servers want. */
export interface Demands {
  /** Whether clients may be known by the address of their metadata. */
  readonly metadataClients?: boolean;
  /** Whether tokens are bound to a key (DPoP), and requests must be signed with it. */
  readonly binds?: boolean;
  /** The scope that calls need, and a login does not get unless it asks for it. */
  readonly callScope?: string;
}

/**
 * Starts both on one port of the loopback.
 * @param only The client that there is. Otherwise clients can register by themselves.
 */
export async function authorizationWorld(
  only?: { readonly id: string; readonly secret: string },
  { metadataClients = false, binds = false, callScope }: Demands = {},
): Promise<AuthorizationWorld> {
  let named: string | undefined;
  let failure: ((sent: URLSearchParams) => object) | undefined;
  const grants: string[] = [];
  const tokens = new Set<string>();
  const refreshTokens = new Set<string>();
  const clients = new Map<string, string[]>();
  const codes = new Map<
    string,
    { challenge: string; redirect: string; client: string; scope: string }
  >();
  const logins: Login[] = [];
  const scopes = new Map<string, string>();
  const keys = new Map<string, string>();
  let origin = '';
  const give = (scope = '', key = '') => {
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    tokens.add(access_token);
    refreshTokens.add(refresh_token);
    for (const token of [access_token, refresh_token]) {
      scopes.set(token, scope);
      keys.set(token, key);
    }
    const token_type = key === '' ? 'Bearer' : 'DPoP';
    return { access_token, refresh_token, token_type, expires_in: 3_600, scope };
  };
  const grant = (form: URLSearchParams, key: string | undefined): object | undefined => {
    if (binds && key === undefined) return undefined;
    if (only !== undefined && form.get('client_secret') !== only.secret) return undefined;
    const type = form.get('grant_type') ?? '';
    grants.push(type);
    if (type === 'refresh_token') {
      const old = form.get('refresh_token') ?? '';
      if (binds && keys.get(old) !== key) return undefined;
      // A refresh token counts once.
      return refreshTokens.delete(old) ? give(scopes.get(old), keys.get(old)) : undefined;
    }
    if (type === 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return form.get('assertion') === theAssertion
        ? give(form.get('scope') ?? '', key)
        : undefined;
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    return code !== undefined &&
      code.challenge === verifier.digest('base64url') &&
      code.redirect === form.get('redirect_uri') &&
      code.client === form.get('client_id')
      ? give(code.scope, key)
      : undefined;
  };
  const mcp = (message: { id?: number; method: string }): object | undefined => {
    if (message.id === undefined) return undefined;
    const result = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '1' },
      },
      'tools/list': {
        tools: [{ name: 'tell', description: 'Tells.', inputSchema: { type: 'object' } }],
      },
      'tools/call': { content: [{ type: 'text', text: 'told' }] },
    }[message.method];
    return result === undefined
      ? { jsonrpc: '2.0', id: message.id, error: { code: -32_601, message: 'Not found' } }
      : { jsonrpc: '2.0', id: message.id, result };
  };
  const tokenOf = ({ headers }: IncomingMessage): string =>
    headers.authorization?.replace(/^(?:Bearer|DPoP) /, '') ?? '';
  const isLoggedIn = async (request: IncomingMessage): Promise<boolean> => {
    const token = tokenOf(request);
    if (!tokens.has(token)) return false;
    if (!binds) return true;
    const key = await keyOf(request, `${origin}/mcp`, token);
    return /^DPoP /.test(request.headers.authorization ?? '') && keys.get(token) === key;
  };
  const lacks = (request: IncomingMessage, scope: string | undefined): boolean =>
    scope !== undefined && !scopes.get(tokenOf(request))?.split(' ').includes(scope);
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const json = (value: object, status = 200) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    const body = await read(request);
    if (pathname === '/.well-known/oauth-protected-resource/mcp')
      json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    else if (pathname === '/.well-known/oauth-authorization-server')
      json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        client_id_metadata_document_supported: metadataClients,
        ...(binds ? { dpop_signing_alg_values_supported: ['ES256'] } : {}),
        ...(only === undefined ? { registration_endpoint: `${origin}/register` } : {}),
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: [only === undefined ? 'none' : 'client_secret_post'],
      });
    else if (pathname === '/register') {
      const given = JSON.parse(body) as { redirect_uris: string[] };
      const client_id = randomUUID();
      clients.set(client_id, given.redirect_uris);
      json({ ...given, client_id }, 201);
    } else if (pathname === '/authorize') {
      const redirect = searchParams.get('redirect_uri') ?? '';
      const client = searchParams.get('client_id') ?? '';
      const isKnown = client === only?.id || (metadataClients && client.startsWith('https://'));
      if (!isKnown && clients.get(client)?.includes(redirect) !== true) return json({}, 400);
      const scope = searchParams.get('scope') ?? '';
      logins.push({ client, scope });
      const code = randomUUID();
      const challenge = searchParams.get('code_challenge') ?? '';
      codes.set(code, { challenge, redirect, client, scope });
      const back = new URL(redirect);
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      response.writeHead(302, { Location: back.href }).end();
    } else if (pathname === '/token') {
      const form = new URLSearchParams(body);
      const key = binds ? await keyOf(request, `${origin}/token`) : undefined;
      const given = failure === undefined ? grant(form, key) : undefined;
      if (failure !== undefined) json(failure(form), 500);
      else if (given === undefined) json({ error: 'invalid_grant' }, 400);
      else json(given);
    } else if (pathname !== '/mcp') json({}, 404);
    else if (!(await isLoggedIn(request)))
      response
        .writeHead(401, {
          'WWW-Authenticate':
            'Bearer ' +
            `resource_metadata="${named ?? origin}/.well-known/oauth-protected-resource/mcp"` +
            (callScope === undefined ? '' : ', scope="mail:read"'),
        })
        .end();
    else if (body.includes('"tools/call"') && lacks(request, callScope))
      response
        .writeHead(403, {
          'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${callScope}"`,
        })
        .end();
    else if (request.method !== 'POST') json({}, 405);
    else {
      const answer = mcp(JSON.parse(body) as { id?: number; method: string });
      if (answer === undefined) response.writeHead(202).end();
      else json(answer);
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `${origin}/mcp`,
    grants,
    logins,
    tokens,
    registered: () => clients.size,
    misleads(address) {
      named = address;
    },
    fails(answer) {
      failure = answer;
    },
    expire: () => tokens.clear(),
    revoke() {
      tokens.clear();
      refreshTokens.clear();
    },
  };
}
