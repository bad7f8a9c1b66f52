/** A relay's session as its two sides use it. */
import { type HttpConnection, httpConnection, messageTo, type Reply } from './http-connection.ts';

/** What a session is spoken to with. */
export interface Credentials {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
}

export const base = '/api/sessions';
/** The tool of the round trips, and what goes through it. */
export const toolName = 'forecast';
export const requestBody = JSON.stringify({ tool: toolName, args: { city: 'Oslo', days: 3 } });
export const result = { city: 'Oslo', degrees: 21 };

export const bearer = (token: string): { readonly Authorization: string } => ({
  Authorization: `Bearer ${token}`,
});

export function expectStatus(reply: Reply, status: number): Reply {
  if (reply.status !== status)
    throw new Error(`Expected ${status}, got ${reply.head}\n${reply.body.slice(0, 500)}`);
  return reply;
}

const createMessage = messageTo('POST', base)('{}');

export async function createSession(connection: HttpConnection): Promise<Credentials> {
  return JSON.parse(expectStatus(await connection.send(createMessage), 201).body) as Credentials;
}

/** A definition like a real one's. */
export function definition(name: string, remark = ''): object {
  return {
    name,
    description: `Forecasts the weather of a city for some days.${remark}`,
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'The city to look at.' },
        days: { type: 'integer', minimum: 1, maximum: 14 },
      },
      required: ['city'],
      additionalProperties: false,
    },
    annotations: { readOnly: true },
  };
}

export function registration(tools: readonly object[]): string {
  return JSON.stringify({
    pluginType: 'bench',
    pluginVersion: '1.0.0',
    capabilities: ['weather'],
    availableTools: tools,
    environment: {},
  });
}

export async function register(
  connection: HttpConnection,
  { code, sessionToken }: Credentials,
  body: string,
): Promise<void> {
  expectStatus(
    await connection.send(
      messageTo('POST', `${base}/${code}/register-tools`, bearer(sessionToken))(body),
    ),
    201,
  );
}

/** A session with the one tool of the round trips. */
export async function sessionWithTool(port: number): Promise<Credentials> {
  const connection = await httpConnection(port);
  const credentials = await createSession(connection);
  await register(connection, credentials, registration([definition(toolName)]));
  connection.close();
  return credentials;
}
