/** The format of an MCP server that a file names, in the shape that MCP clients use. */
import * as z from 'zod';
import { isMetadataUrl, webAddress } from '../../values/http/web-address.ts';
import { explainIssues } from './issues.ts';
import {
  milliseconds,
  oneNameEach,
  scopeList,
  strict,
  text,
  texts,
  timeoutOrSeconds,
  toolAnnotations,
} from './value-formats.ts';

/**
 * Where `${NAME}` may occur. Anything else after `${` is refused, because it would not be filled
 * in.
 */
const variable = /\$\{[A-Za-z_]\w*\}/g;

/** A text in which each `${NAME}` stands for a variable of the environment. */
const filled = z.string().check((context) => {
  if (context.value.replace(variable, '').includes('${'))
    context.issues.push({
      code: 'custom',
      message: `expected each \${ to begin a variable such as \${NAME}`,
      input: context.value,
    });
});

/** The name of an HTTP header. A request with another one would fail at every attempt. */
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of an HTTP header, without spaces');

const headerValue = filled.check((context) => {
  // Blanks at the ends do not count, and a text block of YAML ends with a line break.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(context.value.trim()))
    context.issues.push({
      code: 'custom',
      message: 'expected a header of one line, without characters beyond Latin-1',
      input: context.value,
    });
});

/** Headers by name. */
export const headerTexts = z.record(headerName, headerValue);

const address = z.string().check((context) => {
  const url = webAddress(context.value);
  const message =
    url === undefined
      ? 'expected an http(s) address'
      : url.username !== '' || url.password !== ''
        ? 'expected an address without a user and a password; pass them in `headers`'
        : undefined;
  if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
});

/** Fields by dotted path, each with a label. */
function fieldLabels<Label extends z.ZodType>(label: Label): z.ZodRecord<z.ZodString, Label> {
  return z.record(z.string().regex(/^[^.]+(?:\.[^.]+)*$/, 'expected names joined by dots'), label);
}

const labels = strict({
  annotations: toolAnnotations
    .optional()
    .describe("Replaces those of the server's hints that it names."),
  origin: z
    .enum(['trusted', 'untrusted'])
    .optional()
    .describe('Where the text of the output comes from.'),
  origins: fieldLabels(z.enum(['trusted', 'untrusted']))
    .optional()
    .describe('Where the text of fields of the output comes from, by dotted path.'),
  roles: fieldLabels(z.enum(['target', 'content', 'free']))
    .optional()
    .describe('What fields of the input are for, by dotted path.'),
  timeout: timeoutOrSeconds
    .optional()
    .describe(
      'The same as timeoutMs, as a text with its unit: "500ms", "5s", "2m" or "1h". A number is ' +
        'in SECONDS; write a unit instead.',
    ),
  timeoutMs: milliseconds
    .optional()
    .describe('The time limit of a call, in milliseconds. Default: 120000.'),
  requiresApproval: z
    .boolean()
    .optional()
    .describe('Whether a reviewer must approve each call. Default: false.'),
  task: z
    .enum(['optional', 'required'])
    .optional()
    .describe(
      'Whether a call over MCP may, or must, go on as a task that its client looks after. ' +
        'Default: neither.',
    ),
});
export const toolLabels = oneNameEach(labels, [['timeout', 'timeoutMs']]);

const client = {
  clientId: text.describe('The client, as the authorization server knows it.'),
  issuer: address.describe(
    'The authorization server that knows the client. No other gets its secret.',
  ),
};
const anyGrant = {
  scopes: scopeList.optional().describe('The scopes to ask for. Default: what the server says.'),
  dpop: z
    .boolean()
    .optional()
    .describe(
      'Whether tokens must be bound to a key, so that nobody else can use them. Default: false.',
    ),
};
const secret = filled.describe(
  `A secret: \${NAME} stands for a variable of the environment, which must be set.`,
);

/** How a server's tokens are got: the grants of `importMcpTools`. */
const authEntry = z.discriminatedUnion('grant', [
  strict({
    grant: z.literal('authorization_code').describe('A person logs in: host-tools gateway login.'),
    clientId: text.optional().describe('Default: the client registers itself.'),
    clientSecret: secret.optional(),
    issuer: client.issuer.optional(),
    clientMetadataUrl: z
      .string()
      .refine(isMetadataUrl, 'expected an https address with a path')
      .optional()
      .describe("The address of the client's own metadata, which stands for its id."),
    ...anyGrant,
  }),
  strict({
    grant: z.literal('client_credentials').describe('A program, by its secret.'),
    ...client,
    ...anyGrant,
    clientSecret: secret,
  }),
  strict({
    grant: z.literal('private_key_jwt').describe('A program, by its private key.'),
    ...client,
    ...anyGrant,
    privateKey: secret,
    algorithm: text.optional().describe('Default: by the kind of the key, such as RS256.'),
  }),
  strict({
    grant: z
      .literal('jwt_bearer')
      .describe('A program, for which the platform vouches that it runs on.'),
    ...client,
    ...anyGrant,
    assertion: secret.optional(),
    assertionFile: text
      .optional()
      .describe(
        'A file with the JWT of the platform, from the folder of this file. It is read for each ' +
          'token.',
      ),
  }),
  strict({
    grant: z.literal('enterprise').describe('A person, for whom an organisation vouches.'),
    ...client,
    ...anyGrant,
    clientSecret: secret,
    idpUrl: address.describe('The identity provider of the organisation.'),
    idpTokenUrl: address.optional().describe('Default: what its metadata says.'),
    idpClientId: text.describe('The client at the identity provider.'),
    idpClientSecret: secret.optional(),
    idToken: secret,
  }),
]);
/** The keys of `auth` in which variables are filled in. */
export const authSecrets = [
  'clientSecret',
  'privateKey',
  'assertion',
  'idpClientSecret',
  'idToken',
] as const;

/** One entry of `mcpServers`; its key is the name of the server. */
export const serverEntry = strict({
  command: text
    .optional()
    .describe(
      'The program to start, without a shell. A relative path starts from the folder of this ' +
        'file. Use this or url.',
    ),
  url: address.optional().describe('The http(s) address of the server. Use this or command.'),
  args: z.array(z.string()).optional().describe('The arguments of the program, unchanged.'),
  env: z
    .record(text, filled)
    .optional()
    .describe(
      `Variables for the program. \${NAME} stands for a variable of the environment, which must ` +
        'be set.',
    ),
  cwd: text
    .optional()
    .describe('The working folder of the program. Default: the folder of this file.'),
  headers: headerTexts
    .optional()
    .describe(
      'Headers for every request to the url. ' +
        `\${NAME} stands for a variable of the environment, which must be set.`,
    ),
  auth: authEntry
    .optional()
    .describe('How to get tokens for the url, by OAuth. Default: a login, if there is one.'),
  prefix: z
    .string()
    .max(100)
    .optional()
    .describe("Put before each of the server's names. Default: the server's key and a dot."),
  tools: texts
    .min(1)
    .optional()
    .describe(
      "The server's own names of the tools to take; * and ? are wildcards. Default: all tools.",
    ),
  pins: text
    .optional()
    .describe(
      'A file of accepted definitions, as `host-tools mcp pin` writes it. Other definitions are ' +
        'withheld. Default: the tools follow the server.',
    ),
  expose: z
    .array(z.enum(['tools', 'prompts', 'resources']))
    .optional()
    .describe('What clients get of the server. Default: its tools.'),
  allow: z
    .array(z.enum(['elicitation', 'sampling']))
    .optional()
    .describe(
      "What the server may ask, through the client whose call it works on: the client's user " +
        '(elicitation), its model (sampling). Default: nothing.',
    ),
  labels: z
    .record(text, toolLabels)
    .optional()
    .describe(
      "What you say of tools, by the server's own names; * and ? are wildcards. Of several that " +
        'match, the last counts.',
    ),
})
  .check((context) => {
    const { value } = context;
    const fail = (message: string): void => {
      context.issues.push({ code: 'custom', message, input: value });
    };
    const isUrl = Object.hasOwn(value, 'url');
    if (isUrl === Object.hasOwn(value, 'command'))
      return fail(`expected exactly one of command, url, got ${isUrl ? 'both' : 'none'}`);
    for (const key of isUrl ? ['args', 'env', 'cwd'] : ['headers', 'auth'])
      if (Object.hasOwn(value, key))
        fail(`\`${key}\` does not go with \`${isUrl ? 'url' : 'command'}\``);
    const { auth, headers = {} } = value;
    if (auth === undefined) return;
    if (Object.keys(headers).some((name) => /^authorization$/i.test(name)))
      fail('`auth` does not go with a header `Authorization`: both say who the client is');
    if (auth.grant === 'jwt_bearer') {
      if ((auth.assertion === undefined) === (auth.assertionFile === undefined))
        fail('expected exactly one of `assertion`, `assertionFile` in `auth`');
      return;
    }
    if (auth.grant !== 'authorization_code') return;
    const { clientId, clientSecret, issuer, clientMetadataUrl } = auth;
    if (clientId !== undefined && clientMetadataUrl !== undefined)
      fail('`clientId` and `clientMetadataUrl` of `auth` exclude each other: both name the client');
    const isWhole = clientId !== undefined && issuer !== undefined;
    if ((clientSecret !== undefined || issuer !== undefined) && !isWhole)
      fail('`clientSecret` and `issuer` of `auth` need `clientId`, and a secret its `issuer`');
  })
  .meta({
    id: 'McpServer',
    title: 'MCP server',
    description: 'An MCP server that the command starts or connects to, and whose tools it takes.',
    oneOf: [{ required: ['command'] }, { required: ['url'] }],
  });

/** The store for what must outlast the process. */
export const storeEntry = strict({
  url: filled
    .check((context) => {
      // The address may have a password, so no message shows it.
      if (!/^(?:postgres(?:ql)?:|rediss?:|sqlite:|file:|\$\{)/.test(context.value))
        context.issues.push({
          code: 'custom',
          message:
            'expected an address such as `postgres://…`, `redis://…`, `sqlite:./state.db` or ' +
            '`file:./folder`',
          input: context.value,
        });
    })
    .describe(
      'The address: postgres://…?schema=…, redis://…?prefix=…, sqlite:./state.db or ' +
        'file:./folder, with paths from the folder of this file. ' +
        `\${NAME} stands for a variable of the environment, which must be set.`,
    ),
});

/** Where calls are recorded. */
export const auditEntry = strict({
  path: text
    .optional()
    .describe('The newest file of the log, from the folder of this file. Default: in the store.'),
  required: z
    .boolean()
    .optional()
    .describe('Whether a call that cannot be recorded is refused. Default: false.'),
  exclusive: z
    .boolean()
    .optional()
    .describe(
      'Whether a command fails if another process writes the log. Otherwise it writes a log of ' +
        'its own beside it, such as `audit-2.jsonl`. Default: false.',
    ),
});

/** Who may call the tools over HTTP. */
export const authorizationEntry = strict({
  issuer: address.describe('Who issues tokens: exactly what they have as `iss`.'),
  audience: text.describe(
    'This server, as tokens name it in `aud`: usually the address that clients use.',
  ),
  jwksUrl: address
    .optional()
    .describe("Where the issuer's keys are. Default: what its metadata says."),
  scopes: scopeList
    .optional()
    .describe('The scopes that a client asks for at first. Default: none.'),
  resource: address
    .optional()
    .describe(
      'The address that clients use, behind a proxy that changes it. Default: that of the request.',
    ),
});

/** Where suspended calls are kept. */
export const approvalsEntry = strict({
  dir: text
    .optional()
    .describe(
      'The folder of suspended calls, from the folder of this file. It is made if it is missing. ' +
        'Default: in the store.',
    ),
  page: z
    .boolean()
    .optional()
    .describe('Whether `host-tools serve --http` has a page to answer them. Default: false.'),
});

/** Why an entry is not one of a server; undefined if it is. */
export function serverFault(entry: unknown): string | undefined {
  const { error } = serverEntry.safeParse(entry);
  return error === undefined ? undefined : explainIssues(error.issues, entry);
}

export type ServerEntry = z.infer<typeof serverEntry>;
export type ToolLabelsEntry = z.infer<typeof toolLabels>;
export type StoreEntry = z.infer<typeof storeEntry>;
export type AuditEntry = z.infer<typeof auditEntry>;
export type AuthorizationEntry = z.infer<typeof authorizationEntry>;
export type ApprovalsEntry = z.infer<typeof approvalsEntry>;
