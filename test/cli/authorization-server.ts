/** An MCP server over HTTP that asks for a login, and the authorization server that gives it. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What went on at the servers. */
export interface AuthorizationWorld {
  /** The address of the MCP server. */
  readonly url: string;
  /** Requests for tokens, by `grant_type`. */
  readonly grants: string[];
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

/**
 * Starts both on one port of the loopback.
 * @param only The client that there is. Otherwise clients can register by themselves.
 */
export async function authorizationWorld(only?: {
  readonly id: string;
  readonly secret: string;
}): Promise<AuthorizationWorld> {
  let named: string | undefined;
  let failure: ((sent: URLSearchParams) => object) | undefined;
  const grants: string[] = [];
  const tokens = new Set<string>();
  const refreshTokens = new Set<string>();
  const clients = new Map<string, string[]>();
  const codes = new Map<string, { challenge: string; redirect: string; client: string }>();
  let origin = '';
  const give = () => {
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    tokens.add(access_token);
    refreshTokens.add(refresh_token);
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: 3_600 };
  };
  const grant = (form: URLSearchParams): object | undefined => {
    if (only !== undefined && form.get('client_secret') !== only.secret) return undefined;
    const type = form.get('grant_type') ?? '';
    grants.push(type);
    if (type === 'refresh_token')
      // A refresh token counts once.
      return refreshTokens.delete(form.get('refresh_token') ?? '') ? give() : undefined;
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    return code !== undefined &&
      code.challenge === verifier.digest('base64url') &&
      code.redirect === form.get('redirect_uri') &&
      code.client === form.get('client_id')
      ? give()
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
      if (client !== only?.id && clients.get(client)?.includes(redirect) !== true)
        return json({}, 400);
      const code = randomUUID();
      const challenge = searchParams.get('code_challenge') ?? '';
      codes.set(code, { challenge, redirect, client });
      const back = new URL(redirect);
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      response.writeHead(302, { Location: back.href }).end();
    } else if (pathname === '/token') {
      const form = new URLSearchParams(body);
      const given = failure === undefined ? grant(form) : undefined;
      if (failure !== undefined) json(failure(form), 500);
      else if (given === undefined) json({ error: 'invalid_grant' }, 400);
      else json(given);
    } else if (pathname !== '/mcp') json({}, 404);
    else if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? ''))
      response
        .writeHead(401, {
          'WWW-Authenticate':
            'Bearer ' +
            `resource_metadata="${named ?? origin}/.well-known/oauth-protected-resource/mcp"`,
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
