/**
 * The client of the official conformance suite: it imports the tools of a server, and calls each of
 * them, by the same code as any host.
 */
import { HostToolRegistry, type ToolSession } from '../../../../src/index.ts';
import type { Gateway } from '../../../../src/surfaces/gateway/gateway.ts';
import { importMcpTools, type McpAuth } from '../../../../src/surfaces/mcp/index.ts';
import { gatewayOver } from './gateway.ts';

/** A scenario, as the suite gives it to a client. */
export interface Given {
  readonly scenario: string;
  readonly context: Readonly<Record<string, string>>;
  readonly url: string;
}

const redirectUrl = 'http://127.0.0.1:39127/callback';

/** The suite's authorization server sends a browser back at once. */
const authorize = async (address: URL): Promise<string> => {
  const response = await fetch(address, { redirect: 'manual' });
  return response.headers.get('location') ?? '';
};

const person = {
  grant: 'authorization_code',
  redirectUrl,
  authorize,
  clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
} as const;

async function authFor(scenario: Given): Promise<McpAuth> {
  const { context, url } = scenario;
  const given = (name: string): string => context[name] ?? '';
  const machine = {
    clientId: given('client_id'),
    clientSecret: given('client_secret'),
    issuer: given('issuer') || (await issuerOf(url)),
  };
  switch (scenario.scenario) {
    case 'auth/client-credentials-basic':
      return { grant: 'client_credentials', ...machine };
    case 'auth/client-credentials-jwt': {
      const { clientSecret: _, ...rest } = machine;
      return { grant: 'private_key_jwt', ...rest, privateKey: given('private_key_pem') };
    }
    case 'auth/enterprise-managed-authorization':
      return {
        grant: 'enterprise',
        ...machine,
        idpUrl: given('idp_issuer'),
        idpTokenUrl: given('idp_token_endpoint'),
        idpClientId: given('idp_client_id'),
        idToken: given('idp_id_token'),
      };
    case 'auth/pre-registration': {
      const { clientMetadataUrl: _, ...rest } = person;
      return { ...rest, ...machine };
    }
    case 'auth/wif-jwt-bearer': {
      const { clientSecret: _, ...rest } = machine;
      return { grant: 'jwt_bearer', ...rest, assertion: given('valid_jwt') };
    }
    case 'auth/dpop':
    case 'auth/dpop-nonce':
      return { ...person, dpop: true };
    default:
      return person;
  }
}

/** A host knows its issuer. The suite does not say it, so it is asked for, as an operator would. */
async function issuerOf(server: string): Promise<string> {
  const { origin, pathname } = new URL(server);
  for (const path of [pathname, '']) {
    const found = await fetch(`${origin}/.well-known/oauth-protected-resource${path}`);
    if (!found.ok) continue;
    const { authorization_servers: servers } = (await found.json()) as {
      authorization_servers?: string[];
    };
    if (servers?.[0] !== undefined) return servers[0];
  }
  return origin;
}

interface Listed {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}
const values: Readonly<Record<string, unknown>> = { string: 'x', boolean: true, object: {} };
const inputFor = ({ required = [], properties = {} }: Listed) =>
  Object.fromEntries(required.map((key) => [key, values[properties[key]?.type ?? ''] ?? 1]));

/** Calls what the scenario says, or each tool. @returns what failed, a line for each */
export async function callTools(session: ToolSession, { context }: Given): Promise<string> {
  const { toolCalls } = context as unknown as {
    toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
  };
  const tools = session.tools();
  // One tool of the suite wants the schema that was listed for another.
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.parameters;
  const calls =
    toolCalls ??
    tools.map(({ name, parameters }) => ({
      name,
      arguments: name === 'json_schema_echo' ? { schema } : inputFor(parameters as Listed),
    }));
  let said = '';
  for (const { name, arguments: input } of calls) {
    // The suite passes null for what it leaves out, as models in strict mode do.
    const surface = { name: 'conformance', strictNulls: true };
    const result = await session.call(name, input, { surface });
    if (!result.success) said += `${name}: ${result.error.message}\n`;
  }
  return said;
}

/** Runs one scenario by an import. @returns what failed of the calls @throws what the import does */
export async function runClient(given: Given): Promise<string> {
  const { url, scenario } = given;
  const needsAuth = scenario.startsWith('auth/');
  const imported = await importMcpTools(needsAuth ? { url, auth: await authFor(given) } : { url }, {
    name: 'conformance',
  });
  const registry = new HostToolRegistry();
  try {
    registry.registerAll(imported.tools);
    return await callTools(registry.createSession({ sessionId: 'conformance' }), given);
  } finally {
    await registry.close();
    await imported.close();
  }
}

/** How often a person logs in before they give up: at first, and for what a call needs. */
const mostLogins = 2;

/**
 * Runs one scenario by a gateway, with what its file can say. A person logs in with the command
 * whenever the gateway says so.
 * @returns what failed
 */
export async function runGateway(given: Given): Promise<string> {
  const { url, scenario } = given;
  const auth = scenario.startsWith('auth/') ? await authFor(given) : undefined;
  const registry = new HostToolRegistry();
  const { gateway, logIn, close } = await gatewayOver(registry, {
    conformance: { url, prefix: '', ...(auth === undefined ? {} : { auth: inFile(auth) }) },
  });
  let said = '';
  try {
    for (let logins = 0; ; logins++) {
      await gateway.settled(60_000);
      const [{ state, error = '' } = { state: 'off' }] = gateway.statuses();
      const session = registry.createSession({ sessionId: `conformance-${logins}` });
      said = state === 'ready' ? await callTools(session, given) : `${state}: ${error}\n`;
      await session.close();
      if (!said.includes('gateway login conformance') || logins === mostLogins) return said;
      const told = await logIn('conformance');
      if (!told.includes('Logged in')) return said + told;
      await gatewayReady(gateway);
    }
  } finally {
    await close();
    await registry.close();
  }
}

/** The keys of an import's `auth` that a file has. */
function inFile(auth: McpAuth): object {
  const { redirectUrl: _, authorize: __, ...rest } = auth as object as Record<string, unknown>;
  return rest;
}

/** Waits for the next attempt of a server that has failed. */
async function gatewayReady(gateway: Gateway): Promise<void> {
  const until = Date.now() + 15_000;
  while (Date.now() < until && gateway.statuses()[0]?.state === 'waiting')
    await new Promise((resolve) => setTimeout(resolve, 50));
}
