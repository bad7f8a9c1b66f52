/**
 * The whole way of a client of the protocol's package to a tool: 401, the metadata, a real
 * authorization server, a login, a token, and a second one for a tool that needs more.
 */
import {
  type Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import { jwtVerifier } from '../../../../src/surfaces/mcp/index.ts';
import { logIn, startAuthorizationServer } from '../oidc-server.ts';
import { eras, listen, newClient, opened } from './kit.ts';

const open = opened();
afterEach(() => open.close());

const redirectUrl = 'http://127.0.0.1:9/callback';

const clientId = 'a-client';
const registered = {
  client_id: clientId,
  redirect_uris: [redirectUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
};

/** What a client keeps. It sends its person to `asked`. */
function memoryProvider(): OAuthClientProvider & { asked: URL | undefined } {
  let tokens: unknown;
  let verifier = '';
  return {
    asked: undefined,
    redirectUrl,
    clientMetadata: registered,
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => tokens as never,
    saveTokens: (given: unknown) => {
      tokens = given;
    },
    redirectToAuthorization(url: URL) {
      this.asked = url;
    },
    saveCodeVerifier: (given: string) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
  } as OAuthClientProvider & { asked: URL | undefined };
}

describe.each(eras)('in the %s era', (era) => {
  test('a client logs in, calls, and gets a further scope when a tool needs it', async () => {
    const { issuer } = await startAuthorizationServer(
      open,
      ['orders:read', 'orders:write'],
      [registered],
    );
    const registry = new HostToolRegistry();
    open.defer(() => registry.close());
    for (const [name, scope] of [
      ['read_order', 'orders:read'],
      ['write_order', 'orders:write'],
    ] as const)
      registry.register(
        defineTool({
          name,
          description: 'An order.',
          parameters: z.object({}),
          scopes: [scope],
          handler: (_input, { principal }) => `${name} for ${principal}`,
        }),
      );
    const audience: string[] = [];
    const { url } = await listen(
      open,
      ({ principal = '', scopes = [] }) =>
        registry.createSession({ sessionId: `s-${principal}`, principal, scopes }),
      {
        authorization: {
          authorizationServers: [issuer],
          scopes: [{ name: 'orders:read' }],
          verify: (token, request) =>
            jwtVerifier({ issuer, audience: audience[0] ?? '' })(token, request),
        },
      },
    );
    audience.push(url.href);
    const authProvider = memoryProvider();

    const connect = async (): Promise<Client> => {
      const client = newClient(era);
      const transport = new StreamableHTTPClientTransport(url, { authProvider });
      try {
        await client.connect(transport);
      } catch (error) {
        if (!(error instanceof UnauthorizedError)) throw error;
        const asked = authProvider.asked as URL;
        expect(asked.searchParams.get('resource')).toBe(url.href);
        const back = await logIn(asked, 'ann', redirectUrl);
        await transport.finishAuth(back.searchParams);
        await client.close();
        return connect();
      }
      open.defer(() => client.close());
      return client;
    };
    const client = await connect();
    // The client adds `offline_access` of its own accord.
    const asked = () =>
      authProvider.asked?.searchParams
        .get('scope')
        ?.split(' ')
        .filter((one) => one.includes(':'));
    expect(asked()).toEqual(['orders:read']);
    const read = await client.callTool({ name: 'read_order', arguments: {} });
    expect(read.content).toEqual([{ type: 'text', text: 'read_order for ann' }]);

    // 403 leads to a second login, which asks for both.
    const refused = await client.callTool({ name: 'write_order', arguments: {} }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(UnauthorizedError);
    expect(asked()?.sort()).toEqual(['orders:read', 'orders:write']);
    const back = await logIn(authProvider.asked as URL, 'ann', redirectUrl);
    await (client.transport as StreamableHTTPClientTransport).finishAuth(back.searchParams);
    const written = await client.callTool({ name: 'write_order', arguments: {} });
    expect(written.content).toEqual([{ type: 'text', text: 'write_order for ann' }]);
  });
});
