/** The format of an MCP server that a file names, in the shape that MCP clients use. */
import { z } from 'zod';
import { explainIssues } from './issues.ts';
import {
  milliseconds,
  oneNameEach,
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

const address = z.string().check((context) => {
  const url = URL.canParse(context.value) ? new URL(context.value) : undefined;
  const message =
    url === undefined || !/^https?:$/.test(url.protocol)
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
});
const toolLabels = oneNameEach(labels, [['timeout', 'timeoutMs']]);

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
  headers: z
    .record(headerName, headerValue)
    .optional()
    .describe(
      'Headers for every request to the url. ' +
        `\${NAME} stands for a variable of the environment, which must be set.`,
    ),
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
    for (const key of isUrl ? ['args', 'env', 'cwd'] : ['headers'])
      if (Object.hasOwn(value, key))
        fail(`\`${key}\` does not go with \`${isUrl ? 'url' : 'command'}\``);
  })
  .meta({
    id: 'McpServer',
    title: 'MCP server',
    description: 'An MCP server that the command starts or connects to, and whose tools it takes.',
    oneOf: [{ required: ['command'] }, { required: ['url'] }],
  });

/** Where calls are recorded. */
export const auditEntry = strict({
  path: text.describe('The newest file of the log, from the folder of this file.'),
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

/** Where suspended calls are kept. */
export const approvalsEntry = strict({
  dir: text.describe(
    'The folder of suspended calls, from the folder of this file. It is made if it is missing.',
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
export type AuditEntry = z.infer<typeof auditEntry>;
export type ApprovalsEntry = z.infer<typeof approvalsEntry>;
